/** What the reading of scans takes from the ingest, and tells it. */
import { type GatewayError, Vision } from "@sluice/core"
import type { RecognizedLine } from "@sluice/core/models"
import { Context, Effect, Option } from "effect"
import { sha256 } from "../../document/Hash.ts"

export type Reading = Effect.Effect<ReadonlyArray<RecognizedLine>, GatewayError>

/** The reading with a key; runs the effect if there is none. An ingest keeps those of files that it has not finished. */
export const StoredReadings = Context.Reference<(key: string, read: Reading) => Reading>(
  "@sluice/rag/StoredReadings",
  { defaultValue: () => (_, read) => read }
)

/** Scanned pages of a file that are read, of `pages`. */
export interface PageProgress {
  readonly path: string
  readonly done: number
  readonly pages: number
}

export const OnPage = Context.Reference<(progress: PageProgress) => Effect.Effect<unknown>>(
  "@sluice/rag/OnPage",
  { defaultValue: () => () => Effect.void }
)

/** Scanned pages that are read of one file: each takes about a second. The library option `scannedPages`. */
export const ScannedPages = Context.Reference<number>("@sluice/rag/ScannedPages", {
  defaultValue: () => 1_000
})

/** Reads the lines of text in an image by the `Vision` of the context; undefined if none reads. */
export const lineReader = Effect.gen(function* () {
  const vision = Option.getOrUndefined(yield* Effect.serviceOption(Vision))
  if (vision?.read === undefined) return undefined
  const { model, read, reader = model.id } = vision
  const stored = yield* StoredReadings
  return (image: Uint8Array): Reading =>
    stored(sha256(["reading", reader, sha256(image)].join("\0")), read(image))
})
