/** The main colours of a picture, by name. */

export interface ColourShare {
  readonly name: keyof typeof CHINESE_COLOURS
  /** The share of all pixels, above 0, at most 1. */
  readonly share: number
}

/** The colours and their Chinese names. */
export const CHINESE_COLOURS = {
  black: "黑色",
  grey: "灰色",
  white: "白色",
  red: "红色",
  orange: "橙色",
  brown: "棕色",
  yellow: "黄色",
  green: "绿色",
  cyan: "青色",
  blue: "蓝色",
  purple: "紫色",
  pink: "粉色"
} as const

/** Rarer colours are left out. */
const MIN_SHARE = 0.05

/** The end of each hue, in degrees. */
const HUES = [
  [15, "red"],
  [45, "orange"],
  [70, "yellow"],
  [165, "green"],
  [200, "cyan"],
  [255, "blue"],
  [290, "purple"],
  [340, "pink"],
  [361, "red"]
] as const

/** Channels are 0 to 255. */
const nameOf = (red: number, green: number, blue: number): ColourShare["name"] => {
  const most = Math.max(red, green, blue)
  const chroma = most - Math.min(red, green, blue)
  if (most < 40) return "black"
  if (chroma < 28) return most > 225 ? "white" : most < 60 ? "black" : "grey"
  const sixth =
    most === red
      ? ((green - blue) / chroma + 6) % 6
      : most === green
        ? (blue - red) / chroma + 2
        : (red - green) / chroma + 4
  const hue = HUES.find(([end]) => sixth * 60 < end)?.[1] ?? "red"
  return hue === "orange" && most < 170 ? "brown" : hue
}

/** The colours of RGB pixels of three bytes each, most frequent first. */
export const coloursOf = (pixels: Uint8Array): ReadonlyArray<ColourShare> => {
  const counts = new Map<ColourShare["name"], number>()
  for (let i = 0; i + 2 < pixels.length; i += 3) {
    const name = nameOf(pixels[i] as number, pixels[i + 1] as number, pixels[i + 2] as number)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const total = Math.floor(pixels.length / 3)
  return [...counts]
    .map(([name, count]) => ({ name, share: count / total }))
    .filter(({ share }) => share >= MIN_SHARE)
    .toSorted((a, b) => b.share - a.share)
}
