/** Geometry of boxes: size, position and overlap. */
import type { Box } from "../../../document/Document.ts"

export const width = (box: Box): number => box[2] - box[0]
export const height = (box: Box): number => box[3] - box[1]
export const area = (box: Box): number => Math.max(0, width(box)) * Math.max(0, height(box))
export const centre = (box: Box): readonly [x: number, y: number] => [
  (box[0] + box[2]) / 2,
  (box[1] + box[3]) / 2
]
export const middleY = (box: Box): number => (box[1] + box[3]) / 2
export const union = (a: Box, b: Box): Box => [
  Math.min(a[0], b[0]),
  Math.min(a[1], b[1]),
  Math.max(a[2], b[2]),
  Math.max(a[3], b[3])
]

/** The bounding box of several boxes. */
export const hull = (boxes: ReadonlyArray<Box>): Box => {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const box of boxes) {
    if (box[0] < x0) x0 = box[0]
    if (box[1] < y0) y0 = box[1]
    if (box[2] > x1) x1 = box[2]
    if (box[3] > y1) y1 = box[3]
  }
  return [x0, y0, x1, y1]
}

export const contains = (outer: Box, x: number, y: number): boolean =>
  x >= outer[0] && x <= outer[2] && y >= outer[1] && y <= outer[3]
/** The overlap of two ranges; negative is the gap between them. */
export const shared = (a0: number, a1: number, b0: number, b1: number): number =>
  Math.min(a1, b1) - Math.max(a0, b0)
export const overlapX = (a: Box, b: Box): number => shared(a[0], a[2], b[0], b[2])
export const overlapY = (a: Box, b: Box): number => shared(a[1], a[3], b[1], b[3])
/** The area of the intersection. */
export const sharedArea = (a: Box, b: Box): number =>
  Math.max(0, overlapX(a, b)) * Math.max(0, overlapY(a, b))

/** Whether left and right edges of two boxes differ by less than `by`. */
export const sameEnds = (a: Box, b: Box, by: number): boolean =>
  Math.abs(a[0] - b[0]) < by && Math.abs(a[2] - b[2]) < by

/** A box to draw over a page. `pixels` is the line width. */
export interface Outline {
  readonly box: Box
  readonly rgb: readonly [number, number, number]
  readonly pixels: number
}
