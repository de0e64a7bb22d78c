/** A thread in which PDFs are read; nothing imports it. */
import { parentPort } from "node:worker_threads"
import { findFigures } from "../../figures/Figures.ts"
import { withoutFurniture } from "./Furniture.ts"
import { toParsed } from "./PdfDocument.ts"
import { type OpenPdf, PdfiumBroke, withPdf } from "./Pdfium.ts"
import { heapBytes } from "./PdfiumLibrary.ts"
import { isPicture, isScan, type SeenOnPage, withSeenFigures, withSeenPages } from "./Seen.ts"
import type { PdfAnswer, PdfProgress, PdfResult, PdfTask } from "./PdfTask.ts"
import type { RawPage } from "./Run.ts"

/** Figures are kept as pictures of this many pixels an inch. */
const CROP_DPI = 200

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const say = (message: PdfAnswer | PdfProgress): void => parentPort?.postMessage(message)

const unread = (number: number): RawPage => ({
  number,
  width: 0,
  height: 0,
  runs: [],
  graphics: [],
  failed: true
})

const parse = (open: OpenPdf, seen: ReadonlyArray<SeenOnPage>, skip: ReadonlyArray<number>): PdfResult => {
  const read = Array.from({ length: open.count }, (_, index) => {
    if (skip.includes(index + 1)) return unread(index + 1)
    say({ page: index + 1 })
    return open.page(index)
  })
  if (read.every(({ failed }) => failed)) {
    return read.length === 0
      ? { reason: "Empty", message: "this PDF has no pages. Export it again, or leave it out." }
      : { reason: "Malformed", message: "no page of this PDF can be read. Fetch or export it again." }
  }
  say({ page: 0 })
  const pages = withSeenPages(read, seen)
  const plain = withoutFurniture(pages)
  const found = findFigures(plain)
  const figures = withSeenFigures(found, seen)
  const crops = new Map(
    figures.flatMap((figure) => {
      say({ page: figure.page })
      const crop = open.render(figure.page - 1, CROP_DPI, figure.box)
      return crop === undefined ? [] : [[figure, crop] as const]
    })
  )
  say({ page: 0 })
  const { order, parsed } = toParsed({ title: open.title, pages, plain, figures, crops })
  const scans = pages.filter(isScan).map(({ number }) => number)
  if (parsed.text === "" && scans.length === 0) {
    return { reason: "Empty", message: "there is no text in this PDF. Leave it out." }
  }
  const pictures = order.flatMap((figure, index) =>
    isPicture(figure, read[figure.page - 1]!) ? [index] : []
  )
  return { parsed, scans, pictures }
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
      task.kind === "parse" ? parse(open, task.seen, task.skip) : render(open, task.page, task.dpi)
    )
  } catch (cause) {
    if (cause instanceof PdfiumBroke) return { stopped: cause.page, why: cause.message }
    return { reason: "Internal", message: `reading this PDF failed: ${String(cause)}. Please report it.` }
  }
}

parentPort?.on("message", (task: PdfTask) => {
  void (async () => {
    const result = await answer(task)
    say({ result, heapBytes: await heapBytes().catch(() => Infinity) })
  })()
})
