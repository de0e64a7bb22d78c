/** Type metrics of a page: the font size at which its lines are as long as their boxes. */
import type { PageContent } from "../../contract/index.ts"

const canvas = document.createElement("canvas").getContext("2d")

/** The width of a text in the reading font at size 1. */
export const naturalWidth = (text: string): number => {
  if (canvas === null) return text.length * 0.45
  canvas.font = "100px Newsreader, serif"
  return canvas.measureText(text).width / 100
}

/** Shorter lines, in characters, say little about the font. */
const MIN_CHARACTERS = 20
const SCALE = { usual: 0.95, least: 0.7, most: 1.25 } as const

export interface PageType {
  /** Font size for a box of height 1. One for the page, so that lines of one size keep one size. */
  readonly scale: number
  /** The median height of the lines' boxes, in points. */
  readonly body: number
}

const median = (numbers: ReadonlyArray<number>): number | undefined =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

export const measurePage = ({ lines, start, text }: PageContent): PageType => {
  const long = lines
    .map(({ box: [x0, y0, x1, y1], ...line }) => ({
      words: text.slice(line.start - start, line.end - start).trim(),
      length: x1 - x0,
      height: y1 - y0
    }))
    .filter(({ height, length, words }) => words.length >= MIN_CHARACTERS && length > height && height > 0)
  const scale = median(long.map(({ height, length, words }) => length / naturalWidth(words) / height))
  return {
    scale: Math.min(SCALE.most, Math.max(SCALE.least, scale ?? SCALE.usual)),
    body: median(long.map(({ height }) => height)) ?? Infinity
  }
}
