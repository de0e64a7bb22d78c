/** What a user's storage has left: of documents, of stored responses, and of uploads that run or wait. */
import { RagError } from "@sluice/rag"
import { Effect } from "effect"
import { Ledger } from "../billing/Ledger.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import type { FailedFile } from "../contract/Documents.ts"
import { makeStoredToday } from "../libraries/StoredToday.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { Jobs } from "./Jobs.ts"

export const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`

/** What may be stored within a day, in limits: removed documents no longer count, and are on the disk for a day. */
const LIMITS_A_DAY = 3

/** A user's storage, in bytes: documents, and responses kept for an `Idempotency-Key`. */
export interface Storage {
  readonly limit: number
  /**
   * What is used now. Files that running uploads have received count: those that were committed since another upload
   * began count twice.
   */
  readonly used: () => number
  /** What still fits. */
  readonly left: () => number
  /** Counts a received file, if it fits. */
  readonly take: (bytes: number) => boolean
  /** Counts what a parsed document takes beyond its file, or fails. For `AdmitParsed`. */
  readonly admit: (path: string, bytes: number) => Effect.Effect<void, RagError>
  /** At the end of the upload: its files are stored, or have failed. */
  readonly release: Effect.Effect<void>
}

export const makeStorageOf = Effect.gen(function* () {
  const libraries = yield* UserLibraries
  const ledger = yield* Ledger
  const jobs = yield* Jobs
  const storedToday = yield* makeStoredToday
  const { storageBytes: limit } = (yield* ServerConfig).billing
  return Effect.fnUntraced(function* (user: string) {
    const { storedBytes, uploads } = yield* libraries.of(user)
    // Before what is stored, so that an upload that ends meanwhile is not missed.
    const before = uploads.running - uploads.received
    const stored =
      (yield* storedBytes) +
      (yield* catchSqlError(ledger.storedBytes(user))) +
      (yield* jobs.waitingBytes(user))
    let taken = 0
    const used = () => stored + before + uploads.received
    const most = Math.min(limit, LIMITS_A_DAY * limit - (yield* catchSqlError(storedToday.of(user))) + stored)
    const left = () => most - used()
    const take = (bytes: number) => {
      if (bytes > Math.max(0, left())) return false
      taken += bytes
      uploads.running += bytes
      uploads.received += bytes
      return true
    }
    const storage: Storage = {
      limit,
      used,
      left,
      take,
      admit: (path, bytes) => (take(bytes) ? Effect.void : doesNotFit(path, storage)),
      release: Effect.sync(() => void (uploads.running -= taken))
    }
    return storage
  })
})

export const storageFull = (
  path: string,
  { left, limit, used }: Pick<Storage, "left" | "limit" | "used">
): FailedFile => {
  const isDaily = left() < limit - used()
  const why = isDaily ? `, and removed ones are kept for a day. Wait` : ". Remove documents"
  const message = `${path} does not fit: ${mebibytes(used())} of your ${mebibytes(limit)} are used${why}, or ask an administrator to raise SLUICE_STORAGE_MB`
  return { path, reason: "storage_full", message }
}

const doesNotFit = (path: string, storage: Storage) =>
  new RagError({ stage: "ingest", reason: "TooLarge", message: storageFull(path, storage).message })
