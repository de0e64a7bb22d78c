/** Two readings of one picture as one: what either saw, once. */
import type { OcrLine } from "./Seen.ts"

/** Intersection over union from which two boxes hold the same line. */
const SAME = 0.7

const areaOf = ({ box: [, , width, height] }: OcrLine): number => width * height

const shared = (a: OcrLine, b: OcrLine): number => {
  const [aLeft, aTop, aWidth, aHeight] = a.box
  const [bLeft, bTop, bWidth, bHeight] = b.box
  const width = Math.min(aLeft + aWidth, bLeft + bWidth) - Math.max(aLeft, bLeft)
  const height = Math.min(aTop + aHeight, bTop + bHeight) - Math.max(aTop, bTop)
  return width > 0 && height > 0 ? width * height : 0
}

const isSame = (a: OcrLine, b: OcrLine): boolean => {
  const both = shared(a, b)
  return both >= SAME * (areaOf(a) + areaOf(b) - both)
}

/** The one that says more, and is surer of it. */
const better = (a: OcrLine, b: OcrLine): OcrLine =>
  b.confidence * b.text.length > a.confidence * a.text.length ? b : a

/**
 * The lines of the first reading, each in the better of its two forms, and those of the second where the first saw
 * nothing, before the first line that is lower.
 */
export const mergeLines = (
  first: ReadonlyArray<OcrLine>,
  second: ReadonlyArray<OcrLine>
): ReadonlyArray<OcrLine> => {
  const merged = first.map((line) => second.filter((other) => isSame(line, other)).reduce(better, line))
  for (const line of second) {
    if (first.some((other) => shared(line, other) > 0)) continue
    const lower = merged.findIndex((other) => other.box[1] > line.box[1])
    merged.splice(lower === -1 ? merged.length : lower, 0, line)
  }
  return merged
}
