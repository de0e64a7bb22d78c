/** Opens a PDF with PDFium: reads and draws its pages. */
import { LRUCache } from "lru-cache"
import type { Box } from "../../../document/Document.ts"
import { readText } from "./PageText.ts"
import { readGraphics } from "./PageGraphics.ts"
import { transformOf } from "./PageTransform.ts"
import type { Outline } from "../page/Box.ts"
import { renderPng } from "./Render.ts"
import { crashReason, loadPdfium, memoryOf, type Pdfium, SCRATCH_BYTES } from "./PdfiumLibrary.ts"
import { readStructure } from "./Structure.ts"
import { failedPage, type PdfFault, type RawPage } from "../page/Run.ts"

/** `FPDF_GetLastError`: the password is missing or wrong; the security scheme is unknown. */
const ERROR_PASSWORD = 4
const ERROR_SECURITY = 5
const CROSS_REFERENCE = "startxref"
const END = "%%EOF"
const OBJECT = /\d obj\b/
/** Longest side of a page in points, 70 metres: larger numbers are damaged. */
const MAX_SIDE = 200_000
/** Loaded pages that are kept to be drawn without loading them again: most papers have fewer. */
const MAX_LOADED = 24
/** Pages of more objects hold much memory, and are closed when another page is used. */
const MAX_KEPT_OBJECTS = 4000

/** Loads pages by index from 0. A handle is 0 where the page cannot be loaded, and valid until the next call. */
class PageLoader {
  readonly #pdfium: Pdfium
  readonly #pages: LRUCache<number, number>

  constructor(pdfium: Pdfium, document: number) {
    this.#pdfium = pdfium
    this.#pages = new LRUCache({
      max: MAX_LOADED,
      dispose: (page) => pdfium.FPDF_ClosePage(page),
      memoMethod: (index) => pdfium.FPDF_LoadPage(document, index)
    })
  }

  load(index: number): number {
    for (const [other, page] of this.#pages.entries()) {
      const isLarge = this.#pdfium.FPDFPage_CountObjects(page) > MAX_KEPT_OBJECTS
      if (other !== index && isLarge) this.#pages.delete(other)
    }
    return this.#pages.memo(index)
  }

  close(): void {
    this.#pages.clear()
  }
}

const readPage = (pdfium: Pdfium, handle: number, index: number, scratch: number): RawPage => {
  const number = index + 1
  if (handle === 0) return failedPage(number)
  const [width, height] = [pdfium.FPDF_GetPageWidthF(handle), pdfium.FPDF_GetPageHeightF(handle)]
  if (!(width > 0 && width <= MAX_SIDE && height > 0 && height <= MAX_SIDE)) return failedPage(number)
  const text = pdfium.FPDFText_LoadPage(handle)
  if (text === 0) return failedPage(number, width, height)
  try {
    const loaded = { pdfium, handle, width, height, scratch }
    const page = { ...loaded, toShown: transformOf(loaded) }
    const structure = readStructure(pdfium, handle)
    const { runs, unreadable } = readText(page, text, structure)
    const drawn = readGraphics(page, structure)
    return { number, width, height, runs: unreadable ? [] : runs, ...drawn, failed: false, unreadable }
  } finally {
    pdfium.FPDFText_ClosePage(text)
  }
}

const titleField = (pdfium: Pdfium, document: number, scratch: number): string => {
  const length = pdfium.FPDF_GetMetaText(document, "Title", scratch, SCRATCH_BYTES)
  if (length <= 2 || length > SCRATCH_BYTES) return ""
  return Buffer.from(memoryOf(pdfium).HEAPU8.subarray(scratch, scratch + length - 2))
    .toString("utf16le")
    .trim()
}

/** PDFium crashed at a page, counted from 1. Its memory can no longer be trusted. */
export class PdfiumCrash extends Error {
  readonly page: number

  constructor(page: number, cause: unknown) {
    super(crashReason(cause), { cause })
    this.page = page
  }
}

/** Calls PDFium. An exception comes from the middle of WebAssembly: it is a crash. */
const calling = <A>(index: number, work: () => A): A => {
  try {
    return work()
  } catch (cause) {
    throw new PdfiumCrash(index + 1, cause)
  }
}

/** An open PDF. Valid only within `withPdf`. */
export interface OpenPdf {
  readonly title: string
  readonly count: number
  /** Reads a page; one that cannot be loaded is `failed`. `index` counts from 0. */
  readonly page: (index: number) => RawPage
  /** Opens the file again, which frees what PDFium caches of the pages read so far. */
  readonly reopen: () => void
  /** Draws a part of a page as RGB PNG; undefined where it cannot be drawn. */
  readonly render: (
    index: number,
    dpi: number,
    box?: Box,
    outlines?: ReadonlyArray<Outline>
  ) => Uint8Array | undefined
}

/**
 * The length of a PDF without trailing data: it ends with the address of its cross-reference table. Undefined where there is
 * none, or objects follow it: the file is cut short. PDFium opens some of those files without the missing pages.
 */
const completeLength = (bytes: Buffer): number | undefined => {
  const address = bytes.lastIndexOf(CROSS_REFERENCE)
  if (address < 0 || OBJECT.test(bytes.toString("latin1", address))) return undefined
  const end = bytes.indexOf(END, address)
  return end < 0 ? bytes.length : end + END.length
}

/** Why PDFium did not open a document. */
const openFault = (pdfium: Pdfium): PdfFault => {
  const error = pdfium.FPDF_GetLastError()
  return error === ERROR_PASSWORD || error === ERROR_SECURITY
    ? { reason: "Encrypted", message: "this PDF is password-protected. Save a copy without a password." }
    : {
        reason: "Malformed",
        message: "this PDF is damaged and cannot be opened. Fetch or export it again."
      }
}

/** Opens a PDF while `use` runs, or returns why it cannot be opened. Transfers `bytes`: they are empty afterwards. */
export const withPdf = async <A>(bytes: Uint8Array, use: (pdf: OpenPdf) => A): Promise<A | PdfFault> => {
  const length = completeLength(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if (length === undefined) {
    return {
      reason: "Malformed",
      message: "this PDF ends too early: part of it is missing. Fetch it again."
    }
  }
  const pdfium = await loadPdfium()
  const { free, malloc } = pdfium.pdfium.wasmExports
  const memory = malloc(bytes.length)
  const scratch = malloc(SCRATCH_BYTES)
  memoryOf(pdfium).HEAPU8.set(bytes, memory)
  // PDFium has its own copy: free the caller's
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0)
  const open = () => calling(-1, () => pdfium.FPDF_LoadMemDocument(memory, length, ""))
  let crashed = false
  let document = open()
  let pages = new PageLoader(pdfium, document)
  try {
    if (document === 0) return openFault(pdfium)
    return use({
      title: titleField(pdfium, document, scratch),
      count: pdfium.FPDF_GetPageCount(document),
      page: (index) => calling(index, () => readPage(pdfium, pages.load(index), index, scratch)),
      reopen: () => {
        pages.close()
        pdfium.FPDF_CloseDocument(document)
        document = open()
        pages = new PageLoader(pdfium, document)
      },
      render: (index, dpi, box, outlines) =>
        calling(index, () => renderPng(pdfium, pages.load(index), dpi, box, outlines))
    })
  } catch (cause) {
    crashed = cause instanceof PdfiumCrash
    throw cause
  } finally {
    // After a crash PDFium is not called again: its thread ends
    if (!crashed) {
      pages.close()
      if (document !== 0) pdfium.FPDF_CloseDocument(document)
      free(scratch)
      free(memory)
    }
  }
}
