/** Parses and chunks files: small ones in this thread, the others in the pool. */
import { Vision } from "@sluice/core"
import { moduleBeside, runInWorker, type WorkerStopped } from "@sluice/core/workers"
import { Effect, Option } from "effect"
import {
  type BeyondLimit,
  type ChunkedParse,
  type ChunkedPassage,
  chunkParse,
  type PassagePortion,
  type StoresParse
} from "../chunking/ChunkedParse.ts"
import { Chunker, withCustomPassages } from "../chunking/CustomChunker.ts"
import type { Parsed } from "../document/Document.ts"
import { RagError } from "../document/RagError.ts"
import { DocumentFormats } from "./DocumentFormats.ts"
import {
  formatNames,
  type ImageTextAnswer,
  type ParseInput,
  type ParseQuestion,
  type ParseResult,
  runsInThread,
  toResult
} from "./ParseJob.ts"
import {
  type DocumentFile,
  type DocumentFormat,
  type InnerFile,
  parseError
} from "./parsing/DocumentFormat.ts"
import { lineReader } from "./parsing/Readings.ts"
import { checkFormat, parseHere } from "./Parser.ts"

/** Bytes or characters that are parsed or chunked in the calling thread: prose takes 4 ms, the worst construct 40. */
const MAX_INLINE = 32_768

/** Seconds to read the files and pictures in a file, and more for each MiB of it: 1,000 small ones may take a minute each. */
const INSIDE_SECONDS = { file: 300, mebibyte: 60 }

const stopped =
  (path: string) =>
  ({ message, reason }: WorkerStopped): RagError =>
    reason === "missing" || reason === "crash"
      ? parseError(path, "Internal", `the thread that reads this file ${message}`)
      : parseError(path, "TooLarge", `reading this file ${message}. Split it into smaller files.`)

const isThreaded = (format: DocumentFormat, bytes: Uint8Array): boolean =>
  runsInThread(format) && (bytes.length > MAX_INLINE || format.inflates === true)

const parseThreaded = Effect.fnUntraced(function* (
  { id }: DocumentFormat,
  { bytes, path, picture }: DocumentFile,
  chunks: StoresParse | undefined,
  passages: Array<ChunkedPassage>
) {
  const read = yield* lineReader
  const recognize = (image: Uint8Array): Effect.Effect<ImageTextAnswer> =>
    read!(image).pipe(
      Effect.match({
        onSuccess: (lines): ImageTextAnswer => ({ lines }),
        onFailure: ({ message, reason }) => ({ reason: { _tag: reason._tag }, message })
      })
    )
  const input: ParseInput = {
    format: id,
    path,
    bytes,
    formats: formatNames(yield* DocumentFormats),
    hasPictures: picture !== undefined,
    hasVision: read !== undefined,
    chunks
  }
  const result = yield* runInWorker<ParseResult>({
    module: moduleBeside(import.meta.url, "./ParseJob"),
    job: "parseInThread",
    input,
    answerLimit: 1000 * Math.ceil(INSIDE_SECONDS.file + (INSIDE_SECONDS.mebibyte * bytes.length) / 1048576),
    answer: (question: ParseQuestion) =>
      "passages" in question
        ? Effect.sync(() => void passages.push(...question.passages))
        : "image" in question
          ? recognize(question.image)
          : "inner" in question
            ? parseInner(question.inner)
            : picture!(question.picture)
  }).pipe(Effect.mapError(stopped(path)))
  return "reason" in result ? yield* new RagError({ stage: "parse", ...result, document: path }) : result
})

/** Parses a file inside a file for a thread, which keeps its turn of the pool meanwhile. */
const parseInner = (file: InnerFile): Effect.Effect<ParseResult> => toResult(parse(file))

/**
 * Parses one file. The file name determines its format, and the first bytes must match.
 *
 * **Details.** Fails with `UnsupportedFormat`, `Malformed` (another format, damaged, undecodable), `Encrypted`, `Empty` or
 * `TooLarge`; each message says what to do. Files above 32 KiB, PDFs and containers such as Word documents are parsed in a thread of the pool,
 * within its limits of time and memory. `path` determines the format, and the title if the document has none. Titles and
 * headings are cut to 300 characters. `picture` reads pictures beside an HTML or Markdown file; without it, and for pictures
 * on the network, figures have only captions. If a `Vision` with `read` is provided, text in pictures is part of the
 * document's text.
 */
export const parse = Effect.fn("parse")(function* (file: DocumentFile) {
  const format = yield* checkFormat(file)
  if (!isThreaded(format, file.bytes)) return yield* parseHere(format, file)
  const result = yield* parseThreaded(format, file, undefined, [])
  return (result as { readonly parsed: Parsed }).parsed
})

/** The result of a job that has sent its passages before. */
const withinLimits = (
  path: string,
  result: ChunkedParse | BeyondLimit,
  passages: ReadonlyArray<ChunkedPassage>
) =>
  "beyond" in result
    ? Effect.fail(parseError(path, "TooLarge", `the file ${result.beyond}`))
    : Effect.succeed({ ...result, passages })

/**
 * When to store a parse. Text formats are parsed again at once; pages need a thread, linked pictures may be deleted, and a
 * vision model may read an image differently next time.
 */
const storesParse = Effect.fnUntraced(function* (format: string) {
  const stored = (yield* DocumentFormats).find(({ id }) => id === format)?.storesParsed
  const vision = yield* Effect.serviceOption(Vision)
  return stored === true ? "always" : Option.isSome(vision) ? "figures" : "crops"
})

/** Cuts a parsed file into passages. */
export const chunkParsed = Effect.fn("parse.chunk")(function* (path: string, whole: Parsed) {
  const parsed = yield* withCustomPassages(path, whole)
  const stores = yield* storesParse(parsed.format)
  if (parsed.text.length <= MAX_INLINE) {
    const result = yield* Effect.promise(() => chunkParse(parsed, stores))
    return yield* withinLimits(path, result, "beyond" in result ? [] : result.passages)
  }
  const passages: Array<ChunkedPassage> = []
  const result = yield* runInWorker<ChunkedParse | BeyondLimit>({
    module: moduleBeside(import.meta.url, "../chunking/ChunkedParse"),
    job: "chunkInThread",
    input: { parsed, stores },
    answer: (portion: PassagePortion) => Effect.sync(() => void passages.push(...portion.passages))
  }).pipe(Effect.mapError(stopped(path)))
  return yield* withinLimits(path, result, passages)
})

/** Parses one file and cuts it into passages. See `parse`. */
export const parseAndChunk = Effect.fnUntraced(function* (file: DocumentFile) {
  const format = yield* checkFormat(file)
  if (!isThreaded(format, file.bytes)) return yield* chunkParsed(file.path, yield* parseHere(format, file))
  if ((yield* Chunker) !== undefined) return yield* chunkParsed(file.path, yield* parse(file))
  const passages: Array<ChunkedPassage> = []
  const result = yield* parseThreaded(format, file, yield* storesParse(format.id), passages)
  const { chunked } = result as { readonly chunked: ChunkedParse | BeyondLimit }
  return yield* withinLimits(file.path, chunked, passages)
})
