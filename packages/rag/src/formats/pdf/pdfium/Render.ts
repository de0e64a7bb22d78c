/** Draws pages, and parts of them, as PNG. */
import { crc32, deflateSync } from "node:zlib"
import type { Box } from "../../../document/Document.ts"
import type { Outline } from "../page/Box.ts"
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"

/** Larger pages are drawn smaller. Keeps a poster within 64 MiB of PDFium's memory. */
const MAX_PIXELS = 16_000_000
/** Bytes: most compressed crops are smaller, so that zlib returns one chunk. */
const CHUNK_SIZE = 128 * 1024
/** `FPDF_ANNOT | FPDF_REVERSE_BYTE_ORDER`: with annotations, in RGBA. */
const FLAGS = 0x01 | 0x10

/** The signature and each chunk with its length, kind and checksum, in a buffer that can be transferred. */
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

/** Whether red, green and blue are equal in every pixel. */
const isGrey = (pixels: Uint8Array): boolean => {
  for (let i = 0; i < pixels.length; i += 4) {
    const red = pixels[i]!
    if (red !== pixels[i + 1]! || red !== pixels[i + 2]!) return false
  }
  return true
}

/** Memory for the rows of one picture, shared by all: hundreds of crops would hold hundreds of buffers. */
let buffer = new Uint8Array(0)

/** The rows of a PNG, filtered by "up" (2) except for the first (0). Valid until the next call. */
const toRows = (pixels: Uint8Array, width: number, height: number, grey: boolean): Uint8Array => {
  const stride = width * 4
  const length = height * (1 + width * (grey ? 1 : 3))
  if (buffer.length < length) buffer = new Uint8Array(length)
  const rows = buffer.subarray(0, length)
  const channels = grey ? 1 : 3
  let out = 0
  for (let from = 0; from < height * stride; from += stride) {
    rows[out++] = from === 0 ? 0 : 2
    for (let at = from; at < from + stride; at += 4) {
      for (let c = at; c < at + channels; c++)
        rows[out++] = from === 0 ? pixels[c]! : pixels[c]! - pixels[c - stride]!
    }
  }
  return rows
}

/** RGBA pixels on white paper as PNG: greyscale where every pixel is grey, otherwise RGB. */
const encodePng = (pixels: Uint8Array, width: number, height: number): Uint8Array => {
  const grey = isGrey(pixels)
  const raw = toRows(pixels, width, height, grey)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, grey ? 0 : 2, 0, 0, 0], 8)
  return toPng([
    ["IHDR", header],
    ["IDAT", deflateSync(raw, { level: 3, chunkSize: CHUNK_SIZE })],
    ["IEND", new Uint8Array(0)]
  ])
}

/** Draws the edges of a box into RGBA pixels. `scale` is pixels per point. */
const drawOutline = (
  pixels: Uint8Array,
  width: number,
  height: number,
  scale: number,
  { box, pixels: line, rgb }: Outline
): void => {
  const clamp = (value: number, size: number) => Math.max(0, Math.min(size - 1, Math.round(value * scale)))
  const [x0, x1] = [clamp(box[0], width), clamp(box[2], width)]
  const [y0, y1] = [clamp(box[1], height), clamp(box[3], height)]
  for (let y = y0; y <= y1; y++) {
    for (let x = x0; x <= x1; x++) {
      const inside = x - x0 >= line && x1 - x >= line && y - y0 >= line && y1 - y >= line
      // Skip the inside of the box
      if (inside) x = x1 - line
      else pixels.set(rgb, (y * width + x) * 4)
    }
  }
}

/**
 * Draws a loaded page, or the part of it in `box` (points of the page as shown), as PNG at `dpi` on white. Undefined where
 * there is no page (0) or too little memory.
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
    const scale = Math.min(dpi / 72, Math.sqrt(MAX_PIXELS / Math.max(1, (x1 - x0) * (y1 - y0))))
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
