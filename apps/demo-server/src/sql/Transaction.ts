/** Transactions that are correct under concurrency, on SQLite and PostgreSQL. */
import { backOff } from "@sluice/core/client"
import { Effect, Option, Schedule } from "effect"
import { SqlClient, SqlError } from "effect/sql"

/** Retries of a transaction that conflicts with another. */
const ATTEMPTS = 50

/** A conflict that left no changes. A connection that broke during COMMIT is not one. */
const isConflict = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  (error.reason._tag === "SerializationError" || error.reason._tag === "DeadlockError")

const schedule = Schedule.upTo(backOff("2 millis", "50 millis"), { times: ATTEMPTS })

/** Runs a transaction again that conflicts with another. */
export const retryConflicts = <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
  Effect.retry(transaction, { schedule, while: isConflict })

const transact = <A, E, R>(self: Effect.Effect<A, E, R>, begin: string | undefined) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const transaction = sql.withTransaction(self)
    // A nested transaction is retried by the outer one.
    if (Option.isSome(yield* Effect.serviceOption(sql.transactionService))) return yield* transaction
    return yield* transaction.pipe(
      Effect.provideService(
        SqlClient.BeginTransaction,
        sql.onDialectOrElse({ pg: () => begin, orElse: () => undefined })
      ),
      retryConflicts
    )
  })

/**
 * All or nothing, for changes that guard themselves: `UPDATE … SET n = n - 1 WHERE n >= 1`.
 *
 * **Details.** `READ COMMITTED` on PostgreSQL: an update waits for the row's lock and checks its guard again. A
 * deadlock is retried, so `self` may run several times.
 *
 * **Gotchas.** Earlier reads may be outdated: rely on the guard and on `RETURNING`, not on a `SELECT`. Change tables
 * in the same order everywhere: PostgreSQL needs a second to detect a deadlock.
 */
export const readCommitted = <A, E, R>(self: Effect.Effect<A, E, R>) => transact(self, undefined)

/**
 * As if no other transaction ran at the same time. Costs more than `readCommitted` if many change the same row.
 *
 * **Details.** `SERIALIZABLE` on PostgreSQL, retried on conflicts, so `self` may run several times.
 */
export const serializable = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  transact(self, "BEGIN ISOLATION LEVEL SERIALIZABLE")
