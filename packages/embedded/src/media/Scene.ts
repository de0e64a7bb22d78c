/**
 * Chooses and draws a scene from the hash of a prompt and a seed. Colour words and a few words for water, land and sky are
 * looked up in lists; everything else is random but repeatable.
 */
import type { Composition } from "./drawing/Canvas.ts"
import { paletteOf } from "./drawing/Palette.ts"
import { randomOf } from "./drawing/Random.ts"
import type { Size } from "./MediaRequest.ts"
import { terrain } from "./scenes/Terrain.ts"
import { water } from "./scenes/Water.ts"

interface SceneRequest extends Size {
  readonly prompt: string
  readonly seed: number
  /** True for muted colours. */
  readonly raw?: boolean
  /** The number of shapes relative to the usual one. */
  readonly detail?: number
}

/** The SVG elements at a time in seconds. */
export type Scene = (seconds: number) => string

const SUBJECTS: ReadonlyArray<readonly [RegExp, Composition]> = [
  [
    /\b(sea|ocean|water|waves?|river|lake|canal|lock|sluice|boats?|ships?|harbou?r)\b|[海水河湖江船浪港闸]/iu,
    water
  ],
  [/\b(mountains?|hills?|valleys?|landscape|desert|forest|land)\b|[山谷丘岭]|沙漠|森林|风景/iu, terrain]
]

export const sceneOf = ({ detail = 1, height, prompt, raw = false, seed, width }: SceneRequest): Scene => {
  const random = randomOf(prompt, seed)
  const chosen = random.pick([water, terrain])
  const palette = paletteOf(prompt, random, raw)
  const composition = SUBJECTS.find(([words]) => words.test(prompt))?.[1] ?? chosen
  return composition({ width, height, palette, random, detail })
}

/** An SVG of these elements. `opacity` is 0 to 1. */
export const svgOf = ({ height, width }: Size, elements: string, opacity = 1): Buffer => {
  const inner = opacity === 1 ? elements : `<g opacity="${opacity}">${elements}</g>`
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${size}>${inner}</svg>`)
}
