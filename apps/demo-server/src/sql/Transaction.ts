/** Transactions that hold under parallel calls, on SQLite as on PostgreSQL. */
import { Duration, Effect, Option, Schedule } from "effect"
import { SqlClient, SqlError } from "effect/sql"

/** How often a transaction that lost against another is tried again. */
const ATTEMPTS = 50

/** It lost against another and left nothing behind. A connection that broke while it committed is not among these. */
const lost = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  (error.reason._tag === "SerializationError" || error.reason._tag === "DeadlockError")

const again = Schedule.exponential("2 millis").pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.millis(50)))),
  Schedule.jittered,
  Schedule.upTo({ times: ATTEMPTS })
)

const transact = <A, E, R>(self: Effect.Effect<A, E, R>, begin: string | undefined) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const whole = sql.withTransaction(self)
    // Within another, that one is tried again: this alone would see the same once more.
    if (Option.isSome(yield* Effect.serviceOption(sql.transactionService))) return yield* whole
    return yield* whole.pipe(
      Effect.provideService(
        SqlClient.BeginTransaction,
        sql.onDialectOrElse({ pg: () => begin, orElse: () => undefined })
      ),
      Effect.retry({ schedule: again, while: lost })
    )
  })

/**
 * All of it or nothing, for changes that guard themselves: `UPDATE … SET n = n - 1 WHERE n >= 1`.
 *
 * **Details.** On PostgreSQL `READ COMMITTED`: an update waits for who changed the row and looks at its guard again. Of
 * two that wait for each other one is tried again, so that `self` may run several times.
 *
 * **Gotchas.** What was read before is not held: decide by the guard and by what `RETURNING` gives, not by a `SELECT`.
 * Rows of several tables are changed in one order everywhere: PostgreSQL takes a second to see that two wait for each
 * other.
 */
export const guarded = <A, E, R>(self: Effect.Effect<A, E, R>) => transact(self, undefined)

/**
 * As if no other transaction ran at the same time: what was read holds. Dearer than `guarded` where many want one row.
 *
 * **Details.** On PostgreSQL `SERIALIZABLE`, and tried again where it lost, so that `self` may run several times.
 */
export const serially = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  transact(self, "BEGIN ISOLATION LEVEL SERIALIZABLE")
