/** PDFs, read in threads of their own so that the program goes on meanwhile. */
import { type Duration, Effect } from "effect"
import { RagError } from "../../RagError.ts"
import type { PdfFault } from "./Run.ts"
import type { PdfTask } from "./PdfTask.ts"
import { inThread } from "./PdfThreads.ts"
import { readScans } from "./Scans.ts"
import type { SeenOnPage } from "./Seen.ts"

/** A file that takes longer (thousands of pages take one minute) holds PDFium in a loop. */
const FILE_TIMEOUT = "5 minutes"
/** One page is drawn within this time, or not at all. */
const PAGE_TIMEOUT = "30 seconds"
/** The finest picture of a page. */
export const MAX_DPI = 600

const fault = (path: string, { message, reason }: PdfFault): RagError =>
  new RagError({ stage: "parse", reason, message: `${path}: ${message}`, document: path })

const ask = (path: string, task: PdfTask, within: Duration.Input) =>
  inThread(path, task, within).pipe(
    Effect.flatMap((result) =>
      "reason" in result ? Effect.fail(fault(path, result)) : Effect.succeed(result)
    )
  )

const read = Effect.fnUntraced(function* (path: string, bytes: Uint8Array, seen: ReadonlyArray<SeenOnPage>) {
  const result = yield* ask(path, { kind: "parse", bytes, seen }, FILE_TIMEOUT)
  if (!("parsed" in result)) return yield* Effect.die(new Error("a thread answered another task"))
  return result
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
  const result = yield* ask(path, { kind: "render", bytes, page, dpi }, PAGE_TIMEOUT)
  if (!("png" in result)) return yield* Effect.die(new Error("a thread answered another task"))
  return result.png
})
