/** Effect's SqlClient over PostgreSQL. The package is loaded only if it is configured. */
import { Context, type Duration, Effect, Layer, type Redacted, Result, Schema } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { GroupCommit, type GroupDriver, makeGroupCommit } from "./GroupCommit.ts"
import { runEffect } from "./SqlStep.ts"
import { guarded } from "./Transaction.ts"

/** Connections of one server at most. */
const CONNECTIONS = 10

/** Session settings, whatever the database's defaults are; times in ms. */
const SESSION = {
  default_transaction_isolation: "read committed",
  // A longer statement fails, and the caller may retry.
  statement_timeout: "10000",
  // A server that hangs does not lock rows forever.
  idle_in_transaction_session_timeout: "30000"
}

/** How long a connection or a response is waited for. The database cancels statements earlier. */
const PATIENCE: Duration.Input = "15 seconds"

const silent = (operation: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({
      cause: new Error("no answer"),
      message: "PostgreSQL does not answer",
      operation
    })
  })

/** Gives up a connection that does not respond, such as one whose peer has vanished. */
const impatient = (
  connection: SqlConnection.Connection,
  duration: Duration.Input
): SqlConnection.Connection => {
  const within = <A>(run: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.timeoutOrElse(run, { duration, orElse: () => Effect.fail(silent("execute")) })
  return {
    execute: (...statement) => within(connection.execute(...statement)),
    executeRaw: (...statement) => within(connection.executeRaw(...statement)),
    executeValues: (...statement) => within(connection.executeValues(...statement)),
    executeValuesUnprepared: (...statement) => within(connection.executeValuesUnprepared(...statement)),
    executeUnprepared: (...statement) => within(connection.executeUnprepared(...statement)),
    executeStream: (...statement) => connection.executeStream(...statement)
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

/** Runs a group as one transaction. PostgreSQL has it on disk when it answers the commit. */
const groupDriver = (sql: SqlClient.SqlClient): GroupDriver => {
  /** In one order: otherwise two servers wait for each other's rows. */
  const lockUsers = (users: ReadonlyArray<string>): Effect.Effect<unknown, SqlError.SqlError> =>
    users.length === 0
      ? Effect.void
      : sql`SELECT 1 FROM users WHERE ${sql.in("id", users)} ORDER BY id FOR NO KEY UPDATE`
  return {
    flush: Effect.void,
    isRemote: true,
    read: (step) => Effect.withTracerEnabled(runEffect(sql, step), false),
    transact: (steps, lock) =>
      guarded(
        Effect.andThen(
          lockUsers(lock),
          Effect.forEach(steps, (step) => runEffect(sql, step))
        )
      ).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        // A span for each statement costs as much as the statement.
        Effect.withTracerEnabled(false)
      )
  }
}

/** The optional dependency `@effect/sql-pg` is not installed. */
export class PostgresMissing extends Schema.TaggedError<PostgresMissing>()("PostgresMissing", {
  message: Schema.String
}) {}

const missing = () =>
  new PostgresMissing({
    message: "PostgreSQL needs the package @effect/sql-pg: install it beside Sluice"
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
  patience: Duration.Input = PATIENCE
): Layer.Layer<SqlClient.SqlClient | GroupCommit, SqlError.SqlError | PostgresMissing> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { PgClient, PgTypes } = yield* Effect.tryPromise({
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
        const pool = yield* PgClient.make({
          url,
          types,
          maxConnections: CONNECTIONS,
          applicationName: "sluice",
          keepAlive: "10 seconds",
          startupParameters: SESSION
        })
        const acquirer = pool.reserve.pipe(
          Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(silent("connect")) }),
          Effect.map((connection) => impatient(connection, patience))
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
        const groups = yield* makeGroupCommit(groupDriver(client))
        return Context.make(SqlClient.SqlClient, client).pipe(Context.add(GroupCommit, groups))
      })
      return Layer.effectContext(acquire).pipe(Layer.provide(Reactivity.layer))
    })
  )
