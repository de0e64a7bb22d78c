/**
 * SQLite's connection without Effect's client, for the transactions that every paid call makes.
 *
 * A transaction of ten statements takes 25 µs here and several times that through the client; the disk is waited for by
 * another thread (docs/decisions/0014).
 */
import { Result } from "effect"
import type { SqlError } from "effect/sql"
import { closeSync, fdatasync, openSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import type { Query } from "./Asking.ts"

type Answering = (query: Query) => ReadonlyArray<object>

export interface DirectSql {
  /**
   * Runs changes as one transaction, and tells what came of it: at once, or when the transaction that is open has ended.
   * When `hear` is called everybody sees them, and the operating system has them: they outlast the process.
   */
  readonly transact: <A>(
    changes: (answer: Answering) => A,
    hear: (result: Result.Result<A, SqlError.SqlError>) => void
  ) => void
  /** Tells when all that was committed before is on disk; at once where nobody asked to wait for that. */
  readonly onDisk: (hear: (error: SqlError.SqlError | undefined) => void) => void
  /** Sets what is to be done before anybody else's statement sees the database. */
  readonly first: (changes: () => void) => void
  /** Does it, unless a transaction is open. */
  readonly beforeOthers: () => void
  readonly close: () => void
}

interface Connection {
  readonly database: DatabaseSync
  /** The file that commits are appended to. */
  readonly log: string
  readonly waitsForDisk: boolean
  readonly answer: Answering
  readonly errorOf: (cause: unknown) => SqlError.SqlError
  /** Calls back when no transaction is open. */
  readonly whenFree: (then: () => void) => void
}

export const makeDirect = ({
  answer,
  database,
  errorOf,
  log,
  waitsForDisk,
  whenFree
}: Connection): DirectSql => {
  let first = () => {}
  let file: number | undefined
  let syncing = false
  let isClosed = false
  let waiting: Array<(error: SqlError.SqlError | undefined) => void> = []

  const close = () => {
    if (file !== undefined) closeSync(file)
    file = undefined
    for (const hear of waiting.splice(0)) hear(undefined)
  }

  const sync = () => {
    syncing = true
    const told = waiting
    waiting = []
    file ??= openSync(log, "r+")
    fdatasync(file, (cause) => {
      syncing = false
      for (const hear of told) hear(cause === null ? undefined : errorOf(cause))
      if (isClosed) close()
      else if (waiting.length > 0) sync()
    })
  }

  const run = <A>(changes: (answer: Answering) => A): Result.Result<A, SqlError.SqlError> => {
    try {
      // The commit itself does not wait for the disk: whoever has to, waits by `onDisk`.
      if (waitsForDisk) database.exec("PRAGMA synchronous = NORMAL")
      database.exec("BEGIN IMMEDIATE")
      const value = changes(answer)
      database.exec("COMMIT")
      return Result.succeed(value)
    } catch (cause) {
      const error = errorOf(cause)
      if (database.isOpen && database.isTransaction) database.exec("ROLLBACK")
      return Result.fail(error)
    } finally {
      if (waitsForDisk && database.isOpen) database.exec("PRAGMA synchronous = FULL")
    }
  }

  return {
    transact: (changes, hear) => {
      if (database.isOpen && database.isTransaction) whenFree(() => hear(run(changes)))
      else hear(run(changes))
    },
    onDisk: (hear) => {
      // Closing writes all of the log into the file.
      if (!waitsForDisk || isClosed) return hear(undefined)
      waiting.push(hear)
      if (!syncing) sync()
    },
    first: (changes) => {
      first = changes
    },
    beforeOthers: () => {
      if (!database.isTransaction) first()
    },
    close: () => {
      isClosed = true
      if (!syncing) close()
    }
  }
}
