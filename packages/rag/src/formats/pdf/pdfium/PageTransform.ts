/** Coordinates of a loaded page. Page space is the file's; the page as shown has y downwards, rotation and crop box applied. */
import type { Box } from "../../../document/Document.ts"
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"

/** A page that PDFium has loaded. */
export interface LoadedPage {
  readonly pdfium: Pdfium
  readonly handle: number
  /** As shown, in points. */
  readonly width: number
  readonly height: number
  /** Address of `SCRATCH_BYTES` for results that PDFium writes. */
  readonly scratch: number
  /** From page space to the page as shown. */
  readonly toShown: Matrix
}

/** `x' = a·x + c·y + e`, `y' = b·x + d·y + f`. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number]

/** Applies `inner`, then `outer`. */
export const compose = (inner: Matrix, outer: Matrix): Matrix => [
  inner[0] * outer[0] + inner[1] * outer[2],
  inner[0] * outer[1] + inner[1] * outer[3],
  inner[2] * outer[0] + inner[3] * outer[2],
  inner[2] * outer[1] + inner[3] * outer[3],
  inner[4] * outer[0] + inner[5] * outer[2] + outer[4],
  inner[4] * outer[1] + inner[5] * outer[3] + outer[5]
]

/** The bounding box of a mapped rectangle. */
export const mapBox = (
  [a, b, c, d, e, f]: Matrix,
  left: number,
  bottom: number,
  right: number,
  top: number
): Box => [
  Math.min(a * left, a * right) + Math.min(c * bottom, c * top) + e,
  Math.min(b * left, b * right) + Math.min(d * bottom, d * top) + f,
  Math.max(a * left, a * right) + Math.max(c * bottom, c * top) + e,
  Math.max(b * left, b * right) + Math.max(d * bottom, d * top) + f
]

/** Device pixels a point: PDFium gives whole pixels. */
const SCALE = 100

/** From page space to the page as shown, in points. */
export const transformOf = (page: Omit<LoadedPage, "toShown">): Matrix => {
  const { handle, pdfium, scratch } = page
  const [width, height] = [Math.round(page.width * SCALE), Math.round(page.height * SCALE)]
  const map = (x: number, y: number): readonly [number, number] => {
    pdfium.FPDF_PageToDevice(handle, 0, 0, width, height, 0, x, y, scratch, scratch + 4)
    const ints = memoryOf(pdfium).HEAP32
    return [ints[scratch >> 2]! / SCALE, ints[(scratch >> 2) + 1]! / SCALE]
  }
  const [ox, oy] = map(0, 0)
  const [ax, ay] = map(1000, 0)
  const [bx, by] = map(0, 1000)
  return [(ax - ox) / 1000, (ay - oy) / 1000, (bx - ox) / 1000, (by - oy) / 1000, ox, oy]
}
