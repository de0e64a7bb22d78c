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
import type { Query } from "./SqlStep.ts"
import type { Notes } from "./Notes.ts"

type Answering = (query: Query) => ReadonlyArray<object>

/** Changes that are decided and not made yet: made before everything else, so that everybody sees them. */
export interface Held {
  readonly isEmpty: () => boolean
  /** Makes them; they are held no more, even where that fails. */
  readonly write: (answer: Answering) => void
  /** What was changed last may be undone. */
  readonly forget: () => void
}

export interface DirectSql {
  /**
   * Makes changes, all of them or none, and tells what came of it: at once, or when the transaction that is open has
   * ended. When `hear` is called everybody sees them. They are committed with those that come after them, by `commit`.
   */
  readonly change: <A>(
    changes: (answer: Answering) => A,
    hear: (result: Result.Result<A, SqlError.SqlError>) => void
  ) => void
  /** Commits what was changed: it outlasts the process, and `synced` tells when the disk has it. Or gives why not. */
  readonly commit: () => SqlError.SqlError | undefined
  /** Tells when what is committed is on disk; at once where nobody asked to wait for that. */
  readonly synced: (hear: (error: SqlError.SqlError | undefined) => void) => void
  /**
   * Writes down what was changed, so that it outlasts the process without a commit; whether it could be written. Where
   * the commit that comes fails, `restore` makes the change again, before the next.
   */
  readonly note: (lines: ReadonlyArray<string>) => boolean
  /** Writes down what is held, before it is made; false where it is to be made at once instead. */
  readonly noteHeld: (line: string) => boolean
  readonly holdBy: (held: Held) => void
  /** Whether changes may be held: no transaction of others is open, and all that was to be written was. */
  readonly isReady: () => boolean
  readonly restoreBy: (restore: (lines: ReadonlyArray<string>, answer: Answering) => void) => void
  /** Before a statement of others: commits, unless their transaction is open; and their own commits wait for the disk. */
  readonly beforeOthers: () => void
  /** Another number after every statement of others, which may have changed anything. */
  readonly version: () => number
  /** Whether a transaction of others is open. */
  readonly isOthers: () => boolean
  readonly close: () => void
}

interface Connection {
  readonly database: DatabaseSync
  /** The file that commits are appended to. */
  readonly log: string
  readonly waitsForDisk: boolean
  readonly notes: Notes
  readonly answer: Answering
  readonly errorOf: (cause: unknown) => SqlError.SqlError
  /** Calls back when no transaction is open. */
  readonly whenFree: (then: () => void) => void
}

const BEGIN: Query = { text: "BEGIN IMMEDIATE", values: [] }
const COMMIT: Query = { text: "COMMIT", values: [] }
const SAVEPOINT: Query = { text: "SAVEPOINT changes", values: [] }
const RELEASE: Query = { text: "RELEASE changes", values: [] }

export const makeDirect = ({
  answer,
  database,
  errorOf,
  log,
  notes,
  waitsForDisk,
  whenFree
}: Connection): DirectSql => {
  let version = 0
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
    const told = waiting
    waiting = []
    try {
      file ??= openSync(log, "r+")
    } catch (cause) {
      const error = errorOf(cause)
      for (const hear of told) hear(error)
      return
    }
    syncing = true
    fdatasync(file, (cause) => {
      syncing = false
      for (const hear of told) hear(cause === null ? undefined : errorOf(cause))
      if (isClosed) close()
      else if (waiting.length > 0) sync()
    })
  }

  let isWaiting = waitsForDisk
  /** A commit on this way does not wait for the disk: whoever has to, waits by `synced`. Those of others do. */
  const setWaiting = (waits: boolean) => {
    if (isWaiting === waits) return
    database.exec(`PRAGMA synchronous = ${waits ? "FULL" : "NORMAL"}`)
    isWaiting = waits
  }

  /** Whether the transaction that is open is of this way. */
  let isOurs = false
  /** What a commit failed with: until one succeeds, each change is committed before anybody hears of it. */
  let failed: SqlError.SqlError | undefined
  /** What is noted of the transaction that is open, or of one that could not be committed. */
  let noted: Array<string> = []
  let isLost = false
  let restore: (lines: ReadonlyArray<string>, answer: Answering) => void = () => {}
  let held: Held = { isEmpty: () => true, write: () => {}, forget: () => {} }
  const ended = () => {
    isLost = failed !== undefined && noted.length > 0
    if (failed === undefined && noted.length > 0) {
      noted = []
      notes.clear()
    }
  }

  const rollBack = () => {
    if (database.isOpen && database.isTransaction) database.exec("ROLLBACK")
  }

  /** Opens a transaction unless one is open, and makes in it what has to be made before anything else. */
  const begin = () => {
    if (!isOurs) {
      setWaiting(false)
      answer(BEGIN)
      isOurs = true
      if (isLost) restore(noted, answer)
    }
    if (!held.isEmpty()) held.write(answer)
  }

  const commit = () => {
    if (!isOurs && held.isEmpty()) return undefined
    try {
      begin()
      answer(COMMIT)
      failed = undefined
    } catch (cause) {
      failed = errorOf(cause)
      held.forget()
      rollBack()
    }
    isOurs = false
    ended()
    return failed
  }

  const run = <A>(changes: (answer: Answering) => A): Result.Result<A, SqlError.SqlError> => {
    try {
      begin()
      answer(SAVEPOINT)
      const value = changes(answer)
      answer(RELEASE)
      if (failed !== undefined) {
        const error = commit()
        if (error !== undefined) return Result.fail(error)
      }
      return Result.succeed(value)
    } catch (cause) {
      const error = errorOf(cause)
      held.forget()
      try {
        if (isOurs) database.exec("ROLLBACK TO changes; RELEASE changes")
      } catch {
        // A fault of the disk has ended the whole transaction.
        failed = error
        isOurs = false
        rollBack()
        ended()
      }
      return Result.fail(error)
    }
  }

  const isReady = () =>
    failed === undefined && !isLost && database.isOpen && (isOurs || !database.isTransaction)

  return {
    isReady,
    holdBy: (how) => void (held = how),
    noteHeld: (line) => {
      if (!isReady() || !notes.write([line])) return false
      noted.push(line)
      return true
    },
    change: (changes, hear) => {
      if (database.isOpen && database.isTransaction && !isOurs) {
        // Whoever would have committed it may have come and gone meanwhile.
        whenFree(() => {
          hear(run(changes))
          commit()
        })
      } else hear(run(changes))
    },
    commit,
    note: (lines) => {
      if (!isOurs) return true
      if (!notes.write(lines)) return false
      noted.push(...lines)
      return true
    },
    restoreBy: (how) => void (restore = how),
    synced: (hear) => {
      // Closing writes all of the log into the file.
      if (!waitsForDisk || isClosed) return hear(undefined)
      waiting.push(hear)
      if (!syncing) sync()
    },
    version: () => version,
    isOthers: () => database.isTransaction && !isOurs,
    beforeOthers: () => {
      version++
      if (database.isTransaction && !isOurs) return
      commit()
      setWaiting(waitsForDisk)
    },
    close: () => {
      commit()
      notes.close()
      isClosed = true
      if (!syncing) close()
    }
  }
}
