/** Parses a file in a thread of the pool, which asks the program for pictures and for the text in them. */
import { type GatewayError, Vision } from "@sluice/core"
import type { RecognizedLine } from "@sluice/core/models"
import type { WorkerContext, WorkerOutput } from "@sluice/core/workers"
import { Effect } from "effect"
import {
  type BeyondLimit,
  type ChunkedParse,
  chunkInPortions,
  type PassagePortion,
  type StoresParse
} from "../chunking/ChunkedParse.ts"
import type { Parsed } from "../document/Document.ts"
import { RagError, type RagReason } from "../document/RagError.ts"
import { documentFormats, formatNamed, type FormatNames } from "./DocumentFormats.ts"
import { type DocumentFormat, type InnerFile, parseError } from "./parsing/DocumentFormat.ts"
import { checkFormat, parseHere } from "./Parser.ts"
import { recordFormat } from "./record/Record.ts"

export interface ParseInput {
  /** The identifier of a built-in format. */
  readonly format: string
  readonly path: string
  readonly bytes: Uint8Array
  /** The program's formats in their order: those that the thread parses by their identifiers, the others by "". */
  readonly formats: ReadonlyArray<FormatNames>
  readonly hasPictures: boolean
  readonly hasVision: boolean
  /** Whether to return the passages instead of the parse. */
  readonly chunks: StoresParse | undefined
}

/**
 * A question to the program: a file beside the document, the text in an image, or the parse of a file inside it; or passages,
 * which it keeps.
 */
export type ParseQuestion =
  | PassagePortion
  | { readonly picture: string }
  | { readonly image: Uint8Array }
  | { readonly inner: InnerFile }

/** Built-in formats except PDFs and images, which have threads of their own. */
const threadFormats: ReadonlyArray<DocumentFormat> = [
  ...documentFormats.filter(({ id }) => id !== "pdf" && id !== "image"),
  recordFormat
]

/** Whether a thread of the pool parses the files of this format: it has only the parsers of the built-in formats. */
export const runsInThread = ({ id, parse }: DocumentFormat): boolean =>
  threadFormats.some((format) => format.id === id && format.parse === parse)

/** The formats of a program for the thread. */
export const formatNames = (formats: ReadonlyArray<DocumentFormat>): ReadonlyArray<FormatNames> =>
  formats.map((format) => ({
    id: runsInThread(format) ? format.id : "",
    extensions: format.extensions,
    ...(format.fileNames !== undefined && { fileNames: format.fileNames })
  }))

/** The answer about an image. */
export type ImageTextAnswer =
  | { readonly lines: ReadonlyArray<RecognizedLine> }
  | { readonly reason: { readonly _tag: string }; readonly message: string }

export type ParseResult =
  | { readonly parsed: Parsed }
  | { readonly chunked: ChunkedParse | BeyondLimit }
  | ParseFailure

interface ParseFailure {
  readonly reason: RagReason
  readonly message: string
}

/** The result of a parse, as it is sent between threads. */
export const toResult = Effect.match({
  onSuccess: (parsed: Parsed) => ({ parsed }),
  onFailure: ({ message, reason }: RagError): ParseFailure => ({ reason, message })
})

const visionBy = (ask: (question: ParseQuestion) => Promise<ImageTextAnswer>): Vision["Service"] =>
  Vision.of({
    model: { id: "", kind: "extractive", maxImages: 1, maxImageBytes: 0, formats: [] },
    look: () => Effect.die("only texts are read here"),
    read: (image) =>
      Effect.flatMap(
        Effect.promise(() => ask({ image })),
        (answer): Effect.Effect<ReadonlyArray<RecognizedLine>, GatewayError> =>
          // Only the message of the error, and the tag of its reason, are read.
          "lines" in answer ? Effect.succeed(answer.lines) : Effect.fail(answer as GatewayError)
      )
  })

/** Files in files in files: deeper ones are left out. */
const MAX_DEPTH = 3

/** Parses a file inside a file: here, or by the program if it is a PDF, an image, or of a format that only the program has. */
const innerParser =
  (ask: WorkerContext["ask"], formats: ParseInput["formats"], depth: number) =>
  (file: InnerFile): Effect.Effect<Parsed, RagError> => {
    const { path } = file
    if (depth >= MAX_DEPTH) {
      return Effect.fail(parseError(path, "TooLarge", `it is more than ${MAX_DEPTH} files deep.`))
    }
    const id = formatNamed(path, formats)?.id ?? ""
    if (id !== "") {
      const inner = { ...file, format: id, parseInner: innerParser(ask, formats, depth + 1) }
      return Effect.flatMap(checkFormat(inner), (format) =>
        parseHere({ ...format, parse: format.parseWithoutMarkup ?? format.parse }, inner)
      )
    }
    return Effect.flatMap(
      Effect.promise(() => ask<ParseResult>({ inner: { path, bytes: file.bytes } })),
      (result) =>
        "parsed" in result
          ? Effect.succeed(result.parsed)
          : Effect.fail(new RagError({ stage: "parse", document: path, ...(result as ParseFailure) }))
    )
  }

export const parseInThread = async (
  { bytes, chunks, format: id, formats, hasPictures, hasVision, path }: ParseInput,
  { ask }: WorkerContext
): Promise<WorkerOutput<ParseResult>> => {
  const format = threadFormats.find((format) => format.id === id)!
  const picture = (reference: string) =>
    Effect.promise(() => ask<Uint8Array | string | undefined>({ picture: reference }))
  const parsing = parseHere(format, {
    path,
    bytes,
    picture: hasPictures ? picture : undefined,
    parseInner: innerParser(ask, formats, 1)
  })
  const result = await Effect.runPromise(
    toResult(hasVision ? Effect.provideService(parsing, Vision, visionBy(ask)) : parsing)
  )
  if (chunks === undefined || "reason" in result) return { value: result }
  return { value: { chunked: await chunkInPortions(result.parsed, chunks, ask) } }
}
