/** Colours by how they look: OKLCH, in which equal steps of a number look like equal steps. */

export interface Colour {
  /** 0 black to 1 white. */
  readonly light: number
  /** 0 grey to about .3, the most colourful that a screen shows. */
  readonly chroma: number
  /** In degrees: 29 red, 110 yellow, 142 green, 264 blue. */
  readonly hue: number
}

/** How far from grey, towards red (and away from green), and towards yellow (and away from blue). */
const sidesOf = ({ chroma, hue }: Colour): readonly [number, number] => {
  const angle = (hue * Math.PI) / 180
  return [chroma * Math.cos(angle), chroma * Math.sin(angle)]
}

/** Linear red, green and blue; outside 0 to 1 what no screen shows. */
const linearOf = (colour: Colour): readonly [number, number, number] => {
  const { light } = colour
  const [a, b] = sidesOf(colour)
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  ]
}

const shown = (channel: number) => channel >= -1e-4 && channel <= 1.0001

const byteOf = (linear: number): number => {
  const clamped = Math.min(1, Math.max(0, linear))
  return Math.round(255 * (clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055))
}

/** `#rrggbb`; a colour that no screen shows loses chroma until one does. */
export const hexOf = (colour: Colour): string => {
  let { chroma } = colour
  while (chroma > 0.002 && !linearOf({ ...colour, chroma }).every(shown)) chroma *= 0.94
  const bytes = linearOf({ ...colour, chroma }).map(byteOf)
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`
}

/** What lies between two colours, 0 the first, 1 the second: straight through, so that far hues meet in a calm tone. */
export const mixed = (from: Colour, to: Colour, share: number): Colour => {
  const between = (a: number, b: number) => a + (b - a) * share
  const [fromA, fromB] = sidesOf(from)
  const [toA, toB] = sidesOf(to)
  const a = between(fromA, toA)
  const b = between(fromB, toB)
  return {
    light: between(from.light, to.light),
    chroma: Math.hypot(a, b),
    hue: ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360
  }
}
