/** Reads PDFs, in a thread of its own. */
import { parentPort } from "node:worker_threads"
import { outlinesOf } from "../figures/FigureTrace.ts"
import { findFigures, traceFigures } from "../figures/Figures.ts"
import type { PdfFigure } from "../figures/PdfFigure.ts"
import { overlapX, overlapY } from "../page/Box.ts"
import { withoutHeadersAndFooters } from "../layout/HeadersAndFooters.ts"
import { toParsed } from "../layout/PdfDocument.ts"
import { type OpenPdf, PdfiumBroke, withPdf } from "../pdfium/Pdfium.ts"
import { heapBytes } from "../pdfium/PdfiumLibrary.ts"
import {
  isPicture,
  isScan,
  type RecognizedText,
  withTextInFigures,
  withRecognizedText
} from "../figures/RecognizedText.ts"
import type { DrawnTrace, PdfAnswer, PdfParsed, PdfProgress, PdfResult, PdfTask } from "./PdfTask.ts"
import type { PdfFault, RawPage } from "../page/Run.ts"

/** Figures are kept as pictures of this many pixels an inch. */
const CROP_DPI = 200

const say = (message: PdfAnswer | PdfProgress): void => {
  // Crops go over as they are; each has its memory for itself
  const crops =
    "result" in message && "parsed" in message.result
      ? message.result.parsed.figures.flatMap(({ crop }) =>
          crop === undefined ? [] : [crop.buffer as ArrayBuffer]
        )
      : []
  parentPort?.postMessage(message, crops)
}

const unread = (number: number): RawPage => ({
  number,
  width: 0,
  height: 0,
  runs: [],
  graphics: [],
  failed: true
})

/** A damaged file may say that it has a thousand million: they would fill the memory one by one. */
const PAGES_AT_MOST = 50_000

/** Pages are read this many at a time: drawings of more are not held in memory, and the look of text is theirs. */
const WINDOW = 150

/** A page of fewer runs and drawings than this, without images, leaves hardly anything in PDFium's memory. */
const LIGHT = 20

/** Opening a file anew makes PDFium walk to the page again, which takes longer than reading thousands of light ones. */
const isLight = ({ graphics, runs, unreadable }: RawPage): boolean =>
  unreadable !== true &&
  runs.length + graphics.length < LIGHT &&
  graphics.every(({ kind }) => kind === "path")

/** Pages of a window and what is found on them. */
const readWindow = (
  open: OpenPdf,
  seen: ReadonlyArray<RecognizedText>,
  skip: ReadonlyArray<number>,
  from: number
) => {
  const length = Math.min(WINDOW, open.count - from)
  const read = Array.from({ length }, (_, i) => {
    const number = from + i + 1
    if (skip.includes(number)) return unread(number)
    say({ page: number })
    return open.page(number - 1)
  })
  say({ page: 0 })
  const pages = withRecognizedText(read, seen)
  const plain = withoutHeadersAndFooters(pages)
  const figures = findFigures(plain)
  return {
    light: read.every(isLight),
    plain: plain.map((page) => withDrawingsOf(page, figures)),
    figures: withTextInFigures(figures, seen),
    scans: pages.filter(isScan).map(({ number }) => number),
    unreadable: pages.filter((page) => page.unreadable === true).map(({ number }) => number),
    pictures: new Set(
      figures.filter((figure) => isPicture(figure, read[figure.page - 1 - from]!)).map(({ anchor }) => anchor)
    )
  }
}

/** Only the drawings of figures are needed from here on, and no tags. */
const withDrawingsOf = (page: RawPage, figures: ReadonlyArray<PdfFigure>): RawPage => {
  const boxes = figures.filter((figure) => figure.page === page.number).map(({ box }) => box)
  const graphics = page.graphics.filter(({ box }) =>
    boxes.some((own) => overlapX(own, box) >= 0 && overlapY(own, box) >= 0)
  )
  const { tags: _, ...rest } = page
  return { ...rest, graphics }
}

/** What is read of a whole file; its figures come without their crops, and in the order of `parsed.figures`. */
interface Reading {
  readonly result: PdfParsed
  readonly order: ReadonlyArray<PdfFigure>
}

const readAll = (
  open: OpenPdf,
  seen: ReadonlyArray<RecognizedText>,
  skip: ReadonlyArray<number>
): Reading | PdfFault => {
  if (open.count === 0) {
    return { reason: "Empty", message: "this PDF has no pages. Export it again, or leave it out." }
  }
  if (open.count > PAGES_AT_MOST) {
    return {
      reason: "Malformed",
      message: `this PDF says that it has ${open.count} pages; up to ${PAGES_AT_MOST} are read. Split it, or export it again.`
    }
  }
  const starts = Array.from({ length: Math.ceil(open.count / WINDOW) }, (_, i) => i * WINDOW)
  let heavy = false
  const windows = starts.map((from) => {
    if (heavy) open.renew()
    const window = readWindow(open, seen, skip, from)
    heavy = !window.light
    return window
  })
  const pages = windows.flatMap(({ plain }) => plain)
  if (pages.every(({ failed }) => failed)) {
    return { reason: "Malformed", message: "no page of this PDF can be read. Fetch or export it again." }
  }
  const figures = windows.flatMap((window) => window.figures)
  const { order, parsed } = toParsed({ title: open.title, pages, figures })
  const scans = windows.flatMap((window) => window.scans)
  if (parsed.text === "" && scans.length === 0) {
    return { reason: "Empty", message: "there is no text in this PDF. Leave it out." }
  }
  const shown = new Set(windows.flatMap((window) => [...window.pictures]))
  const pictures = order.flatMap(({ anchor }, index) => (shown.has(anchor) ? [index] : []))
  const unreadable = windows.flatMap((window) => window.unreadable)
  return { result: { parsed, scans, unreadable, pictures }, order }
}

/** Figures are drawn last, when what was read of the pages is no longer held: the crops of a long file take as much. */
const parse = (
  open: OpenPdf,
  seen: ReadonlyArray<RecognizedText>,
  skip: ReadonlyArray<number>,
  undrawn: ReadonlyArray<number>
): PdfResult => {
  const reading = readAll(open, seen, skip)
  if ("reason" in reading) return reading
  const { order, result } = reading
  const figures = result.parsed.figures.map((figure, index) => {
    const { box, page } = order[index]!
    if (index % WINDOW === WINDOW - 1) open.renew()
    if (undrawn.includes(page)) return figure
    say({ page, drawing: true })
    const crop = open.render(page - 1, CROP_DPI, box)
    return crop === undefined ? figure : { ...figure, crop }
  })
  say({ page: 0 })
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

const traceAll = (open: OpenPdf, dpi: number): PdfResult => {
  const traces: Array<DrawnTrace> = []
  for (let from = 0; from < Math.min(open.count, PAGES_AT_MOST); from += WINDOW) {
    const pages = Array.from({ length: Math.min(WINDOW, open.count - from) }, (_, i) => {
      say({ page: from + i + 1 })
      return open.page(from + i)
    })
    for (const trace of traceFigures(withoutHeadersAndFooters(pages))) {
      if (trace.captions.length + trace.figures.length === 0) continue
      say({ page: trace.page, drawing: true })
      const png = open.render(trace.page - 1, dpi, undefined, outlinesOf(trace))
      if (png !== undefined) traces.push({ trace, png })
    }
  }
  return { traces }
}

const answer = async (task: PdfTask): Promise<PdfResult> => {
  try {
    return await withPdf(task.bytes, (open) =>
      task.kind === "parse"
        ? parse(open, task.seen, task.skip, task.undrawn)
        : task.kind === "trace"
          ? traceAll(open, task.dpi)
          : render(open, task.page, task.dpi)
    )
  } catch (cause) {
    if (cause instanceof PdfiumBroke) return { stopped: cause.page, why: cause.message, drawing: false }
    return { reason: "Internal", message: `reading this PDF failed: ${String(cause)}. Please report it.` }
  }
}

parentPort?.on("message", (task: PdfTask) => {
  void (async () => {
    const result = await answer(task)
    say({ result, heapBytes: await heapBytes().catch(() => Infinity) })
  })()
})
