/** Parses a file in a thread of the pool, which asks the program for pictures and for the text in them. */
import { type GatewayError, type RecognizedLine, Vision } from "@sluice/core"
import type { WorkerContext, WorkerOutput } from "@sluice/core/workers"
import { Effect } from "effect"
import {
  type BeyondLimit,
  type ChunkedParse,
  chunkParse,
  type StoresParse
} from "../chunking/ChunkedParse.ts"
import type { Parsed } from "../document/Document.ts"
import type { RagReason } from "../document/RagError.ts"
import { documentFormats } from "./DocumentFormats.ts"
import { parseHere } from "./Parser.ts"

export interface ParseInput {
  /** The identifier of a built-in format. */
  readonly format: string
  readonly path: string
  readonly bytes: Uint8Array
  readonly hasPictures: boolean
  readonly hasVision: boolean
  /** Whether to return the passages instead of the parse. */
  readonly chunks: StoresParse | undefined
}

/** A question to the program: a file beside the document, or the text in an image. */
export type ParseQuestion = { readonly picture: string } | { readonly image: Uint8Array }

/** The answer about an image. */
export type ImageTextAnswer =
  | { readonly lines: ReadonlyArray<RecognizedLine> }
  | { readonly reason: { readonly _tag: string }; readonly message: string }

export type ParseResult =
  | { readonly parsed: Parsed }
  | { readonly chunked: ChunkedParse | BeyondLimit }
  | { readonly reason: RagReason; readonly message: string }

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

export const parseInThread = async (
  { bytes, chunks, format: id, hasPictures, hasVision, path }: ParseInput,
  { ask }: WorkerContext
): Promise<WorkerOutput<ParseResult>> => {
  const format = documentFormats.find((format) => format.id === id)!
  const picture = (reference: string) =>
    Effect.promise(() => ask<Uint8Array | string | undefined>({ picture: reference }))
  const parsing = parseHere(format, { path, bytes, picture: hasPictures ? picture : undefined })
  const result = await Effect.runPromise(
    (hasVision ? Effect.provideService(parsing, Vision, visionBy(ask)) : parsing).pipe(
      Effect.map((parsed) => ({ parsed })),
      Effect.catch(({ message, reason }) => Effect.succeed({ reason, message }))
    )
  )
  if (chunks === undefined || "reason" in result) return { value: result }
  return { value: { chunked: await chunkParse(result.parsed, chunks) } }
}
