/** Effect's SqlClient over PostgreSQL. The package is loaded only if it is configured. */
import type { PgConnection, PgPool } from "@effect/sql-pg"
import { Cause, Context, type Duration, Effect, Layer, type Redacted, Result, Schema, Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { GroupCommit, type GroupDriver, makeGroupCommit, type Step } from "./GroupCommit.ts"
import { placeholders, type Rows, type SqlQuery, withNumbers } from "./SqlStep.ts"
import { retryConflicts } from "./Transaction.ts"

/** Connections of one server at most. */
const CONNECTIONS = 10

/** Statements that a connection keeps prepared. Those of groups differ by the number of their items. */
const PREPARED = 500

/** Session settings, whatever the database's defaults are; times in ms. */
const SESSION = {
  default_transaction_isolation: "read committed",
  // A longer statement fails, and the caller may retry.
  statement_timeout: "10000",
  // A server that hangs does not lock rows forever.
  idle_in_transaction_session_timeout: "30000"
}

/** For a connection and for each response. The database cancels statements earlier. */
const RESPONSE_TIMEOUT: Duration.Input = "15 seconds"

const noResponse = (operation: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({
      cause: new Error("no answer"),
      message: "PostgreSQL does not answer",
      operation
    })
  })

type Connection = PgConnection.PgConnection

/** Fails if the database does not respond in time, for example because its host is down. */
const within =
  (duration: Duration.Input, operation: string) =>
  <A, E, R>(run: Effect.Effect<A, E, R>) =>
    Effect.timeoutOrElse(run, { duration, orElse: () => Effect.fail(noResponse(operation)) })

/** A connection of the pool as one of Effect's SQL client. */
const clientConnection = (connection: Connection, patience: Duration.Input): SqlConnection.Connection => {
  const limited = within(patience, "execute")
  const execute =
    (prepare: boolean): SqlConnection.Connection["execute"] =>
    (text, values, transform) =>
      Effect.map(limited(connection.query(text, values, prepare)), ({ rows }) => transform?.(rows) ?? rows)
  return {
    execute: execute(true),
    executeUnprepared: execute(false),
    executeRaw: (text, values) => limited(connection.query(text, values)),
    executeValues: (text, values) => limited(connection.queryValues(text, values)),
    executeValuesUnprepared: (text, values) => limited(connection.queryValues(text, values, false)),
    executeStream: (text, values, transform) =>
      transform === undefined
        ? connection.stream(text, values)
        : Stream.mapArray(connection.stream(text, values), (rows) => transform(rows) as typeof rows)
  }
}

/** PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and no error. */
const commit = (connection: SqlConnection.Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    typeof result === "object" && result !== null && "command" in result && result.command === "ROLLBACK"
      ? Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.UnknownError({
              cause: new Error("rolled back"),
              message: "The transaction had failed, and was rolled back",
              operation: "commit"
            })
          })
        )
      : Effect.void
  )

/** Sends statements at once. Each is answered in its turn: together they are one round trip. */
const send = (
  connection: Connection,
  queries: ReadonlyArray<SqlQuery>
): Effect.Effect<ReadonlyArray<Rows>, SqlError.SqlError> =>
  Effect.forEach(
    queries,
    ({ text, values }) => Effect.map(connection.query(withNumbers(text), values), ({ rows }) => rows),
    { concurrency: "unbounded" }
  )

const BEGIN: SqlQuery = { text: "BEGIN", values: [] }
const COMMIT: SqlQuery = { text: "COMMIT", values: [] }

/**
 * Runs steps side by side: what they yield at the same time is one round trip. Returns their values, and the statements
 * that are not sent yet. With `begin`, the steps are a transaction, which is committed with the last statements of its steps.
 */
const runSteps = Effect.fnUntraced(function* <A>(
  connection: Connection,
  steps: ReadonlyArray<Step<A>>,
  begin: ReadonlyArray<SqlQuery> = []
) {
  const values: Array<A> = []
  let unsent = [...begin]
  let isCommitted = false
  let running = steps.map((step, at) => ({ at, step: step(), rows: [] as ReadonlyArray<Rows> }))
  while (true) {
    const received: Array<{
      readonly one: (typeof running)[number]
      readonly from: number
      readonly to: number
    }> = []
    let isLast = begin.length > 0
    for (const one of running) {
      let next = one.step.next(one.rows)
      for (; next.done !== true && next.value.isWrite === true; next = one.step.next([])) {
        unsent.push(...next.value.queries)
      }
      if (next.done === true) values[one.at] = next.value
      else {
        isLast &&= next.value.isLast === true
        const from = unsent.length
        received.push({ one, from, to: unsent.push(...next.value.queries) })
      }
    }
    if (received.length === 0) {
      return { values, unsent, isCommitted: isCommitted && unsent.length === begin.length }
    }
    const rows = yield* send(connection, isLast ? [...unsent, COMMIT] : unsent)
    isCommitted = isLast
    unsent = isLast ? [...begin] : []
    running = received.map(({ from, one, to }) => ({ ...one, rows: rows.slice(from, to) }))
  }
})

/** The users to lock, in one order: otherwise two servers wait for each other's rows. */
const lockUsers = (users: ReadonlyArray<string>): ReadonlyArray<SqlQuery> =>
  users.length === 0
    ? []
    : [
        {
          text: `SELECT 1 FROM users WHERE id IN (${placeholders(users)}) ORDER BY id FOR NO KEY UPDATE`,
          values: users
        }
      ]

/** Runs a group as one transaction. PostgreSQL has it on disk when it answers the commit. */
const groupDriver = (pool: PgPool.PgPool, patience: Duration.Input): GroupDriver => {
  /** Closes a connection that did not answer in time, or that does not roll back. */
  const undo = (connection: Connection, cause: Cause.Cause<SqlError.SqlError>) =>
    Cause.hasInterruptsOnly(cause)
      ? pool.invalidate(connection)
      : connection.query("ROLLBACK").pipe(
          within("1 second", "rollback"),
          Effect.catchCause(() => pool.invalidate(connection))
        )
  const use = <A>(run: (connection: Connection) => Effect.Effect<A, SqlError.SqlError>) =>
    pool
      .use((connection) => Effect.onError(run(connection), (cause) => undo(connection, cause)))
      .pipe(within(patience, "commit"))
  return {
    flush: Effect.void,
    isRemote: true,
    read: (step) =>
      Effect.map(
        use((connection) => runSteps(connection, [step])),
        ({ values: [value] }) => value as never
      ),
    transact: (steps, lock) =>
      retryConflicts(
        use((connection) =>
          Effect.flatMap(
            runSteps(connection, steps, [BEGIN, ...lockUsers(lock)]),
            ({ isCommitted, unsent, values }) =>
              isCommitted ? Effect.succeed(values) : Effect.as(send(connection, [...unsent, COMMIT]), values)
          )
        )
      )
  }
}

/** The optional dependency `@effect/sql-pg` is not installed. */
export class PostgresMissing extends Schema.TaggedError<PostgresMissing>()("PostgresMissing", {
  message: Schema.String
}) {}

const missing = () =>
  new PostgresMissing({
    message: "PostgreSQL needs the package @effect/sql-pg. Install it next to Sluice"
  })

/** Numbers as SQLite gives them while they are exact, else bigint. */
const exact = (value: bigint): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/**
 * The client of a database at `postgres://user:password@host:port/name`.
 *
 * **Details.** A pool of connections. A broken connection is replaced when it is next needed; until then statements
 * fail with a typed error. BIGINT is decoded as a number.
 */
export const layer = (
  url: Redacted.Redacted,
  patience: Duration.Input = RESPONSE_TIMEOUT
): Layer.Layer<SqlClient.SqlClient | GroupCommit, SqlError.SqlError | PostgresMissing> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { PgClient, PgPool, PgTypes } = yield* Effect.tryPromise({
        try: () => import("@effect/sql-pg"),
        catch: missing
      })
      const types = PgTypes.makeRegistry()
      types.register(PgTypes.OID.int8, {
        encode: (value: number | bigint) => PgTypes.encode(BigInt(value), PgTypes.OID.int8),
        decode: ({ buffer, byteOffset, byteLength }) =>
          Result.succeed(exact(new DataView(buffer, byteOffset, byteLength).getBigInt64(0)))
      })
      const acquire = Effect.gen(function* () {
        const pool = yield* PgPool.make({
          url,
          types,
          maxConnections: CONNECTIONS,
          applicationName: "sluice",
          keepAlive: "10 seconds",
          startupParameters: SESSION,
          preparedStatementCacheSize: PREPARED,
          // Statements of a group are sent together. A connection is not shared.
          multiplex: true,
          multiplexConcurrency: 1
        })
        const acquirer = pool.reserve.pipe(
          within(patience, "connect"),
          Effect.map((connection) => clientConnection(connection, patience))
        )
        const client = yield* SqlClient.make({
          acquirer,
          borrower: (use) => Effect.scoped(Effect.flatMap(acquirer, use)),
          compiler: PgClient.makeCompiler(),
          driver: "pg",
          prepareTransactionControls: true,
          commit,
          releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
          spanAttributes: [["db.system.name", "postgresql"]]
        })
        const groups = yield* makeGroupCommit(groupDriver(pool, patience))
        return Context.make(SqlClient.SqlClient, client).pipe(Context.add(GroupCommit, groups))
      })
      return Layer.effectContext(acquire).pipe(Layer.provide(Reactivity.layer))
    })
  )
