/** From a page's own space to the page as it is shown. */
import type { Box } from "../../../document/Document.ts"
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"

/** `x' = a·x + c·y + e`, `y' = b·x + d·y + f`. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number]

/** First `inner`, then `outer`. */
export const compose = (inner: Matrix, outer: Matrix): Matrix => [
  inner[0] * outer[0] + inner[1] * outer[2],
  inner[0] * outer[1] + inner[1] * outer[3],
  inner[2] * outer[0] + inner[3] * outer[2],
  inner[2] * outer[1] + inner[3] * outer[3],
  inner[4] * outer[0] + inner[5] * outer[2] + outer[4],
  inner[4] * outer[1] + inner[5] * outer[3] + outer[5]
]

/** The box around a rectangle so mapped. */
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

/** From page space to the page as shown, in points with y downwards: PDFium knows about rotation and crop box. */
export const pageTransform = (
  pdfium: Pdfium,
  page: number,
  scratch: number,
  width: number,
  height: number
): Matrix => {
  const scale = 100
  const at = (x: number, y: number): readonly [number, number] => {
    pdfium.FPDF_PageToDevice(
      page,
      0,
      0,
      Math.round(width * scale),
      Math.round(height * scale),
      0,
      x,
      y,
      scratch,
      scratch + 4
    )
    const index = scratch >> 2
    return [memoryOf(pdfium).HEAP32[index]! / scale, memoryOf(pdfium).HEAP32[index + 1]! / scale]
  }
  const [ox, oy] = at(0, 0)
  const [ax, ay] = at(1000, 0)
  const [bx, by] = at(0, 1000)
  return [(ax - ox) / 1000, (ay - oy) / 1000, (bx - ox) / 1000, (by - oy) / 1000, ox, oy]
}
