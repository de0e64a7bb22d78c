/** Adds, replaces and removes documents that a program has as text. */
import { AdmitParsed } from "@sluice/rag/store"
import { Effect, Stream } from "effect"
import type { PushedRecords } from "../contract/Sources.ts"
import { makeCallerDocuments } from "../documents/CallerDocuments.ts"
import { makeStorageOf } from "../jobs/Storage.ts"
import { toReportBody } from "../libraries/IngestBody.ts"
import { limitStorage } from "./StorageLimit.ts"

interface PushRequest {
  readonly payload: PushedRecords
  readonly query: { readonly collection?: string | undefined }
}

export const makePushRecords = Effect.gen(function* () {
  const callerDocuments = yield* makeCallerDocuments
  const storageOf = yield* makeStorageOf
  return function* ({ payload: { records = [], removed = [] }, query }: PushRequest) {
    const library = yield* callerDocuments.writable(query, true)
    const storage = yield* storageOf(library.owner)
    const { admit, fits } = limitStorage(storage.left())
    const report = yield* library
      .upsert(Stream.map(Stream.fromIterable(records), (record) => fits<never>(record)))
      .pipe(Effect.provideService(AdmitParsed, admit))
    const gone =
      removed.length === 0 ? [] : yield* library.removeWhere({ _tag: "In", field: "path", values: removed })
    return toReportBody({ ...report, removed: gone.length })
  }
})
