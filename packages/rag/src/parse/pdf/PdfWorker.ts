/** The thread in which PDFs are read; nothing imports it. */
import { parentPort } from "node:worker_threads"
import type { Parsed } from "../../Document.ts"
import { toParsed } from "./PdfDocument.ts"
import { type OpenPdf, withPdf } from "./Pdfium.ts"
import { heapBytes } from "./PdfiumLibrary.ts"
import type { PdfFault } from "./Run.ts"

/** What the thread answers to one file: how it went, and how much memory PDFium holds by now. */
export interface WorkerAnswer {
  readonly result: { readonly parsed: Parsed; readonly failedPages: ReadonlyArray<number> } | PdfFault
  readonly heapBytes: number
}

const read = (open: OpenPdf): WorkerAnswer["result"] => {
  const pages = Array.from({ length: open.count }, (_, index) => open.page(index))
  const pdf = {
    title: open.title,
    pages,
    images: pages.every(({ runs }) => runs.length === 0) && open.images()
  }
  const failedPages = pdf.pages.filter(({ failed }) => failed).map(({ number }) => number)
  if (pdf.pages.length === failedPages.length) {
    return { reason: "Malformed", message: "no page of this PDF can be read. Fetch or export it again." }
  }
  const parsed = toParsed(pdf)
  if (parsed.text !== "") return { parsed, failedPages }
  return pdf.images
    ? {
        reason: "UnsupportedFormat",
        message:
          "this PDF holds scanned pages without text, and scans are not read. Run a text recognition over it, such as OCRmyPDF, and add the result."
      }
    : { reason: "Empty", message: "there is no text in this PDF. Leave it out." }
}

parentPort?.on("message", (bytes: Uint8Array) => {
  void (async () => {
    let result: WorkerAnswer["result"]
    try {
      result = await withPdf(bytes, read)
    } catch (cause) {
      result = { reason: "Internal", message: `reading this PDF failed: ${String(cause)}. Please report it.` }
    }
    const answer: WorkerAnswer = { result, heapBytes: await heapBytes().catch(() => Infinity) }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(answer)
  })()
})
