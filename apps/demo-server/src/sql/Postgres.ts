/** Effect's SqlClient over a PostgreSQL, by a package that only those load who name one. */
import { Effect, Layer, type Redacted, Result, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** Connections of one server at most. */
const CONNECTIONS = 10

/** What a session of ours is like, whatever the database's own defaults are; times in ms. */
const SESSION = {
  default_transaction_isolation: "read committed",
  // Whoever waits longer is told to come again.
  statement_timeout: "10000",
  // A server that hangs does not hold rows for ever.
  idle_in_transaction_session_timeout: "30000"
}

/** `@effect/sql-pg` is an optional dependency, and is not there. */
export class PostgresMissing extends Schema.TaggedError<PostgresMissing>()("PostgresMissing", {
  message: Schema.String
}) {}

const missing = () =>
  new PostgresMissing({
    message: "PostgreSQL needs the package @effect/sql-pg: install it beside Sluice"
  })

/** Numbers, as SQLite gives them, as long as they are exact; beyond that bigint. */
const exact = (value: bigint): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/**
 * The client of a database named as `postgres://user:password@host:port/name`.
 *
 * **Details.** A pool of connections. One that breaks is replaced when it is next wanted: a database that was gone is
 * used again when it is back, and meanwhile each statement fails with a typed error. BIGINT comes as a number.
 */
export const layer = (
  url: Redacted.Redacted
): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError | PostgresMissing> =>
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
      return PgClient.layer({
        url,
        types,
        maxConnections: CONNECTIONS,
        applicationName: "sluice",
        keepAlive: "10 seconds",
        startupParameters: SESSION
      })
    })
  )
