/** The colours of a scene: those that the prompt names, or else chosen by its hash. */
import { type Colour, colourWordsOf, hexOf, mixColours } from "./Colour.ts"
import type { Random } from "./Random.ts"

export interface Palette {
  /** True for a dark background. */
  readonly night: boolean
  /** `#rrggbb` at `share` of the palette, 0 to 1, with a lightness of 0 (black) to 1 (white). */
  readonly tone: (share: number, light: number) => string
  /** The colour of the sun, the moon, or the centre. */
  readonly accent: string
}

const NIGHT = /\b(night|midnight|moon(light|lit)?|stars?|starry|dark|dusk)\b|夜|月|星/iu

/** Hues that go well together, in degrees: background, foreground, accent. */
type Hues = readonly [far: number, near: number, accent: number]

const HUES: readonly [Hues, ...ReadonlyArray<Hues>] = [
  [255, 305, 75],
  [232, 190, 60],
  [290, 345, 80],
  [40, 355, 90],
  [205, 160, 70],
  [35, 270, 85],
  [150, 205, 80],
  [65, 25, 95],
  [330, 275, 60],
  [110, 165, 50]
]

const CHROMA = 0.14
/** The share of the chroma that `raw` keeps. */
const RAW_CHROMA = 0.42
/** A colour with less chroma is black, grey or white. */
const MIN_CHROMA = 0.02
/** How far the lightness of a named black, grey or white changes a scene, 0 to 1. */
const GREY_INFLUENCE = 0.5

/** `raw` reduces the chroma. */
export const paletteOf = (prompt: string, random: Random, raw: boolean): Palette => {
  const turn = random.between(-14, 14)
  const [far, near, accentHue] = random.pick(HUES)
  const step = random.pick([20, -20, 28, -28])
  const isDark = random.between(0, 1) < 0.35
  const [first, second, ...others] = colourWordsOf(prompt)
  const ofHue = (hue: number): Colour => ({ light: 0.6, chroma: CHROMA, hue: hue + turn })
  const stops: ReadonlyArray<Colour> =
    first === undefined
      ? [ofHue(far), ofHue((far + near + (Math.abs(far - near) > 180 ? 360 : 0)) / 2), ofHue(near)]
      : second === undefined
        ? [first, { ...first, hue: first.hue + step / 2 }]
        : [first, second, ...others]
  const grey = first !== undefined && first.chroma < MIN_CHROMA
  const night = NIGHT.test(prompt) || (first === undefined ? isDark : first.light < 0.45)
  const toHex = (colour: Colour) => hexOf({ ...colour, chroma: colour.chroma * (raw ? RAW_CHROMA : 1) })
  const tone = (share: number, light: number) => {
    const along = Math.min(0.999, Math.max(0, share)) * (stops.length - 1)
    const at = Math.floor(along)
    const here = stops[at] as Colour
    const colour = mixColours(here, stops[at + 1] ?? here, along - at)
    const lightness = grey ? light + (colour.light - light) * GREY_INFLUENCE : light
    // Very dark and very light tones have less chroma.
    return toHex({
      light: lightness,
      chroma: colour.chroma * Math.min(1, 0.3 + 3 * lightness * (1 - lightness)),
      hue: colour.hue
    })
  }
  const bright = second ?? {
    light: 0.9,
    chroma: first === undefined ? 0.13 : first.chroma * 0.45,
    hue: first?.hue ?? accentHue
  }
  const accent = toHex({ ...bright, light: night ? 0.9 : Math.max(bright.light, 0.93) })
  return { night, tone, accent }
}
