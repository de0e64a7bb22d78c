/** One writer of a collection at a time among all servers of a PostgreSQL. */
import { Context, Effect, Random, Semaphore } from "effect"
import { SqlClient } from "effect/sql"

type Exclusive = <A, E, R>(name: string, write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Runs a write when no other server writes under that name.
 *
 * **Details.** Without it, LanceDB rejects one of two commits at once, which is then repeated. It is therefore only an
 * economy: if the database cannot be reached, the write runs without it. In one process, each collection has a lock of its own.
 */
export class CommitLock extends Context.Reference<Exclusive>("@sluice/demo-server/CommitLock", {
  defaultValue: () => (_name, write) => write
}) {}

/** A server that finds the lock taken tries again after this time, on average. No connection is held meanwhile. */
const RETRY_MILLIS = 30

const lockStatement = (call: "pg_try_advisory_lock" | "pg_advisory_unlock") =>
  `SELECT ${call}(hashtextextended($1, 0)) AS done`

/** By advisory locks of PostgreSQL. The lock of a killed server ends with its connection. */
const onPostgres = (sql: SqlClient.SqlClient): Exclusive => {
  /** Of this process, so that one connection at most asks for a name. */
  const own = new Map<string, Semaphore.Semaphore>()
  const tryOnce = <A, E, R>(name: string, write: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const connection = yield* sql.reserve
      const run = (call: Parameters<typeof lockStatement>[0]) =>
        Effect.map(
          connection.execute(lockStatement(call), [name], undefined),
          ([row]) => (row as { readonly done?: boolean } | undefined)?.done === true
        )
      // True too after an interruption or a late response: the lock of a connection of the pool would never end.
      let mayHold = true
      const taken = Effect.tap(run("pg_try_advisory_lock"), (taken) => Effect.sync(() => (mayHold = taken)))
      const unlock = Effect.suspend(() => (mayHold ? Effect.ignore(run("pg_advisory_unlock")) : Effect.void))
      return yield* Effect.ensuring(
        Effect.flatMap(taken, (taken) => (taken ? Effect.exit(write) : Effect.undefined)),
        unlock
      )
    }).pipe(Effect.scoped)
  return (name, write) => {
    const turn = own.get(name) ?? Semaphore.makeUnsafe(1)
    own.set(name, turn)
    return Effect.gen(function* () {
      for (;;) {
        const exit = yield* Effect.catchTag(tryOnce(name, write), "SqlError", () => Effect.exit(write))
        if (exit !== undefined) return yield* exit
        yield* Effect.sleep((0.5 + (yield* Random.next)) * RETRY_MILLIS)
      }
    }).pipe(turn.withPermit)
  }
}

/** The lock for the accounts' database. SQLite has one server. */
export const makeCommitLock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return sql.onDialectOrElse({ pg: () => onPostgres(sql), orElse: CommitLock.defaultValue })
})
