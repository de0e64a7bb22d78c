/** A line of text found by OCR, and how two passes over one picture are merged. */

/** A line of text in a picture. */
export interface OcrLine {
  readonly text: string
  /** The engine's confidence, 0 to 1. */
  readonly confidence: number
  /** Left, top, width, height, in pixels of the upright picture. */
  readonly box: readonly [number, number, number, number]
}

/** Two boxes hold the same line from this intersection over union. */
const MIN_OVERLAP = 0.7

const areaOf = ({ box: [, , width, height] }: OcrLine): number => width * height

const intersection = (a: OcrLine, b: OcrLine): number => {
  const [aLeft, aTop, aWidth, aHeight] = a.box
  const [bLeft, bTop, bWidth, bHeight] = b.box
  const width = Math.min(aLeft + aWidth, bLeft + bWidth) - Math.max(aLeft, bLeft)
  const height = Math.min(aTop + aHeight, bTop + bHeight) - Math.max(aTop, bTop)
  return width > 0 && height > 0 ? width * height : 0
}

const isSame = (a: OcrLine, b: OcrLine): boolean => {
  const both = intersection(a, b)
  return both >= MIN_OVERLAP * (areaOf(a) + areaOf(b) - both)
}

/** The line with more text and more confidence. */
const better = (a: OcrLine, b: OcrLine): OcrLine =>
  b.confidence * b.text.length > a.confidence * a.text.length ? b : a

/**
 * The lines of the first pass, each in the better of its two forms, and those of the second pass where the first found
 * nothing. They are inserted before the first line that is lower.
 */
export const mergeLines = (
  first: ReadonlyArray<OcrLine>,
  second: ReadonlyArray<OcrLine>
): ReadonlyArray<OcrLine> => {
  const merged = first.map((line) => second.filter((other) => isSame(line, other)).reduce(better, line))
  for (const line of second) {
    if (first.some((other) => intersection(line, other) > 0)) continue
    const lower = merged.findIndex((other) => other.box[1] > line.box[1])
    merged.splice(lower === -1 ? merged.length : lower, 0, line)
  }
  return merged
}
