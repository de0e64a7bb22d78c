/** PDFs, read in threads of their own so that the program goes on meanwhile. */
import { Effect } from "effect"
import type { RagError } from "../../document/RagError.ts"
import { type DocumentFormat, parseError } from "../parsing/DocumentFormat.ts"
import type { PdfFault } from "./page/Run.ts"
import { inThread, type TimeLimits } from "./worker/PdfThreads.ts"
import { readScans } from "./Scans.ts"
import type { RecognizedText } from "./figures/RecognizedText.ts"

/** One page is read or drawn within this time, or left out. */
const PAGE_MILLISECONDS = 20_000
/** A file is read within one minute, and half a minute for each MiB of it; 10,000 small pages take one minute. */
const FILE_MILLISECONDS = 60_000
const MIB_MILLISECONDS = 30_000
/** A file of which more pages break PDFium is damaged. */
const SKIPPED_AT_MOST = 4
/** The finest picture of a page. */
const MAX_DPI = 600

const fault = (path: string, { message, reason }: PdfFault): RagError => parseError(path, reason, message)

const limitsOf = (bytes: Uint8Array): TimeLimits => ({
  page: PAGE_MILLISECONDS,
  file: FILE_MILLISECONDS + (bytes.length / 1048576) * MIB_MILLISECONDS
})

/** Reads a file, again without the pages that broke it or took too long. */
const read = Effect.fnUntraced(function* (
  path: string,
  bytes: Uint8Array,
  seen: ReadonlyArray<RecognizedText>
) {
  const skipped = new Map<number, string>()
  const undrawn = new Map<number, string>()
  for (;;) {
    const skip = [...skipped.keys()]
    const result = yield* inThread(
      path,
      { kind: "parse", bytes, seen, skip, undrawn: [...undrawn.keys()] },
      limitsOf(bytes)
    )
    if ("reason" in result) return yield* fault(path, result)
    if ("png" in result || "traces" in result)
      return yield* Effect.die(new Error("a thread answered another task"))
    if ("parsed" in result) {
      const faults = result.parsed.faults.map((one) => {
        const why = skipped.get(one.page ?? 0)
        return why === undefined ? one : { ...one, message: `this page is left out: reading it ${why}` }
      })
      const pale = [...undrawn].map(([page, why]) => ({
        page,
        message: `figures of this page have no pictures: drawing it ${why}`
      }))
      return { ...result, parsed: { ...result.parsed, faults: [...faults, ...pale] } }
    }
    const { drawing, stopped } = result
    const why = result.why === "took too long" ? result.why : `failed (${result.why})`
    if (drawing && !undrawn.has(stopped) && undrawn.size < SKIPPED_AT_MOST) {
      undrawn.set(stopped, why)
      continue
    }
    if (stopped < 1 || skipped.has(stopped) || skipped.size >= SKIPPED_AT_MOST) {
      const where = stopped < 1 ? "" : ` at page ${stopped}`
      const message = `reading this PDF failed${where} (${result.why}). Export it again, or split it.`
      return yield* fault(path, { reason: "Malformed", message })
    }
    skipped.set(stopped, why)
  }
})

/**
 * Reads a PDF: text in reading order, pages, lines with their boxes, figures and tables with their crops.
 *
 * Scanned pages, and pictures among the figures, are read by the `Vision` of the context where it offers `read`. Fails
 * with `Encrypted`, `Malformed` (damaged, cut short), `UnsupportedFormat` (scanned, and nothing that reads it) or
 * `Empty`. A page that cannot be read is left out and told in `faults`. Two files are read at a time. Interruption ends
 * the thread.
 */
export const parsePdf = Effect.fn("parsePdf")(function* (path: string, bytes: Uint8Array) {
  const first = yield* read(path, bytes, [])
  return yield* readScans(path, first, {
    draw: (page, dpi) => renderPage(path, bytes, page, { dpi }),
    again: (seen) => read(path, bytes, seen)
  })
})

/**
 * A page of a PDF as PNG, on white paper, as wide and high as `Parsed.pages` says: rotation and crop box are applied.
 *
 * **Details.** `page` counts from 1; `dpi` from 1 to 600, 72 makes a pixel of a point; a picture has 16 million pixels
 * at most, larger pages are drawn smaller. Drawn in a thread of its own within 30 seconds. Fails with `NotFound` for a
 * page that is not there, with `Encrypted` and `Malformed` as `parse` does.
 */
export const renderPage = Effect.fn("renderPage")(function* (
  path: string,
  bytes: Uint8Array,
  page: number,
  options: { readonly dpi: number }
) {
  const dpi = Math.min(MAX_DPI, Math.max(1, options.dpi))
  const result = yield* inThread(path, { kind: "render", bytes, page, dpi }, limitsOf(bytes))
  if ("reason" in result) return yield* fault(path, result)
  if ("png" in result) return result.png
  const why = "why" in result ? result.why : "another task was answered"
  return yield* fault(path, { reason: "Malformed", message: `page ${page} cannot be drawn (${why}).` })
})

/**
 * Draws what the figure finder saw over each page with a caption or a figure, as PNG. `TRACE_COLOURS` is the legend.
 *
 * Fails as `renderPage` does.
 */
export const drawFigureTraces = Effect.fn("drawFigureTraces")(function* (
  path: string,
  bytes: Uint8Array,
  options: { readonly dpi: number }
) {
  const result = yield* inThread(path, { kind: "trace", bytes, dpi: options.dpi }, limitsOf(bytes))
  if ("reason" in result) return yield* fault(path, result)
  if ("traces" in result) return result.traces
  return yield* fault(path, { reason: "Malformed", message: "the figures of this PDF cannot be drawn." })
})

/** Readers accept the header anywhere in the first kilobyte. A text may mention it there; its name tells. */
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
