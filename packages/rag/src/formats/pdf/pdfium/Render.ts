/** Pages, and parts of them, as pictures. */
import { crc32, deflateSync } from "node:zlib"
import type { Box } from "../../../document/Document.ts"
import type { Outline } from "../page/Box.ts"
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"

/** A picture has at most this many pixels; above, it is drawn smaller. Keeps a poster within 64 MiB of PDFium's memory. */
const PIXELS = 16_000_000
/** Most crops are smaller than this when they are packed, so that they come in one piece. */
const DEFLATED = 128 * 1024
/** Draw annotations, and with the order of channels that PNG has. */
const FLAGS = 0x01 | 0x10

/** The signature and, after it, each chunk with its length, kind and checksum: written once, in memory of its own. */
const toPng = (chunks: ReadonlyArray<readonly [kind: string, data: Uint8Array]>): Uint8Array => {
  const length = chunks.reduce((sum, [, data]) => sum + data.length + 12, 8)
  const png = new Uint8Array(length)
  const out = Buffer.from(png.buffer)
  out.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  let at = 8
  for (const [kind, data] of chunks) {
    out.writeUInt32BE(data.length, at)
    out.write(kind, at + 4, "latin1")
    out.set(data, at + 8)
    const end = at + 8 + data.length
    out.writeUInt32BE(crc32(out.subarray(at + 4, end)), end)
    at = end + 4
  }
  return png
}

/** Whether red, green and blue are alike everywhere. */
const isGrey = (pixels: Uint8Array): boolean => {
  for (let i = 0; i < pixels.length; i += 4) {
    const red = pixels[i]!
    if (red !== pixels[i + 1]! || red !== pixels[i + 2]!) return false
  }
  return true
}

/** Rows of the last picture: the next one is written over it, so that hundreds of pictures do not hold hundreds of these. */
let room = new Uint8Array(0)

/** The rows of a PNG, each told by its difference from the one above, after the byte that says so. Good until the next call. */
const toRows = (pixels: Uint8Array, width: number, height: number, grey: boolean): Uint8Array => {
  const stride = width * 4
  const length = height * (1 + width * (grey ? 1 : 3))
  if (room.length < length) room = new Uint8Array(length)
  const rows = room.subarray(0, length)
  let out = 0
  for (let from = 0; from < height * stride; from += stride) {
    // Above the first row all is 0
    const above = from === 0 ? 0 : stride
    rows[out++] = from === 0 ? 0 : 2
    for (let at = from; at < from + stride; at += 4) {
      const before = at - above
      if (above === 0) {
        rows[out++] = pixels[at]!
        if (grey) continue
        rows[out++] = pixels[at + 1]!
        rows[out++] = pixels[at + 2]!
      } else {
        rows[out++] = pixels[at]! - pixels[before]!
        if (grey) continue
        rows[out++] = pixels[at + 1]! - pixels[before + 1]!
        rows[out++] = pixels[at + 2]! - pixels[before + 2]!
      }
    }
  }
  return rows
}

/** PNG of RGBA pixels on white paper: grey where all is grey, else RGB. */
const encodePng = (pixels: Uint8Array, width: number, height: number): Uint8Array => {
  const grey = isGrey(pixels)
  const raw = toRows(pixels, width, height, grey)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, grey ? 0 : 2, 0, 0, 0], 8)
  return toPng([
    ["IHDR", header],
    ["IDAT", deflateSync(raw, { level: 3, chunkSize: DEFLATED })],
    ["IEND", new Uint8Array(0)]
  ])
}

/** Draws a rectangle's edges into RGBA pixels; `scale` is pixels per point. */
const drawOutline = (
  pixels: Uint8Array,
  width: number,
  height: number,
  scale: number,
  { box, pixels: line, rgb }: Outline
): void => {
  const clamp = (value: number, most: number) => Math.max(0, Math.min(most - 1, Math.round(value * scale)))
  const [x0, y0, x1, y1] = [
    clamp(box[0], width),
    clamp(box[1], height),
    clamp(box[2], width),
    clamp(box[3], height)
  ]
  for (let y = y0; y <= y1; y++) {
    for (let x = x0; x <= x1; x++) {
      const inside = x - x0 >= line && x1 - x >= line && y - y0 >= line && y1 - y >= line
      // Jump over the inside of the rectangle
      if (inside) x = x1 - line
      else pixels.set(rgb, (y * width + x) * 4)
    }
  }
}

/**
 * A loaded page, or the part of it in `box` (points of the page as shown), as PNG at `dpi`, white where nothing is drawn.
 * Undefined where there is no page (0) or memory does not suffice.
 */
export const renderPng = (
  pdfium: Pdfium,
  page: number,
  dpi: number,
  box?: Box,
  outlines: ReadonlyArray<Outline> = []
): Uint8Array | undefined => {
  if (page === 0) return undefined
  let bitmap = 0
  try {
    const [pageWidth, pageHeight] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)]
    const [x0, y0, x1, y1] = box ?? [0, 0, pageWidth, pageHeight]
    const wanted = dpi / 72
    const scale = Math.min(wanted, Math.sqrt(PIXELS / Math.max(1, (x1 - x0) * (y1 - y0))))
    const width = Math.max(1, Math.round((x1 - x0) * scale))
    const height = Math.max(1, Math.round((y1 - y0) * scale))
    bitmap = pdfium.FPDFBitmap_Create(width, height, 0)
    if (bitmap === 0) return undefined
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff)
    pdfium.FPDF_RenderPageBitmap(
      bitmap,
      page,
      Math.round(-x0 * scale),
      Math.round(-y0 * scale),
      Math.round(pageWidth * scale),
      Math.round(pageHeight * scale),
      0,
      FLAGS
    )
    const at = pdfium.FPDFBitmap_GetBuffer(bitmap)
    const pixels = memoryOf(pdfium).HEAPU8.subarray(at, at + width * height * 4)
    for (const outline of outlines) drawOutline(pixels, width, height, scale, outline)
    return encodePng(pixels, width, height)
  } finally {
    if (bitmap !== 0) pdfium.FPDFBitmap_Destroy(bitmap)
  }
}
