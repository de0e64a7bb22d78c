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
export const mapBox = (m: Matrix, left: number, bottom: number, right: number, top: number): Box => {
  let x0 = Infinity
  let y0 = Infinity
  let x1 = -Infinity
  let y1 = -Infinity
  for (let corner = 0; corner < 4; corner++) {
    const x = corner & 1 ? right : left
    const y = corner & 2 ? top : bottom
    const px = m[0] * x + m[2] * y + m[4]
    const py = m[1] * x + m[3] * y + m[5]
    if (px < x0) x0 = px
    if (px > x1) x1 = px
    if (py < y0) y0 = py
    if (py > y1) y1 = py
  }
  return [x0, y0, x1, y1]
}

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
