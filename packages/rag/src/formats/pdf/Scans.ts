/** Scanned pages and pictures of a PDF, read by image understanding where it is provided. */
import { Vision } from "@sluice/core"
import { Effect, Option } from "effect"
import type { Parsed, ReadFault } from "../../document/Document.ts"
import { RagError } from "../../document/RagError.ts"
import { isWriting } from "../parsing/Writing.ts"
import type { PdfParsed } from "./worker/PdfTask.ts"
import type { RecognizedText } from "./figures/RecognizedText.ts"

/** Pages and pictures of one file that are read at most: each takes about a second. */
const PAGES_AT_MOST = 200
const PICTURES_AT_MOST = 100
/** Pages are shown to image understanding at this many pixels an inch. */
const READ_DPI = 200
/** One picture is drawn while another is read. */
const AT_A_TIME = 2
/** A model that failed so often in a row is asked no more. */
const FAILURES_AT_MOST = 2

/** Width of a PNG in pixels. */
const widthOf = (png: Uint8Array): number => new DataView(png.buffer, png.byteOffset).getUint32(16)

const NO_TEXT =
  "this PDF holds scanned pages without text, or fonts that do not tell which characters they show, and no image understanding is provided that reads them. Provide one, or run a text recognition over it, such as OCRmyPDF, and add the result."

/** How pages of the file are drawn and the file is read again with what was seen. */
export interface PdfSource {
  readonly draw: (page: number, dpi: number) => Effect.Effect<Uint8Array, RagError>
  readonly again: (seen: ReadonlyArray<RecognizedText>) => Effect.Effect<PdfParsed, RagError>
}

const fault = (path: string, reason: "UnsupportedFormat" | "Empty", message: string): RagError =>
  new RagError({ stage: "parse", reason, message: `${path}: ${message}`, document: path })

const withFaults = (parsed: Parsed, faults: ReadonlyArray<ReadFault>): Parsed =>
  faults.length === 0 ? parsed : { ...parsed, faults: [...parsed.faults, ...faults] }

/** The document with what is written on its scanned pages and in its pictures. */
export const readScans = Effect.fn("readScans")(function* (
  path: string,
  first: PdfParsed,
  source: PdfSource
) {
  const { parsed, pictures, scans } = first
  const unreadable = new Set(first.unreadable)
  const whyNot = (page: number): string =>
    unreadable.has(page)
      ? "the fonts of this page do not tell which characters they show,"
      : "this page is a picture,"
  const vision = yield* Effect.serviceOption(Vision)
  const read = Option.getOrUndefined(vision)?.read
  if (read === undefined) {
    if (parsed.text === "" && scans.length > 0) return yield* fault(path, "UnsupportedFormat", NO_TEXT)
    return withFaults(
      parsed,
      scans.map((page) => ({
        page,
        message: `${whyNot(page)} and no image understanding is provided that reads it`
      }))
    )
  }
  const faults: Array<ReadFault> = []
  const seen: Array<RecognizedText> = []
  let failures = 0
  const look = Effect.fnUntraced(function* (
    page: number,
    within: RecognizedText["within"],
    [left, top, width]: readonly [left: number, top: number, width: number],
    picture: Effect.Effect<Uint8Array, RagError>
  ) {
    if (failures >= FAILURES_AT_MOST) {
      if (within === "page")
        faults.push({ page, message: "this page was not read: image understanding failed before" })
      return
    }
    yield* Effect.gen(function* () {
      const png = yield* picture
      const scale = width / widthOf(png)
      const lines = (yield* read(png)).filter(({ text }) => isWriting(text))
      failures = 0
      if (lines.length === 0) return
      seen.push({
        page,
        within,
        lines: lines.map(({ box: [x0, y0, x1, y1], text }) => ({
          text,
          box: [left + x0 * scale, top + y0 * scale, left + x1 * scale, top + y1 * scale]
        }))
      })
    }).pipe(
      Effect.catch((error) =>
        Effect.sync(() => {
          failures++
          const what = within === "page" ? `${whyNot(page)} and it` : "a picture of this page"
          faults.push({ page, message: `${what} could not be read: ${error.message}` })
        })
      )
    )
  })
  const tasks = [
    ...scans.slice(0, PAGES_AT_MOST).map((page) => {
      const width = parsed.pages.find(({ number }) => number === page)?.width ?? 0
      return look(page, "page", [0, 0, width], source.draw(page, READ_DPI))
    }),
    ...pictures.slice(0, PICTURES_AT_MOST).flatMap((index) => {
      const { box, crop, page } = parsed.figures[index]!
      if (box === undefined || crop === undefined || page === undefined) return []
      return [look(page, "figure", [box[0], box[1], box[2] - box[0]], Effect.succeed(crop))]
    })
  ]
  yield* Effect.forEach(tasks, (task) => task, { concurrency: AT_A_TIME, discard: true })
  for (const page of scans.slice(PAGES_AT_MOST)) {
    faults.push({ page, message: `${whyNot(page)} and of one file ${PAGES_AT_MOST} such are read at most` })
  }
  const last = seen.length === 0 ? first : yield* source.again(seen)
  if (last.parsed.text === "") {
    const [why] = faults
    return yield* why === undefined
      ? fault(path, "Empty", "there is no text in this PDF, and none is seen on its pages. Leave it out.")
      : fault(path, "UnsupportedFormat", `its pages are pictures. ${why.message}`)
  }
  return withFaults(last.parsed, faults)
})
