/** The project's name as lines, so that no font is needed. */
import { formatPixels } from "./drawing/Canvas.ts"
import type { Size } from "./MediaRequest.ts"
import { svgOf } from "./Scene.ts"

/** The strokes of each letter in a box of 6 × 10. */
const LETTERS = {
  S: "M6 2.4C5.6 .8 4.6 0 3 0C1.2 0 0 1 0 2.5C0 6 6 4 6 7.5C6 9 4.8 10 3 10C1.4 10 .4 9.2 0 7.6",
  L: "M0 0V10H5.4",
  U: "M0 0V7A3 3 0 0 0 6 7V0",
  I: "M1 0V10",
  C: "M6 2.2C5.4 .8 4.4 0 3.2 0C1.2 0 0 1.8 0 5C0 8.2 1.2 10 3.2 10C4.4 10 5.4 9.2 6 7.8",
  E: "M5.6 0H0V10H5.6M0 4.9H4.6"
} as const

/** The left edge of each letter, in the same units. */
const EDGES = { S: 0, L: 9, U: 17, I: 26, C: 31, E: 40 } as const
const WORD_WIDTH = 46
const WORD_HEIGHT = 10

/** The height as a share of the shorter side, and at least this many pixels. */
const HEIGHT_SHARE = 0.03
const MIN_PIXELS = 7

/** An SVG for the bottom right corner, with its margin. Light letters with a dark rim show on any background. */
export const watermark = ({ height, width }: Size): Buffer => {
  const tall = Math.max(MIN_PIXELS, Math.min(width, height) * HEIGHT_SHARE)
  const scale = Math.min(tall / WORD_HEIGHT, (width * 0.8) / WORD_WIDTH)
  const margin = scale * WORD_HEIGHT * 0.9
  const box = {
    width: Math.min(width, Math.ceil(WORD_WIDTH * scale + margin * 1.5)),
    height: Math.min(height, Math.ceil(WORD_HEIGHT * scale + margin * 1.5))
  }
  const letters = Object.entries(LETTERS)
    .map(([letter, d]) => `<path transform="translate(${EDGES[letter as "S"]} 0)" d="${d}"/>`)
    .join("")
  const place = `transform="translate(${formatPixels(margin / 2)} ${formatPixels(margin / 2)}) scale(${scale.toFixed(3)})"`
  const stroked = (attributes: string) => `<g ${attributes}>${letters}</g>`
  const dark = stroked('stroke="#000" stroke-opacity=".45" stroke-width="3.4"')
  const light = stroked('stroke="#fff" stroke-opacity=".95" stroke-width="1.6"')
  const lines = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
  return svgOf(box, `<g ${place} ${lines}>${dark}${light}</g>`)
}
