/** Keeps the pages that were read of a file that is not finished, so that the next ingest continues there. */
import type { RecognizedLine } from "@sluice/core/models"
import { Effect, Exit } from "effect"
import { sha256 } from "../document/Hash.ts"
import type { Reading } from "../formats/parsing/Readings.ts"
import type { Collection } from "../store/PassageIndex.ts"

/** Readings that are written together: a crash loses no more. */
const PORTION = 10

/** With their hash before them, because they are stored by the hash of their picture. */
const encode = (lines: ReadonlyArray<RecognizedLine>) => {
  const json = JSON.stringify(lines)
  return new TextEncoder().encode(sha256(json) + json)
}

/** Undefined if they are damaged. */
const decode = (bytes: Uint8Array): ReadonlyArray<RecognizedLine> | undefined => {
  const text = new TextDecoder().decode(bytes)
  const json = text.slice(64)
  return text.startsWith(sha256(json)) ? JSON.parse(json) : undefined
}

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
        unsaved.set(key, encode(lines))
        return unsaved.size >= PORTION ? save : Effect.void
      })
    return (key: string, read: Reading): Reading =>
      original(key, false).pipe(
        Effect.map((bytes) => bytes && decode(bytes)),
        Effect.orElseSucceed(() => undefined),
        Effect.flatMap((stored) =>
          stored === undefined ? Effect.tap(read, (lines) => add(key, lines)) : Effect.succeed(stored)
        )
      )
  })
