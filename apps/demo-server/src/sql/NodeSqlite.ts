/** Effect's SqlClient over the SQLite that comes with Node: one connection, one file, one server. */
import { Effect, Layer, Scope, Semaphore, Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { type DirectSql, makeDirect } from "./DirectSql.ts"
import { makeNotes } from "./Notes.ts"

/** Statements kept prepared. The texts of a program are few: values are parameters. */
const PREPARED = 200

/** Pages of the log (100 MB) that are written into the file at once: it takes about 14 ms, in which nothing else is answered. */
const CHECKPOINT_PAGES = 25_000

/** SQLite's result code of an error. */
const resultCode = (cause: unknown): number | undefined =>
  cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number"
    ? cause.errcode
    : undefined

const sqlError = (cause: unknown, operation: string) =>
  new SqlError.SqlError({
    reason: SqlError.classifySqliteError(
      { code: resultCode(cause), message: cause instanceof Error ? cause.message : "", cause },
      { message: `SQLite failed to ${operation}`, operation }
    )
  })

const attempt = <A>(operation: string, run: () => A) =>
  Effect.try({ try: run, catch: (cause) => sqlError(cause, operation) })

/** A prepared statement takes what SQLite stores; anything else it refuses by a typed error. */
const run = (statement: StatementSync, params: ReadonlyArray<unknown>) =>
  statement.all(...(params as ReadonlyArray<SQLInputValue>))

type Prepare = (sql: string) => StatementSync

const preparing = (database: DatabaseSync): Prepare => {
  const prepared = new Map<string, StatementSync>()
  return (sql) => {
    const found = prepared.get(sql)
    if (found !== undefined) return found
    if (prepared.size >= PREPARED) prepared.clear()
    const statement = database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
}

const connectionTo = (
  database: DatabaseSync,
  prepare: Prepare,
  direct: DirectSql
): SqlConnection.Connection => {
  const rows = (sql: string, params: ReadonlyArray<unknown>) =>
    attempt("execute", () => {
      direct.beforeOthers()
      return run(prepare(sql), params)
    })
  const values = (sql: string, params: ReadonlyArray<unknown>) =>
    Effect.map(rows(sql, params), (rows) => rows.map((row) => Object.values(row)))
  return {
    execute: (sql, params, transform) =>
      Effect.map(rows(sql, params), (rows) => (transform === undefined ? rows : transform(rows))),
    executeRaw: rows,
    executeValues: values,
    executeValuesUnprepared: values,
    executeUnprepared: (sql, params, transform) =>
      Effect.map(
        attempt("execute", () => {
          direct.beforeOthers()
          return run(database.prepare(sql), params)
        }),
        (rows) => (transform === undefined ? rows : transform(rows))
      ),
    executeStream: (sql, params, transform) =>
      Stream.unwrap(
        Effect.map(rows(sql, params), (rows) =>
          Stream.fromIterable(transform === undefined ? rows : transform(rows))
        )
      )
  }
}

/** What a commit waits for: that the disk has it (`full`), or that the operating system does (`normal`). */
export type Synchronous = "full" | "normal"

const open = (file: string, synchronous: Synchronous) =>
  attempt("open", () => {
    // A lock held by another server is not waited for.
    const database = new DatabaseSync(file, { timeout: 0 })
    try {
      database.exec("PRAGMA locking_mode = EXCLUSIVE")
      database.exec("PRAGMA journal_mode = WAL")
      database.exec(`PRAGMA synchronous = ${synchronous.toUpperCase()}`)
      database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
      database.exec("PRAGMA foreign_keys = ON")
      // What a savepoint keeps is written to a file otherwise, page by page, once it was too much for memory.
      database.exec("PRAGMA temp_store = MEMORY")
      // The lock is taken by writing.
      database.exec("BEGIN IMMEDIATE; COMMIT")
      return database
    } catch (cause) {
      database.close()
      throw cause
    }
  })

const known = new WeakMap<SqlClient.SqlClient, DirectSql>()

/** The same connection without Effect's client; none of a client of another database. */
export const directOf = (sql: SqlClient.SqlClient): DirectSql | undefined => known.get(sql)

/**
 * The client of a file, which is made when it is not there.
 *
 * **Details.** The file is locked for as long as the layer lives: a second server on it fails with `LockTimeoutError`.
 * What was committed survives a loss of power, unless `synchronous` is `normal`: then it survives the end of the process.
 * Statements of one fiber's transaction and those of other fibers take turns. `directOf` gives the way past Effect.
 *
 * **Gotchas.** Statements run on the thread that calls them: keep them small.
 */
export const layer = (
  file: string,
  synchronous: Synchronous = "full"
): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const scope = yield* Scope.Scope
      const database = yield* open(file, synchronous)
      yield* Scope.addFinalizer(
        scope,
        Effect.sync(() => database.close())
      )
      const semaphore = yield* Semaphore.make(1)
      const prepare = preparing(database)
      const direct = makeDirect({
        database,
        log: `${file}-wal`,
        notes: makeNotes(file),
        waitsForDisk: synchronous === "full",
        answer: ({ text, values }) => run(prepare(text), values) as ReadonlyArray<object>,
        errorOf: (cause) => sqlError(cause, "execute"),
        whenFree: (then) => void Effect.runFork(Semaphore.withPermits(semaphore, 1)(Effect.sync(then)))
      })
      yield* Scope.addFinalizer(scope, Effect.sync(direct.close))
      const client = yield* SqlClient.make({
        ...SqlClient.makeSqliteAcquirers({
          connection: Effect.succeed(connectionTo(database, prepare, direct)),
          semaphore,
          isTransaction: direct.isOthers
        }),
        compiler: Statement.makeCompilerSqlite(),
        driver: "node-sqlite",
        beginTransaction: "BEGIN IMMEDIATE",
        spanAttributes: [["db.system.name", "sqlite"]]
      })
      known.set(client, direct)
      return client
    })
  ).pipe(Layer.provide(Reactivity.layer))
