/** Reads scanned pages and pictures of a PDF by image understanding, where it is provided. */
import { Effect } from "effect"
import type { Parsed, ReadFault } from "../../document/Document.ts"
import type { RagError } from "../../document/RagError.ts"
import { parseError } from "../parsing/DocumentFormat.ts"
import { OnPage, ScannedPages } from "../parsing/Readings.ts"
import { textRecognizer } from "../parsing/TextRecognizer.ts"
import type { PdfParsed } from "./worker/PdfTask.ts"
import type { RecognizedText } from "./figures/RecognizedText.ts"

/** Pictures on pages with text that are read of one file: each takes about a second. */
const MAX_PICTURES = 100
/** Resolution of the page images. */
const READ_DPI = 200
/** Pages at the same time: some are drawn while others are read. */
const CONCURRENCY = 6

/** Width of a PNG in pixels. */
const widthOf = (png: Uint8Array): number => new DataView(png.buffer, png.byteOffset).getUint32(16)

const NO_TEXT =
  "this PDF has scanned pages without text, or fonts without a character map, and no image understanding is provided that reads them. Provide one, or run text recognition such as OCRmyPDF on the file, and add the result."

const withFaults = (parsed: Parsed, faults: ReadonlyArray<ReadFault>): Parsed =>
  faults.length === 0 ? parsed : { ...parsed, faults: [...parsed.faults, ...faults] }

/** The document with the text of its scanned pages and pictures. `readAgain` reads the file with recognized text. */
export const readScans = Effect.fn("readScans")(function* (
  path: string,
  first: PdfParsed,
  source: {
    readonly draw: (page: number, dpi: number) => Effect.Effect<Uint8Array, RagError>
    readonly readAgain: (recognized: ReadonlyArray<RecognizedText>) => Effect.Effect<PdfParsed, RagError>
  }
) {
  const { parsed, pictures, scans } = first
  const unreadable = new Set(first.unreadable)
  const reasonOf = (page: number): string =>
    unreadable.has(page) ? "the fonts of this page have no character map," : "this page is a picture,"
  const recognizer = yield* textRecognizer
  if (recognizer === undefined) {
    if (parsed.text === "" && scans.length > 0) return yield* parseError(path, "UnsupportedFormat", NO_TEXT)
    const message = "and no image understanding is provided that reads it"
    return withFaults(
      parsed,
      scans.map((page) => ({ page, message: `${reasonOf(page)} ${message}` }))
    )
  }
  const limit = yield* ScannedPages
  const onPage = yield* OnPage
  const pages = Math.min(scans.length, limit)
  let done = 0
  const progress = Effect.suspend(() => onPage({ path, done: done++, pages }))
  const faults: Array<ReadFault> = []
  const recognized: Array<RecognizedText> = []
  const recognize = Effect.fnUntraced(
    function* (
      page: number,
      within: RecognizedText["within"],
      [left, top, width]: readonly [left: number, top: number, width: number],
      picture: Effect.Effect<Uint8Array, RagError>
    ) {
      if (recognizer.hasGivenUp()) {
        if (within === "page")
          faults.push({ page, message: "this page was not read: image understanding failed before" })
        return
      }
      let scale = 1
      const measured = Effect.tap(picture, (png) => Effect.sync(() => (scale = width / widthOf(png))))
      const lines = yield* recognizer.recognize(measured)
      if (lines.length === 0) return
      recognized.push({
        page,
        within,
        lines: lines.map(({ box: [x0, y0, x1, y1], text }) => ({
          text,
          box: [left + x0 * scale, top + y0 * scale, left + x1 * scale, top + y1 * scale]
        }))
      })
    },
    (effect, page, within) =>
      effect.pipe(
        Effect.catch((error) =>
          Effect.sync(() => {
            const what = within === "page" ? `${reasonOf(page)} and it` : "a picture of this page"
            faults.push({ page, message: `${what} could not be read: ${error.message}` })
          })
        )
      )
  )
  const tasks = [
    ...scans.slice(0, limit).map((page) => {
      const width = parsed.pages.find(({ number }) => number === page)?.width ?? 0
      return Effect.andThen(recognize(page, "page", [0, 0, width], source.draw(page, READ_DPI)), progress)
    }),
    ...pictures.slice(0, MAX_PICTURES).flatMap((index) => {
      const { box, crop, page } = parsed.figures[index]!
      if (box === undefined || crop === undefined || page === undefined) return []
      return [recognize(page, "figure", [box[0], box[1], box[2] - box[0]], Effect.succeed(crop))]
    })
  ]
  if (pages > 0) yield* progress
  yield* Effect.all(tasks, { concurrency: CONCURRENCY, discard: true })
  for (const page of scans.slice(limit)) {
    faults.push({ page, message: `${reasonOf(page)} and only ${limit} such pages of a file are read` })
  }
  const last = recognized.length === 0 ? first : yield* source.readAgain(recognized)
  if (last.parsed.text === "") {
    const [fault] = faults
    return yield* fault === undefined
      ? parseError(path, "Empty", "no text was found in this PDF or on its page images. Leave it out.")
      : parseError(path, "UnsupportedFormat", `its pages are pictures. ${fault.message}`)
  }
  return withFaults(last.parsed, faults)
})
