/** Parses and draws PDFs, in threads so that the program stays responsive. */
import { moduleBeside, runInWorker } from "@sluice/core/workers"
import { Effect } from "effect"
import type { RagError } from "../../document/RagError.ts"
import { type DocumentFormat, parseError } from "../parsing/DocumentFormat.ts"
import type { PdfFault } from "./page/Run.ts"
import type { PdfResult, PdfStep, PdfTask } from "./worker/PdfTask.ts"
import { readScans } from "./Scans.ts"
import type { RecognizedText } from "./figures/RecognizedText.ts"

/** Time to read or draw one page; slower pages are left out. */
const PAGE_MILLISECONDS = 20_000
/** Time to read a file, and more for each MiB of it; 10,000 small pages take one minute. */
const FILE_MILLISECONDS = 60_000
const MIB_MILLISECONDS = 30_000
/** A file is damaged if more pages crash PDFium. */
const MAX_SKIPPED = 4
const MAX_DPI = 600

const fault = (path: string, { message, reason }: PdfFault): RagError => parseError(path, reason, message)

const module = moduleBeside(import.meta.url, "./worker/PdfWorker")

/** Runs a task. If its thread ended, the page that it was working on is returned as `stopped`. */
const run = (path: string, task: PdfTask): Effect.Effect<PdfResult> =>
  Effect.suspend(() => {
    const bytes = Uint8Array.from(task.bytes)
    return runInWorker<PdfResult>({
      module,
      job: "runPdf",
      input: { ...task, bytes },
      transfer: [bytes.buffer],
      limit: FILE_MILLISECONDS + (bytes.length / 1048576) * MIB_MILLISECONDS,
      stepLimit: ({ page }: PdfStep) => (page === 0 ? Infinity : PAGE_MILLISECONDS)
    })
  }).pipe(
    Effect.catch(({ message, reason, step }) => {
      const { drawing, page = 0 } = (step ?? {}) as Partial<PdfStep>
      const missing = { reason: "Internal", message: `the thread that reads PDFs ${message}` } as const
      return Effect.succeed(reason === "missing" ? missing : { stopped: page, why: message, drawing })
    }),
    Effect.withSpan("sluice.pdf", { attributes: { path, kind: task.kind } })
  )

/** Reads a file, and again without the pages that crashed or took too long. */
const read = Effect.fnUntraced(function* (
  path: string,
  bytes: Uint8Array,
  recognized: ReadonlyArray<RecognizedText>
) {
  /** Pages that are not read or not drawn, and why. */
  const skipped = new Map<number, string>()
  const undrawn = new Map<number, string>()
  for (;;) {
    const options = { recognized, skip: [...skipped.keys()], undrawn: [...undrawn.keys()] }
    const result = yield* run(path, { kind: "parse", bytes, ...options })
    if ("reason" in result) return yield* fault(path, result)
    if ("png" in result || "traces" in result)
      return yield* Effect.die(new Error("the thread ran another task"))
    if ("parsed" in result) {
      const faults = result.parsed.faults.map((one) => {
        const why = skipped.get(one.page ?? 0)
        return why === undefined ? one : { ...one, message: `this page is left out: reading it ${why}` }
      })
      const withoutCrops = Array.from(undrawn, ([page, why]) => ({
        page,
        message: `figures of this page have no pictures: drawing it ${why}`
      }))
      return { ...result, parsed: { ...result.parsed, faults: [...faults, ...withoutCrops] } }
    }
    const { drawing, stopped } = result
    const why = result.why.startsWith("took ") ? result.why : `failed (${result.why})`
    if (drawing === true && !undrawn.has(stopped) && undrawn.size < MAX_SKIPPED) {
      undrawn.set(stopped, why)
    } else if (stopped >= 1 && !skipped.has(stopped) && skipped.size < MAX_SKIPPED) {
      skipped.set(stopped, why)
    } else {
      const where = stopped < 1 ? "" : ` at page ${stopped}`
      const message = `reading this PDF failed${where} (${result.why}). Export it again, or split it.`
      return yield* fault(path, { reason: "Malformed", message })
    }
  }
})

/**
 * Reads a PDF: text in reading order, pages, lines with their boxes, figures and tables with their crops.
 *
 * Scanned pages and pictures are read by the `Vision` of the context if it has `read`. Fails with `Encrypted`, `Malformed`
 * (damaged, cut short), `UnsupportedFormat` (scanned, and no `Vision` reads it) or `Empty`. A page that cannot be read is left
 * out and reported in `faults`. Two files are read at a time. Interruption terminates the thread.
 */
export const parsePdf = Effect.fn("parsePdf")(function* (path: string, bytes: Uint8Array) {
  const first = yield* read(path, bytes, [])
  return yield* readScans(path, first, {
    draw: (page, dpi) => renderPage(path, bytes, page, { dpi }),
    readAgain: (recognized) => read(path, bytes, recognized)
  })
})

/**
 * Draws a page of a PDF as PNG on white, with the size in `Parsed.pages`: rotation and crop box are applied.
 *
 * **Details.** `page` counts from 1. `dpi` is 1 to 600; at 72 a point is a pixel. Pages of more than 16 million pixels are
 * drawn smaller. Drawing takes at most 20 seconds. Fails with `NotFound` if there is no such page, and with `Encrypted`
 * and `Malformed` as `parse` does.
 */
export const renderPage = Effect.fn("renderPage")(function* (
  path: string,
  bytes: Uint8Array,
  page: number,
  options: { readonly dpi: number }
) {
  const dpi = Math.min(MAX_DPI, Math.max(1, options.dpi))
  const result = yield* run(path, { kind: "render", bytes, page, dpi })
  if ("reason" in result) return yield* fault(path, result)
  if ("png" in result) return result.png
  const why = "why" in result ? result.why : "the thread ran another task"
  return yield* fault(path, { reason: "Malformed", message: `page ${page} cannot be drawn (${why}).` })
})

/**
 * Draws the results of the figure finder over each page with a caption or a figure, as PNG. `TRACE_COLOURS` is the legend.
 *
 * Fails as `renderPage` does.
 */
export const drawFigureTraces = Effect.fn("drawFigureTraces")(function* (
  path: string,
  bytes: Uint8Array,
  options: { readonly dpi: number }
) {
  if (pdfFormat.sniff?.(bytes, true) === undefined)
    return yield* fault(path, { reason: "Malformed", message: "this file is not a PDF." })
  const result = yield* run(path, { kind: "trace", bytes, dpi: options.dpi })
  if ("reason" in result) return yield* fault(path, result)
  if ("traces" in result) return result.traces
  return yield* fault(path, { reason: "Malformed", message: "the figures of this PDF cannot be drawn." })
})

/** PDF readers accept the header anywhere in the first kilobyte. A text may mention it there, so that the file name decides. */
const PDF_HEADER = /^(?:\xEF\xBB\xBF)?\s*%PDF-|[\0-\x08]%PDF-\d/
const NAMED_PDF_HEADER = /%PDF-/

export const pdfFormat: DocumentFormat = {
  id: "pdf",
  label: "PDF",
  extensions: ["pdf"],
  mediaTypes: ["application/pdf"],
  sniff: (bytes, named) => {
    const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024))
    return (named ? NAMED_PDF_HEADER : PDF_HEADER).test(head) ? "a PDF" : undefined
  },
  parse: ({ bytes, path }) => parsePdf(path, bytes),
  storesParsed: true
}
