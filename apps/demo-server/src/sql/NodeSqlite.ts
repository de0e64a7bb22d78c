/** Effect's SqlClient over the SQLite that comes with Node: one connection, one file, one server. */
import { Context, Effect, Layer, Predicate, Scope, Semaphore, Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { closeSync, fdatasync, openSync } from "node:fs"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { GroupCommit, type GroupDriver, makeGroupCommit } from "./GroupCommit.ts"
import { type Rows, runSync, type SqlQuery } from "./SqlStep.ts"

/** Prepared statements that are kept. A program has few: values are parameters. */
const PREPARED = 500

/** Pages of the write-ahead log (100 MB) that a checkpoint copies into the file: about 14 ms, during which nothing else runs. */
const CHECKPOINT_PAGES = 25_000

/** SQLite's result code of an error. */
const resultCode = (cause: unknown): number | undefined =>
  cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number"
    ? cause.errcode
    : undefined

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE: ReadonlySet<number> = new Set([11, 26])

/** SQLITE_FULL. */
const FULL: ReadonlySet<number> = new Set([13])

const hasCode =
  (codes: ReadonlySet<number>) =>
  ({ reason: { cause } }: SqlError.SqlError): boolean =>
    Predicate.hasProperty(cause, "code") && codes.has(Number(cause.code) & 0xff)

/** Whether an error says that the file is damaged. */
export const isDamage = hasCode(DAMAGE)

/** Whether an error says that the disk is full. */
export const isDiskFull = hasCode(FULL)

const sqlError = (cause: unknown, operation: string) =>
  new SqlError.SqlError({
    reason: SqlError.classifySqliteError(
      { code: resultCode(cause), message: cause instanceof Error ? cause.message : "", cause },
      { message: `SQLite failed to ${operation}`, operation }
    )
  })

const attempt = <A>(operation: string, run: () => A) =>
  Effect.try({ try: run, catch: (cause) => sqlError(cause, operation) })

/** Errors by the database whose file is damaged. */
const damaged = new WeakMap<DatabaseSync, unknown>()

/** Uses a database. Once its file is found damaged, every use fails: it must be restored. */
const attemptOn = <A>(database: DatabaseSync, operation: string, run: () => A) =>
  Effect.suspend(() => {
    const damage = damaged.get(database)
    return damage === undefined ? attempt(operation, run) : Effect.fail(sqlError(damage, operation))
  }).pipe(
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (isDamage(error)) damaged.set(database, Reflect.get(error.reason.cause as object, "cause"))
      })
    )
  )

/** SQLite refuses values that it cannot store with a typed error. */
const runStatement = (statement: StatementSync, values: ReadonlyArray<unknown>): Rows =>
  statement.all(...(values as ReadonlyArray<SQLInputValue>)) as Rows

const preparing = (database: DatabaseSync) => {
  const prepared = new Map<string, StatementSync>()
  return (text: string): StatementSync => {
    const found = prepared.get(text)
    if (found !== undefined) return found
    if (prepared.size >= PREPARED) prepared.clear()
    const statement = database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
}

type Flushed = Effect.Effect<void, SqlError.SqlError>

/** Flushes the log to disk, on a thread of its own. One flush serves all callers that wait when it starts. */
const makeFlush = (log: string) => {
  let file: number | undefined
  const waiting: Array<(flushed: Flushed) => void> = []
  let running = false
  const start = () => {
    const served = waiting.splice(0)
    const finish = (cause: unknown) => {
      running = false
      const flushed = cause === null ? Effect.void : Effect.fail(sqlError(cause, "flush"))
      for (const resume of served) resume(flushed)
      if (waiting.length > 0) start()
    }
    running = true
    try {
      fdatasync((file ??= openSync(log, "r+")), finish)
    } catch (cause) {
      finish(cause)
    }
  }
  const flush = Effect.uninterruptible(
    Effect.callback<void, SqlError.SqlError>((resume) => {
      waiting.push(resume)
      if (!running) start()
    })
  )
  const close = Effect.map(
    Effect.suspend(() => (running ? Effect.ignore(flush) : Effect.void)),
    () => {
      if (file !== undefined) closeSync(file)
    }
  )
  return { flush, close }
}

/** Statements that change something, each of which outside a transaction is a commit of its own. */
const CHANGES = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP|WITH)\b/i

type Transform = (<A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

const connectionTo = (
  database: DatabaseSync,
  prepare: (text: string) => StatementSync,
  flush: Effect.Effect<void, SqlError.SqlError>
): SqlConnection.Connection => {
  const rowsBy =
    (statement: (text: string) => StatementSync) =>
    (text: string, values: ReadonlyArray<unknown>, transform?: Transform) =>
      Effect.flatMap(
        attemptOn(database, "execute", () => runStatement(statement(text), values)),
        (found) => {
          const rows = transform?.(found) ?? found
          const isCommit = !database.isTransaction && CHANGES.test(text)
          return isCommit ? Effect.as(flush, rows) : Effect.succeed(rows)
        }
      )
  const rows = rowsBy(prepare)
  const arrays = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.map(rows(text, values), (rows) => rows.map((row) => Object.values(row)))
  return {
    execute: rows,
    executeRaw: (text, values) => rows(text, values),
    executeValues: arrays,
    executeValuesUnprepared: arrays,
    executeUnprepared: rowsBy((text) => database.prepare(text)),
    executeStream: (text, values, transform) =>
      Stream.unwrap(Effect.map(rows(text, values, transform), Stream.fromIterable))
  }
}

/** What a commit waits for: `full`, until it is on disk; `normal`, until the operating system has it. */
export type Synchronous = "full" | "normal"

const open = (file: string) =>
  attempt("open", () => {
    // A lock of another server is not waited for.
    const database = new DatabaseSync(file, { timeout: 0 })
    try {
      database.exec("PRAGMA locking_mode = EXCLUSIVE")
      database.exec("PRAGMA journal_mode = WAL")
      // Who has to wait for the disk does so by `flush`, without stopping the thread.
      database.exec("PRAGMA synchronous = NORMAL")
      database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
      database.exec("PRAGMA foreign_keys = ON")
      // Otherwise a large savepoint is written to a file page by page.
      database.exec("PRAGMA temp_store = MEMORY")
      // Writing takes the lock.
      database.exec("BEGIN IMMEDIATE; COMMIT")
      return database
    } catch (cause) {
      database.close()
      throw cause
    }
  })

/** SQLITE_BUSY. */
const LOCKED = 5

/** Whether a server has the file open. False if the file is missing or cannot be read for another reason. */
export const isLocked = (file: string): Effect.Effect<boolean> =>
  Effect.sync(() => {
    try {
      const database = new DatabaseSync(file, { timeout: 0, readOnly: true })
      try {
        database.exec("SELECT 1 FROM sqlite_schema")
        return false
      } finally {
        database.close()
      }
    } catch (cause) {
      return ((resultCode(cause) ?? 0) & 0xff) === LOCKED
    }
  })

const BEGIN = "BEGIN IMMEDIATE"

/** Runs groups on the connection, between the transactions of the client. */
const groupDriver = (
  database: DatabaseSync,
  execute: (query: SqlQuery) => Rows,
  exclusively: <A, E>(run: Effect.Effect<A, E>) => Effect.Effect<A, E>,
  flush: GroupDriver["flush"]
): GroupDriver => ({
  flush,
  isRemote: false,
  // The connection is shared: a transaction of another fiber may be open on it.
  read: (step) => {
    const run = attemptOn(database, "execute", () => runSync(step(), execute))
    return Effect.suspend(() => (database.isTransaction ? exclusively(run) : run))
  },
  transact: (steps) =>
    exclusively(
      attemptOn(database, "commit", () => {
        try {
          execute({ text: BEGIN, values: [] })
          const values = steps.map((step) => runSync(step(), execute))
          execute({ text: "COMMIT", values: [] })
          return values
        } catch (cause) {
          if (database.isOpen && database.isTransaction) database.exec("ROLLBACK")
          throw cause
        }
      })
    )
})

/**
 * The client of a file, which is created if it does not exist, and its group commits.
 *
 * **Details.** The file is locked while the layer lives: a second server fails with `LockTimeoutError`. With `full` a
 * commit survives a loss of power; with `normal` it survives the end of the process. Transactions take turns.
 *
 * **Gotchas.** Statements run on the thread that calls them: keep them small.
 */
export const layer = (
  file: string,
  synchronous: Synchronous = "full"
): Layer.Layer<SqlClient.SqlClient | GroupCommit, SqlError.SqlError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const scope = yield* Scope.Scope
      const database = yield* open(file)
      yield* Scope.addFinalizer(
        scope,
        Effect.sync(() => database.close())
      )
      const log = makeFlush(`${file}-wal`)
      yield* Scope.addFinalizer(scope, log.close)
      const flush = synchronous === "full" ? log.flush : Effect.void
      const semaphore = yield* Semaphore.make(1)
      const prepare = preparing(database)
      const client = yield* SqlClient.make({
        ...SqlClient.makeSqliteAcquirers({
          connection: Effect.succeed(connectionTo(database, prepare, flush)),
          semaphore,
          isTransaction: () => database.isTransaction
        }),
        compiler: Statement.makeCompilerSqlite(),
        driver: "node-sqlite",
        beginTransaction: BEGIN,
        commit: (connection) => Effect.andThen(connection.executeRaw("COMMIT", []), flush),
        spanAttributes: [["db.system.name", "sqlite"]]
      })
      const groups = yield* makeGroupCommit(
        groupDriver(
          database,
          ({ text, values }) => runStatement(prepare(text), values),
          Semaphore.withPermits(semaphore, 1),
          flush
        )
      )
      return Context.make(SqlClient.SqlClient, client).pipe(Context.add(GroupCommit, groups))
    })
  ).pipe(Layer.provide(Reactivity.layer))
