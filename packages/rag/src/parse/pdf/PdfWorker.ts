/** A thread in which PDFs are read; nothing imports it. */
import { parentPort } from "node:worker_threads"
import { findFigures } from "../../figures/Figures.ts"
import { withoutFurniture } from "./Furniture.ts"
import { toParsed } from "./PdfDocument.ts"
import { type OpenPdf, withPdf } from "./Pdfium.ts"
import { heapBytes } from "./PdfiumLibrary.ts"
import type { PdfAnswer, PdfResult, PdfTask } from "./PdfTask.ts"

/** Figures are kept as pictures of this many pixels an inch. */
const CROP_DPI = 200

const parse = (open: OpenPdf): PdfResult => {
  const pages = Array.from({ length: open.count }, (_, index) => open.page(index))
  const failedPages = pages.filter(({ failed }) => failed)
  if (pages.length === failedPages.length) {
    return pages.length === 0
      ? { reason: "Empty", message: "this PDF has no pages. Export it again, or leave it out." }
      : { reason: "Malformed", message: "no page of this PDF can be read. Fetch or export it again." }
  }
  const plain = withoutFurniture(pages)
  const figures = findFigures(plain)
  const crops = new Map(
    figures.flatMap((figure) => {
      const crop = open.render(figure.page - 1, CROP_DPI, figure.box)
      return crop === undefined ? [] : [[figure, crop] as const]
    })
  )
  const pdf = { title: open.title, pages, images: false }
  const parsed = toParsed({ pdf, plain, figures, crops })
  if (parsed.text !== "") return { parsed }
  return open.images()
    ? {
        reason: "UnsupportedFormat",
        message:
          "this PDF holds scanned pages without text, and scans are not read. Run a text recognition over it, such as OCRmyPDF, and add the result."
      }
    : { reason: "Empty", message: "there is no text in this PDF. Leave it out." }
}

const render = (open: OpenPdf, page: number, dpi: number): PdfResult => {
  if (!Number.isInteger(page) || page < 1 || page > open.count) {
    return { reason: "NotFound", message: `there is no page ${page}; it has ${open.count}.` }
  }
  const png = open.render(page - 1, dpi)
  return png === undefined
    ? { reason: "Malformed", message: `page ${page} cannot be drawn. Fetch or export the file again.` }
    : { png }
}

const answer = async (task: PdfTask): Promise<PdfResult> => {
  try {
    return await withPdf(task.bytes, (open) =>
      task.kind === "parse" ? parse(open) : render(open, task.page, task.dpi)
    )
  } catch (cause) {
    return { reason: "Internal", message: `reading this PDF failed: ${String(cause)}. Please report it.` }
  }
}

parentPort?.on("message", (task: PdfTask) => {
  void (async () => {
    const result = await answer(task)
    const said: PdfAnswer = { result, heapBytes: await heapBytes().catch(() => Infinity) }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(said)
  })()
})
