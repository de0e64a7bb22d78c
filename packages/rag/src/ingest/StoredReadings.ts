/** Keeps the pages that were read of a file that is not finished, so that the next ingest continues there. */
import type { RecognizedLine } from "@sluice/core/models"
import { Effect, Exit, Result, Schema } from "effect"
import type { Reading } from "../formats/parsing/Readings.ts"
import type { Collection } from "../store/PassageIndex.ts"

/** Readings that are written together: a crash loses no more. */
const PORTION = 10

const Lines = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      text: Schema.String,
      box: Schema.Tuple([Schema.Finite, Schema.Finite, Schema.Finite, Schema.Finite])
    })
  )
)
const decode = Schema.decodeResult(Lines)

/** Until the scope ends. What is not written then is written if the ingest was interrupted or failed. */
export const makeStoredReadings = ({ keep, original }: Pick<Collection, "keep" | "original">) =>
  Effect.gen(function* () {
    let unsaved = new Map<string, Uint8Array>()
    const save = Effect.suspend(() => {
      const files = unsaved
      unsaved = new Map()
      return keep(files)
    }).pipe(
      Effect.catch(({ message }) => Effect.logWarning(`Pages that were read were not kept. ${message}`))
    )
    yield* Effect.addFinalizer((exit) => (Exit.isSuccess(exit) ? Effect.void : save))
    const add = (key: string, lines: ReadonlyArray<RecognizedLine>) =>
      Effect.suspend(() => {
        unsaved.set(key, new TextEncoder().encode(JSON.stringify(lines)))
        return unsaved.size >= PORTION ? save : Effect.void
      })
    return (key: string, read: Reading): Reading =>
      original(key, false).pipe(
        Effect.map((bytes) => (bytes === undefined ? undefined : decode(new TextDecoder().decode(bytes)))),
        Effect.orElseSucceed(() => undefined),
        Effect.flatMap((stored) =>
          stored !== undefined && Result.isSuccess(stored)
            ? Effect.succeed(stored.success)
            : Effect.tap(read, (lines) => add(key, lines))
        )
      )
  })
