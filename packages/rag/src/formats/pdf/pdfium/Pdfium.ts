/** Bytes to what stands on the pages. */
import type { Box } from "../../../document/Document.ts"
import { KeptPages } from "./KeptPages.ts"
import { readText, SCRATCH } from "./PageText.ts"
import { readGraphics } from "./PageGraphics.ts"
import { pageTransform } from "./PageTransform.ts"
import type { Outline } from "../page/Box.ts"
import { renderPng } from "./Render.ts"
import { loadPdfium, memoryOf, type Pdfium } from "./PdfiumLibrary.ts"
import { readStructure } from "./Structure.ts"
import type { PdfFault, RawPage } from "../page/Run.ts"

/** `FPDF_GetLastError`: the password is missing or wrong; the security scheme is unknown. */
const ERROR_PASSWORD = 4
const ERROR_SECURITY = 5
const ADDRESS = "startxref"
const END = "%%EOF"
const OBJECT = /\d obj\b/
/** A side of a page in points, 70 metres: posters are far below it, damaged numbers above. */
const LONGEST = 200_000

const readPage = (pdfium: Pdfium, pages: KeptPages, index: number, scratch: number): RawPage => {
  const number = index + 1
  const nothing = { number, width: 0, height: 0, runs: [], graphics: [], failed: true }
  const page = pages.get(index)
  if (page === 0) return nothing
  let text = 0
  try {
    const width = pdfium.FPDF_GetPageWidthF(page)
    const height = pdfium.FPDF_GetPageHeightF(page)
    if (!(width > 0 && width <= LONGEST && height > 0 && height <= LONGEST)) return nothing
    text = pdfium.FPDFText_LoadPage(page)
    if (text === 0) return { ...nothing, width, height }
    const toShown = pageTransform(pdfium, page, scratch, width, height)
    const structure = readStructure(pdfium, page)
    const { runs, unreadable } = readText(pdfium, page, text, scratch, toShown, width, height, structure)
    const drawn = readGraphics(pdfium, page, scratch, toShown, width, height, structure)
    return { number, width, height, runs: unreadable ? [] : runs, ...drawn, failed: false, unreadable }
  } finally {
    if (text !== 0) pdfium.FPDFText_ClosePage(text)
  }
}

const metaTitle = (pdfium: Pdfium, document: number, scratch: number): string => {
  const length = pdfium.FPDF_GetMetaText(document, "Title", scratch, SCRATCH)
  if (length <= 2 || length > SCRATCH) return ""
  return Buffer.from(memoryOf(pdfium).HEAPU8.subarray(scratch, scratch + length - 2))
    .toString("utf16le")
    .trim()
}

/** PDFium broke at a page, and its memory cannot be trusted any more. */
export class PdfiumBroke extends Error {
  readonly page: number

  constructor(page: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.page = page
  }
}

/** What PDFium throws comes out of its WebAssembly in the middle of its work. */
const guarded = <A>(index: number, work: () => A): A => {
  try {
    return work()
  } catch (cause) {
    throw new PdfiumBroke(index + 1, cause)
  }
}

/** A PDF that is open. Only good within `withPdf`. */
export interface OpenPdf {
  readonly title: string
  readonly count: number
  /** A page that cannot be loaded comes back as `failed`. `index` counts from 0. */
  readonly page: (index: number) => RawPage
  /** Opens the file anew, which gives back what PDFium keeps of the pages that it has seen. */
  readonly renew: () => void
  /** A part of a page as PNG, RGB; undefined where it cannot be drawn. */
  readonly render: (
    index: number,
    dpi: number,
    box?: Box,
    outlines?: ReadonlyArray<Outline>
  ) => Uint8Array | undefined
}

/**
 * The bytes of a PDF without what was put after it: it ends with the address of its cross-reference. Undefined where
 * there is none, or objects come after it: the rest is missing. PDFium opens some of those, without the missing pages.
 */
const wholeLength = (bytes: Buffer): number | undefined => {
  const address = bytes.lastIndexOf(ADDRESS)
  if (address < 0 || OBJECT.test(bytes.toString("latin1", address))) return undefined
  const end = bytes.indexOf(END, address)
  return end < 0 ? bytes.length : end + END.length
}

/** Opens a PDF for as long as `use` works on it; or says why it cannot be. It takes the bytes: they are gone afterwards. */
export const withPdf = async <A>(bytes: Uint8Array, use: (pdf: OpenPdf) => A): Promise<A | PdfFault> => {
  const length = wholeLength(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if (length === undefined) {
    return {
      reason: "Malformed",
      message: "this PDF ends too early: part of it is missing. Fetch it again."
    }
  }
  const pdfium = await loadPdfium()
  const { free, malloc } = pdfium.pdfium.wasmExports
  const memory = malloc(bytes.length)
  const scratch = malloc(SCRATCH)
  memoryOf(pdfium).HEAPU8.set(bytes, memory)
  // PDFium has its own copy by now
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0)
  let broken = false
  let pages: KeptPages | undefined
  let document = guarded(-1, () => pdfium.FPDF_LoadMemDocument(memory, length, ""))
  try {
    const error = document === 0 ? pdfium.FPDF_GetLastError() : 0
    if (error === ERROR_PASSWORD || error === ERROR_SECURITY) {
      return {
        reason: "Encrypted",
        message: "this PDF is password-protected. Save a copy without a password."
      }
    }
    if (document === 0) {
      return {
        reason: "Malformed",
        message: "this PDF is damaged and cannot be opened. Fetch or export it again."
      }
    }
    const count = pdfium.FPDF_GetPageCount(document)
    pages = new KeptPages(pdfium, document)
    return use({
      title: metaTitle(pdfium, document, scratch),
      count,
      page: (index) => guarded(index, () => readPage(pdfium, pages!, index, scratch)),
      renew: () => {
        pages?.close()
        pdfium.FPDF_CloseDocument(document)
        document = guarded(-1, () => pdfium.FPDF_LoadMemDocument(memory, length, ""))
        pages = new KeptPages(pdfium, document)
      },
      render: (index, dpi, box, outlines) =>
        guarded(index, () => renderPng(pdfium, pages!.get(index), dpi, box, outlines))
    })
  } catch (cause) {
    broken = cause instanceof PdfiumBroke
    throw cause
  } finally {
    // What broke is not touched again: its thread ends
    if (!broken) {
      pages?.close()
      if (document !== 0) pdfium.FPDF_CloseDocument(document)
      free(scratch)
      free(memory)
    }
  }
}
