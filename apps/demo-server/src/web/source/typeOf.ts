/** The size of our letters at which a page's lines come out as long as they are, by the height of their boxes. */
import type { PageContent } from "../../contract/index.ts"
import { naturalWidth } from "./naturalWidth.ts"

/** Shorter lines say little of it. */
const ENOUGH_CHARACTERS = 20
const USUAL = 0.95
const SMALLEST = 0.7
const LARGEST = 1.25

/** How a page is set. */
export interface Type {
  /** Size of the letters for a box of height 1: one for the page, so that lines set in one size stay in one size. */
  readonly scale: number
  /** Height of the boxes of most lines. */
  readonly body: number
}

const median = (numbers: ReadonlyArray<number>): number | undefined =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

export const typeOf = ({ lines, start, text }: PageContent): Type => {
  const long = lines
    .map(({ box: [x0, y0, x1, y1], ...line }) => ({
      words: text.slice(line.start - start, line.end - start).trim(),
      length: x1 - x0,
      height: y1 - y0
    }))
    .filter(({ height, length, words }) => words.length >= ENOUGH_CHARACTERS && length > height && height > 0)
  const scale = median(long.map(({ height, length, words }) => length / naturalWidth(words) / height))
  return {
    scale: Math.min(LARGEST, Math.max(SMALLEST, scale ?? USUAL)),
    body: median(long.map(({ height }) => height)) ?? Infinity
  }
}
