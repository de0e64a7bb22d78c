/** Reads and draws PDFs, in a thread of the pool. */
import type { WorkerContext, WorkerOutput } from "@sluice/core/workers"
import { outlinesOf } from "../figures/FigureTrace.ts"
import { findFigures, traceFigures } from "../figures/Figures.ts"
import type { PdfFigure } from "../figures/PdfFigure.ts"
import { isPicture, isScan, withRecognizedText, withTextInFigures } from "../figures/RecognizedText.ts"
import { withoutHeadersAndFooters } from "../layout/HeadersAndFooters.ts"
import { toParsed } from "../layout/PdfDocument.ts"
import { overlapX, overlapY } from "../page/Box.ts"
import { failedPage, type PdfFault, type RawPage } from "../page/Run.ts"
import { type OpenPdf, PdfiumCrash, withPdf } from "../pdfium/Pdfium.ts"
import { heapBytes } from "../pdfium/PdfiumLibrary.ts"
import type { DrawnTrace, ParseOptions, PdfParsed, PdfResult, PdfStep, PdfTask } from "./PdfTask.ts"

/** Resolution of the crops of figures. */
const CROP_DPI = 200
/** A damaged file may state 10⁹ pages. */
const MAX_PAGES = 50_000
/** Pages that are read together: more drawings are not held in memory, and the style of running text is theirs. */
const WINDOW = 150
/** Pages with fewer runs and drawings than this, and without images, leave hardly anything in PDFium's memory. */
const LIGHT = 20
/** PDFium's memory never shrinks: a thread that holds more is replaced after its file. */
const MAX_HEAP_BYTES = 192 * 1024 * 1024

type Report = (step: PdfStep) => void

/** Reopening a file makes PDFium walk to the page again, which takes longer than reading thousands of light pages. */
const isLight = ({ graphics, runs, unreadable }: RawPage): boolean =>
  unreadable !== true &&
  runs.length + graphics.length < LIGHT &&
  graphics.every(({ kind }) => kind === "path")

/** Reads the pages of a window, which begins after `from` pages. */
const readPages = (open: OpenPdf, from: number, report: Report, skip: ReadonlyArray<number> = []) =>
  Array.from({ length: Math.min(WINDOW, open.count - from) }, (_, i) => {
    const number = from + i + 1
    if (skip.includes(number)) return failedPage(number)
    report({ page: number })
    return open.page(number - 1)
  })

/** Reads a window of pages, and finds their figures. */
const readWindow = (open: OpenPdf, { recognized, skip }: ParseOptions, report: Report, from: number) => {
  const read = readPages(open, from, report, skip)
  report({ page: 0 })
  const pages = withRecognizedText(read, recognized)
  const clean = withoutHeadersAndFooters(pages)
  const figures = findFigures(clean)
  return {
    isLight: read.every(isLight),
    pages: clean.map((page) => withFigureGraphics(page, figures)),
    figures: withTextInFigures(figures, recognized),
    scans: pages.filter(isScan).map(({ number }) => number),
    unreadable: pages.filter((page) => page.unreadable === true).map(({ number }) => number),
    pictures: figures
      .filter((figure) => isPicture(figure, read[figure.page - 1 - from]!))
      .map(({ anchor }) => anchor)
  }
}

/** A page with only what later steps need: the graphics of its figures, and no tags. */
const withFigureGraphics = (page: RawPage, figures: ReadonlyArray<PdfFigure>): RawPage => {
  const { tags: _, ...untagged } = page
  const own = figures.filter((figure) => figure.page === page.number)
  const isInFigure = ({ box }: RawPage["graphics"][number]) =>
    own.some((figure) => overlapX(figure.box, box) >= 0 && overlapY(figure.box, box) >= 0)
  return { ...untagged, graphics: page.graphics.filter(isInFigure) }
}

/** Reads a file without the crops of its figures. `order` is that of `parsed.figures`. */
const readAll = (
  open: OpenPdf,
  options: ParseOptions,
  report: Report
): { readonly result: PdfParsed; readonly order: ReadonlyArray<PdfFigure> } | PdfFault => {
  if (open.count === 0) {
    return { reason: "Empty", message: "this PDF has no pages. Export it again, or leave it out." }
  }
  if (open.count > MAX_PAGES) {
    return {
      reason: "Malformed",
      message: `this PDF states ${open.count} pages; the limit is ${MAX_PAGES}. Split it, or export it again.`
    }
  }
  let reopen = false
  const windows = Array.from({ length: Math.ceil(open.count / WINDOW) }, (_, i) => {
    if (reopen) open.reopen()
    const window = readWindow(open, options, report, i * WINDOW)
    reopen = !window.isLight
    return window
  })
  const pages = windows.flatMap((window) => window.pages)
  if (pages.every(({ failed }) => failed)) {
    return { reason: "Malformed", message: "no page of this PDF can be read. Fetch or export it again." }
  }
  const figures = windows.flatMap((window) => window.figures)
  const { order, parsed } = toParsed({ title: open.title, pages, figures })
  const scans = windows.flatMap((window) => window.scans)
  if (parsed.text === "" && scans.length === 0) {
    return { reason: "Empty", message: "there is no text in this PDF. Leave it out." }
  }
  const anchors = new Set(windows.flatMap((window) => window.pictures))
  const pictures = order.flatMap(({ anchor }, index) => (anchors.has(anchor) ? [index] : []))
  const unreadable = windows.flatMap((window) => window.unreadable)
  return { result: { parsed, scans, unreadable, pictures }, order }
}

/** Parses a file. Crops are drawn last: those of a long file take as much memory as its pages, which are freed by then. */
const parse = (open: OpenPdf, options: ParseOptions, report: Report): PdfResult => {
  const read = readAll(open, options, report)
  if ("reason" in read) return read
  const { order, result } = read
  const figures = result.parsed.figures.map((figure, index) => {
    const { box, page } = order[index]!
    if (index % WINDOW === WINDOW - 1) open.reopen()
    if (options.undrawn.includes(page)) return figure
    report({ page, drawing: true })
    const crop = open.render(page - 1, CROP_DPI, box)
    return crop === undefined ? figure : { ...figure, crop }
  })
  report({ page: 0 })
  return { ...result, parsed: { ...result.parsed, figures } }
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

const traceAll = (open: OpenPdf, dpi: number, report: Report): PdfResult => {
  const traces: Array<DrawnTrace> = []
  for (let from = 0; from < Math.min(open.count, MAX_PAGES); from += WINDOW) {
    for (const trace of traceFigures(withoutHeadersAndFooters(readPages(open, from, report)))) {
      if (trace.captions.length + trace.figures.length === 0) continue
      report({ page: trace.page, drawing: true })
      const png = open.render(trace.page - 1, dpi, undefined, outlinesOf(trace))
      if (png !== undefined) traces.push({ trace, png })
    }
  }
  return { traces }
}

const run = async (task: PdfTask, report: Report): Promise<PdfResult> => {
  try {
    return await withPdf(task.bytes, (open) => {
      if (task.kind === "parse") return parse(open, task, report)
      return task.kind === "trace" ? traceAll(open, task.dpi, report) : render(open, task.page, task.dpi)
    })
  } catch (cause) {
    if (cause instanceof PdfiumCrash) return { stopped: cause.page, why: cause.message }
    return { reason: "Internal", message: `reading this PDF failed: ${String(cause)}. Please report it.` }
  }
}

/** The job of a task. Crops are moved: each has its own buffer. */
export const runPdf = async (
  task: PdfTask,
  { progress }: WorkerContext
): Promise<WorkerOutput<PdfResult>> => {
  let last: PdfStep | undefined
  const result = await run(task, (step) => progress((last = step)))
  const figures = "parsed" in result ? result.parsed.figures : []
  return {
    value: "stopped" in result ? { ...result, drawing: last?.drawing } : result,
    transfer: figures.flatMap(({ crop }) => (crop === undefined ? [] : [crop.buffer as ArrayBuffer])),
    retire: "stopped" in result || (await heapBytes().catch(() => Infinity)) > MAX_HEAP_BYTES
  }
}
