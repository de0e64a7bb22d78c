/** Colours in OKLCH, where equal steps look equal, and the colour words of a prompt. */

export interface Colour {
  /** 0 (black) to 1 (white). */
  readonly light: number
  /** 0 (grey) to about .3, the maximum of a screen. */
  readonly chroma: number
  /** In degrees: 29 red, 110 yellow, 142 green, 264 blue. */
  readonly hue: number
}

/** The axes a (green to red) and b (blue to yellow). */
const toAb = ({ chroma, hue }: Colour): readonly [number, number] => {
  const angle = (hue * Math.PI) / 180
  return [chroma * Math.cos(angle), chroma * Math.sin(angle)]
}

/** Linear RGB. Values outside 0 to 1 are outside sRGB. */
const linearOf = (colour: Colour): readonly [number, number, number] => {
  const { light } = colour
  const [a, b] = toAb(colour)
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  ]
}

const isInGamut = (channel: number) => channel >= -1e-4 && channel <= 1.0001

const byteOf = (linear: number): number => {
  const clamped = Math.min(1, Math.max(0, linear))
  return Math.round(255 * (clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055))
}

/** `#rrggbb`. A colour outside sRGB loses chroma until it is inside. */
export const hexOf = (colour: Colour): string => {
  let { chroma } = colour
  while (chroma > 0.002 && !linearOf({ ...colour, chroma }).every(isInGamut)) chroma *= 0.94
  const bytes = linearOf({ ...colour, chroma }).map(byteOf)
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`
}

/** Mixes two colours: 0 is the first, 1 the second. Distant hues mix to a muted tone. */
export const mixColours = (from: Colour, to: Colour, share: number): Colour => {
  const between = (a: number, b: number) => a + (b - a) * share
  const [fromA, fromB] = toAb(from)
  const [toA, toB] = toAb(to)
  const a = between(fromA, toA)
  const b = between(fromB, toB)
  return {
    light: between(from.light, to.light),
    chroma: Math.hypot(a, b),
    hue: ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360
  }
}

const colour = (light: number, chroma: number, hue: number): Colour => ({ light, chroma, hue })

/** Longer words come before words that they contain. */
const WORDS: ReadonlyArray<readonly [RegExp, Colour]> = [
  [/\b(dark ?blue|navy|indigo)\b|深蓝|藏青|靛/giu, colour(0.4, 0.16, 268)],
  [/\b(red|crimson|scarlet|ruby)\b|红|赤|朱/giu, colour(0.6, 0.23, 27)],
  [/\b(orange|amber|tangerine)\b|橙|橘/giu, colour(0.74, 0.18, 56)],
  [/\b(gold(en)?)\b|金色|金黄/giu, colour(0.8, 0.16, 85)],
  [/\b(yellow|lemon)\b|黄/giu, colour(0.88, 0.18, 105)],
  [/\b(green|emerald|jade)\b|绿|翠/giu, colour(0.66, 0.19, 146)],
  [/\b(teal|turquoise|cyan|aqua)\b|青/giu, colour(0.75, 0.13, 195)],
  [/\b(blue|azure|cobalt)\b|蓝/giu, colour(0.58, 0.19, 258)],
  [/\b(purple|violet|lilac|lavender)\b|紫/giu, colour(0.56, 0.21, 302)],
  [/\b(pink|magenta|rose)\b|粉|玫瑰/giu, colour(0.74, 0.17, 355)],
  [/\b(brown|sepia|umber)\b|棕|褐/giu, colour(0.5, 0.09, 58)],
  [/\b(black|dark)\b|黑/giu, colour(0.2, 0.004, 260)],
  [/\b(white|snow|ivory)\b|白|雪/giu, colour(0.97, 0.004, 90)],
  [/\b(grey|gray|silver)\b|灰|银/giu, colour(0.65, 0.006, 260)]
]

/** The colours that a prompt names in English or Chinese, in its order, each once. */
export const colourWordsOf = (prompt: string): ReadonlyArray<Colour> => {
  const found: Array<readonly [number, Colour]> = []
  let rest = prompt.normalize("NFKC")
  for (const [pattern, named] of WORDS) {
    const at = rest.search(pattern)
    if (at < 0) continue
    found.push([at, named])
    // Replaced by spaces, so that the other words keep their places.
    rest = rest.replaceAll(pattern, (word) => " ".repeat(word.length))
  }
  return found.toSorted(([a], [b]) => a - b).map(([, named]) => named)
}
