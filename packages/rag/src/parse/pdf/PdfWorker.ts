/** The thread in which PDFs are read; nothing imports it. */
import { parentPort } from "node:worker_threads"
import type { Parsed } from "../../Document.ts"
import { toParsed } from "./PdfDocument.ts"
import { heapBytes, readPdfium } from "./Pdfium.ts"
import type { PdfFault } from "./Run.ts"

/** What the thread answers to one file: how it went, and how much memory PDFium holds by now. */
export interface WorkerAnswer {
  readonly result: { readonly parsed: Parsed; readonly failedPages: ReadonlyArray<number> } | PdfFault
  readonly heapBytes: number
}

const read = async (bytes: Uint8Array): Promise<WorkerAnswer["result"]> => {
  const pdf = await readPdfium(bytes)
  if ("reason" in pdf) return pdf
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
      result = await read(bytes)
    } catch (cause) {
      result = { reason: "Internal", message: `reading this PDF failed: ${String(cause)}. Please report it.` }
    }
    const answer: WorkerAnswer = { result, heapBytes: await heapBytes().catch(() => Infinity) }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(answer)
  })()
})
