/** The colours of a scene: those that the prompt names, or else such as its hash chooses. */
import { type Colour, hexOf, mixed } from "./Colour.ts"
import { colourWordsOf } from "./ColourWords.ts"
import type { Random } from "./Random.ts"

export interface Palette {
  /** Dark ground, light figures. */
  readonly night: boolean
  /** `#rrggbb`: along the palette's colours, 0 to 1; of this lightness, 0 black to 1 white. */
  readonly tone: (share: number, light: number) => string
  /** Sun, moon, middle: what stands out. */
  readonly accent: string
}

const NIGHT = /\b(night|midnight|moon(light|lit)?|stars?|starry|dark|dusk)\b|夜|月|星/iu

/** Hues that go well together, in degrees: from the far to the near of a scene, then what stands out. */
type Hues = readonly [far: number, near: number, out: number]

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
/** Of the chroma, in `raw`: photographs are less colourful than posters. */
const RAW_CHROMA = 0.42
/** A colour below it is black, grey or white. */
const LEAST_CHROMA = 0.02
/** How far a scene of black, grey or white leaves its usual lights for the one named. */
const PULL = 0.5

/** `raw` takes most of the chroma away, and nothing of the hues. */
export const paletteOf = (prompt: string, random: Random, raw: boolean): Palette => {
  const turn = random.between(-14, 14)
  const [far, near, out] = random.pick(HUES)
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
  const grey = first !== undefined && first.chroma < LEAST_CHROMA
  const night = NIGHT.test(prompt) || (first === undefined ? isDark : first.light < 0.45)
  const toHex = (colour: Colour) => hexOf({ ...colour, chroma: colour.chroma * (raw ? RAW_CHROMA : 1) })
  const tone = (share: number, light: number) => {
    const along = Math.min(0.999, Math.max(0, share)) * (stops.length - 1)
    const at = Math.floor(along)
    const here = stops[at] as Colour
    const colour = mixed(here, stops[at + 1] ?? here, along - at)
    const shown = grey ? light + (colour.light - light) * PULL : light
    // The very dark and the very light are calmer.
    return toHex({
      light: shown,
      chroma: colour.chroma * Math.min(1, 0.3 + 3 * shown * (1 - shown)),
      hue: colour.hue
    })
  }
  const bright = second ?? {
    light: 0.9,
    chroma: first === undefined ? 0.13 : first.chroma * 0.45,
    hue: first?.hue ?? out
  }
  const accent = toHex({ ...bright, light: night ? 0.9 : Math.max(bright.light, 0.93) })
  return { night, tone, accent }
}
