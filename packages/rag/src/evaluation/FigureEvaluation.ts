/** Measures how well figures and tables are found in PDFs with marked figures. */
import { readFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { Duration, Effect, Schema } from "effect"
import { Box } from "../document/Document.ts"
import { parse } from "../formats/ParsedFile.ts"
import { RagError } from "../document/RagError.ts"
import { type FigureScores, type FoundFigure, type MarkedFigure, scoreFigures } from "./FigureScores.ts"
import { unreadableFile } from "./JsonLines.ts"

/** PDFs that are parsed concurrently: one for each worker. */
const CONCURRENT_FILES = 2

export interface FigureEvaluation extends FigureScores {
  /** Of whole PDFs with figures and crops, two at a time, by warm workers. */
  readonly pagesPerSecond: number
  /** The same, with the start of the workers and compilation. */
  readonly pagesPerSecondCold: number
  /** Peak of this process with its workers. */
  readonly peakMemoryMB: number
}

const Mark = Schema.Struct({
  document: Schema.NonEmptyString,
  page: Schema.Int,
  kind: Schema.Literals(["figure", "table"]),
  number: Schema.optional(Schema.NullOr(Schema.Union([Schema.String, Schema.Finite]))),
  box: Box
})
const Gold = Schema.fromJsonString(Schema.Array(Mark))

/**
 * Parses the PDFs that `<data>/figures/gold.json` names, in the same folder, and compares the figures on the marked pages.
 *
 * Fails with `NotFound` and `Malformed`, also for a PDF that cannot be parsed. Uses no model.
 */
export const evaluateFigures: (options: {
  readonly data: string
}) => Effect.Effect<FigureEvaluation, RagError> = Effect.fn("evaluateFigures")(function* ({ data }) {
  const folder = join(data, "figures")
  const marks = yield* goldOf(join(folder, "gold.json"))
  const names = [...new Set(marks.map(({ document }) => document))]
  const files = yield* Effect.forEach(names, (name) =>
    Effect.map(bytesOf(join(folder, basename(name))), (bytes) => ({ name, bytes }))
  )
  // The largest first, so that no worker ends long after the others.
  const ordered = files.toSorted((a, b) => b.bytes.length - a.bytes.length)
  const [cold, read] = yield* timed(readAll(ordered))
  const [warm] = yield* timed(readAll(ordered))
  const finds = read.flatMap(({ name, parsed }) =>
    parsed.figures.flatMap(({ box, caption, kind, number, page }): ReadonlyArray<FoundFigure> =>
      page === undefined || box === undefined
        ? []
        : [{ document: name, page, kind, number, box, captioned: caption !== undefined }]
    )
  )
  const pages = read.reduce((sum, { parsed }) => sum + parsed.pages.length, 0)
  const { misses, ...scores } = scoreFigures(marks, finds)
  return {
    ...scores,
    pagesPerSecond: pages / warm,
    pagesPerSecondCold: pages / cold,
    // maxRSS is in kilobytes.
    peakMemoryMB: process.resourceUsage().maxRSS / 1024,
    misses
  }
})

interface Pdf {
  readonly name: string
  readonly bytes: Uint8Array
}

const readAll = (files: ReadonlyArray<Pdf>) =>
  Effect.forEach(
    files,
    ({ bytes, name }) => Effect.map(parse({ path: name, bytes }), (parsed) => ({ name, parsed })),
    { concurrency: CONCURRENT_FILES }
  )

/** The duration in seconds, above 0, and the result. */
const timed = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<readonly [seconds: number, value: A], E> =>
  Effect.map(Effect.timed(effect), ([duration, value]) => [
    Math.max(Duration.toSeconds(duration), 0.001),
    value
  ])

const LAYOUT = "The folder figures must have gold.json and the PDFs that it names."

const bytesOf = (path: string): Effect.Effect<Uint8Array, RagError> =>
  Effect.tryPromise({
    try: () => readFile(path),
    catch: (cause) => unreadableFile(path, LAYOUT, cause)
  })

const goldOf = (path: string): Effect.Effect<ReadonlyArray<MarkedFigure>, RagError> =>
  Effect.flatMap(bytesOf(path), (bytes) =>
    Schema.decodeUnknownEffect(Gold)(new TextDecoder().decode(bytes)).pipe(
      Effect.map((marks) =>
        marks.map(({ number, ...mark }): MarkedFigure => ({ ...mark, number: number?.toString() }))
      ),
      Effect.mapError((cause) => {
        const message = `${path} is not a list of { document, page, kind, number, box }: ${cause.message}`
        return new RagError({ stage: "evaluate", reason: "Malformed", message, cause })
      })
    )
  )
