/** Pages that PDFium has loaded: what was read a moment ago is drawn without loading it again. */
import type { Pdfium } from "./PdfiumLibrary.ts"

/** As many pages as most papers have … */
const PAGES = 24
/** … but none of those with more objects, which hold much memory. */
const OBJECTS = 4000

/** Loaded pages of one document. A page is good until another one is asked for. */
export class KeptPages {
  readonly #pdfium: Pdfium
  readonly #document: number
  /** From the one that was not used for the longest time. */
  readonly #pages = new Map<number, number>()

  constructor(pdfium: Pdfium, document: number) {
    this.#pdfium = pdfium
    this.#document = document
  }

  /** The page's handle; 0 where it cannot be loaded. `index` counts from 0. */
  get(index: number): number {
    const kept = this.#pages.get(index)
    if (kept !== undefined) {
      this.#pages.delete(index)
      this.#pages.set(index, kept)
      return kept
    }
    for (const [old, page] of this.#pages) {
      if (this.#pages.size >= PAGES || this.#pdfium.FPDFPage_CountObjects(page) > OBJECTS) this.#close(old)
    }
    const page = this.#pdfium.FPDF_LoadPage(this.#document, index)
    if (page !== 0) this.#pages.set(index, page)
    return page
  }

  close(): void {
    for (const index of this.#pages.keys()) this.#close(index)
  }

  #close(index: number): void {
    this.#pdfium.FPDF_ClosePage(this.#pages.get(index)!)
    this.#pages.delete(index)
  }
}
