/** PDFium, the only place that imports it: bytes to runs of text on pages. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { init } from "@embedpdf/pdfium"
import type { Box } from "../../Document.ts"
import type { PdfFault, RawPage, RawPdf, Turn } from "./Run.ts"
import { type Look, RunBuilder } from "./RunBuilder.ts"

type Pdfium = Awaited<ReturnType<typeof init>>

/** `FPDF_GetLastError`: the password is missing or wrong; the security scheme is unknown. */
const ERROR_PASSWORD = 4
const ERROR_SECURITY = 5
const OBJECT_IMAGE = 3
/** Scratch memory for what PDFium writes back. */
const SCRATCH = 1024
/** A whole PDF ends with its cross-reference's address within this many bytes. */
const TAIL = 2048

const BOLD = /bold|black|heavy|semibold|demi|medi\b|-bd|cmbx/i
const MONO = /mono|courier|consol|typewriter|menlo|cmtt|code/i

/** Emscripten's views of PDFium's memory, typed here because its own types are not installed. They change as it grows. */
interface Memory {
  readonly HEAPU8: Uint8Array
  readonly HEAP32: Int32Array
  readonly HEAPF32: Float32Array
}
const memoryOf = (pdfium: Pdfium): Memory => pdfium.pdfium as unknown as Memory

let loading: Promise<Pdfium> | undefined

/** Compiles PDFium once for each thread (about 30 ms). */
const load = (): Promise<Pdfium> => {
  loading ??= (async () => {
    const file = readFileSync(createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm"))
    const wasmBinary = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer
    const pdfium = await init({ wasmBinary })
    pdfium.PDFiumExt_Init()
    return pdfium
  })()
  return loading
}

/** The memory that PDFium holds by now, in bytes; it never shrinks. */
export const heapBytes = async (): Promise<number> => memoryOf(await load()).HEAPU8.byteLength

/** From page space to the page as shown, in points with y downwards: PDFium knows about rotation and crop box. */
const pageTransform = (pdfium: Pdfium, page: number, scratch: number, width: number, height: number) => {
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
  const [a, b, c, d] = [(ax - ox) / 1000, (ay - oy) / 1000, (bx - ox) / 1000, (by - oy) / 1000]
  return (left: number, top: number, right: number, bottom: number): Box => {
    const x0 = ox + a * left + c * bottom
    const y0 = oy + b * left + d * bottom
    const x1 = ox + a * right + c * top
    const y1 = oy + b * right + d * top
    return [Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)]
  }
}

const readRuns = (
  pdfium: Pdfium,
  page: number,
  text: number,
  scratch: number,
  width: number,
  height: number
) => {
  const toBox = pageTransform(pdfium, page, scratch, width, height)
  const rotation = pdfium.FPDFPage_GetRotation(page)
  const runs = new RunBuilder(width, height)
  const fonts = new Map<number, { readonly bold: boolean; readonly mono: boolean }>()

  const lookAt = (index: number): Look => {
    const object = pdfium.FPDFText_GetTextObject(text, index)
    let font = fonts.get(object)
    if (font === undefined) {
      const length = pdfium.FPDFText_GetFontInfo(text, index, scratch, SCRATCH - 8, scratch + SCRATCH - 8)
      const name =
        length > 1
          ? Buffer.from(
              memoryOf(pdfium).HEAPU8.subarray(scratch, scratch + Math.min(length, SCRATCH - 8) - 1)
            ).toString()
          : ""
      font = {
        bold: BOLD.test(name) || pdfium.FPDFText_GetFontWeight(text, index) >= 650,
        mono: MONO.test(name)
      }
      if (object !== 0) fonts.set(object, font)
    }
    pdfium.FPDFText_GetMatrix(text, index, scratch)
    const at = scratch >> 2
    const heap = memoryOf(pdfium).HEAPF32
    const [a, b, c, d] = [heap[at]!, heap[at + 1]!, heap[at + 2]!, heap[at + 3]!]
    const quarter = Math.round(Math.atan2(b, a) / (Math.PI / 2)) - rotation
    return {
      ...font,
      size: pdfium.FPDFText_GetFontSize(text, index) * Math.hypot(c, d),
      turn: (((quarter % 4) + 4) % 4) as Turn
    }
  }

  const count = pdfium.FPDFText_CountChars(text)
  for (let i = 0; i < count; i++) {
    const code = pdfium.FPDFText_GetUnicode(text, i)
    if (code === 10 || code === 13) runs.lineEnd()
    else if (code === 32 || code === 9 || code === 0xa0) runs.blank()
    else if (code !== 0 && pdfium.FPDFText_GetLooseCharBox(text, i, scratch)) {
      const at = scratch >> 2
      const heap = memoryOf(pdfium).HEAPF32
      let box = toBox(heap[at]!, heap[at + 1]!, heap[at + 2]!, heap[at + 3]!)
      let look = runs.atWordStart ? lookAt(i) : undefined
      const tall = box[3] - box[1]
      // Fonts that are drawings have sizes of their own: then the box says more
      if (
        look !== undefined &&
        look.turn % 2 === 0 &&
        tall > 0 &&
        (look.size < tall / 3 || look.size > tall * 3)
      ) {
        look = { ...look, size: tall / 1.1 }
      }
      if (box[2] - box[0] > width || tall > height)
        box = [box[0], box[1], Math.min(box[2], width), Math.min(box[3], height)]
      // PDFium marks a hyphen at a line's end with 2
      const character =
        code === 2 ? "-" : code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code)
      runs.character(character, box, look)
    }
  }
  return runs.finish()
}

const readPage = (pdfium: Pdfium, document: number, index: number, scratch: number): RawPage => {
  const number = index + 1
  let page = 0
  let text = 0
  try {
    page = pdfium.FPDF_LoadPage(document, index)
    if (page === 0) return { number, width: 0, height: 0, runs: [], failed: true }
    const width = pdfium.FPDF_GetPageWidthF(page)
    const height = pdfium.FPDF_GetPageHeightF(page)
    text = pdfium.FPDFText_LoadPage(page)
    if (text === 0) return { number, width, height, runs: [], failed: true }
    return {
      number,
      width,
      height,
      runs: readRuns(pdfium, page, text, scratch, width, height),
      failed: false
    }
  } catch {
    return { number, width: 0, height: 0, runs: [], failed: true }
  } finally {
    if (text !== 0) pdfium.FPDFText_ClosePage(text)
    if (page !== 0) pdfium.FPDF_ClosePage(page)
  }
}

const showsImages = (pdfium: Pdfium, document: number, pages: number): boolean => {
  for (let index = 0; index < Math.min(pages, 5); index++) {
    const page = pdfium.FPDF_LoadPage(document, index)
    if (page === 0) continue
    const count = pdfium.FPDFPage_CountObjects(page)
    let found = false
    for (let i = 0; i < count && !found; i++) {
      found = pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page, i)) === OBJECT_IMAGE
    }
    pdfium.FPDF_ClosePage(page)
    if (found) return true
  }
  return false
}

const metaTitle = (pdfium: Pdfium, document: number, scratch: number): string => {
  const length = pdfium.FPDF_GetMetaText(document, "Title", scratch, SCRATCH)
  if (length <= 2 || length > SCRATCH) return ""
  return Buffer.from(memoryOf(pdfium).HEAPU8.subarray(scratch, scratch + length - 2))
    .toString("utf16le")
    .trim()
}

/** Every page's text, or why there is none. A page that fails costs only that page. */
export const readPdfium = async (bytes: Uint8Array): Promise<RawPdf | PdfFault> => {
  const tail = Buffer.from(bytes.subarray(-TAIL)).toString("latin1")
  const pdfium = await load()
  const { free, malloc } = pdfium.pdfium.wasmExports
  const memory = malloc(bytes.length)
  const scratch = malloc(SCRATCH)
  memoryOf(pdfium).HEAPU8.set(bytes, memory)
  const document = pdfium.FPDF_LoadMemDocument(memory, bytes.length, "")
  try {
    const error = document === 0 ? pdfium.FPDF_GetLastError() : 0
    if (error === ERROR_PASSWORD || error === ERROR_SECURITY) {
      return {
        reason: "Encrypted",
        message: "this PDF wants a password. Save a copy without one, and add that."
      }
    }
    // PDFium opens some files that end too early, without the pages that are missing
    if (!tail.includes("startxref")) {
      return {
        reason: "Malformed",
        message: "this PDF ends too early: part of it is missing. Fetch it again."
      }
    }
    if (document === 0) {
      return {
        reason: "Malformed",
        message: "this PDF is damaged and cannot be opened. Fetch or export it again."
      }
    }
    const count = pdfium.FPDF_GetPageCount(document)
    const pages = Array.from({ length: count }, (_, index) => readPage(pdfium, document, index, scratch))
    const text = pages.some(({ runs }) => runs.length > 0)
    return {
      title: metaTitle(pdfium, document, scratch),
      pages,
      images: !text && showsImages(pdfium, document, count)
    }
  } finally {
    if (document !== 0) pdfium.FPDF_CloseDocument(document)
    free(scratch)
    free(memory)
  }
}
