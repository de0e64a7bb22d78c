/** Deletes old charges, and the rate windows of inactive keys. */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { warnOfSqlError } from "../sql/StoreFailure.ts"
import { readCommitted } from "../sql/Transaction.ts"
import { WINDOW_MS } from "./RateWindow.ts"

const RETENTION_INTERVAL = Duration.hours(1)

/** Charges that one transaction deletes at most, because other calls wait for it. */
const DELETE_BATCH = 500

/**
 * Deletes ended charges that are older than `SLUICE_KEEP_DAYS`.
 *
 * **Details.** Their cost is subtracted from the user's granted units in the same transaction, so that the ledger's
 * equation still holds. Open charges are not deleted. `Recovery` deletes stored responses after a day.
 */
export class Retention extends Context.Service<Retention>()("@sluice/demo-server/Retention", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { billing } = yield* ServerConfig

    const deleteSome = (user: string, before: number) =>
      readCommitted(
        Effect.gen(function* () {
          const deleted = yield* sql<{
            readonly state: string
            readonly cost: number
          }>`DELETE FROM charges WHERE id IN (SELECT id FROM charges
            WHERE user_id = ${user} AND created_at < ${before} AND state IN ('settled', 'refunded')
            ORDER BY created_at LIMIT ${DELETE_BATCH}) RETURNING state, cost`
          const paid = deleted.reduce(
            (sum, { cost, state }) => sum + (state === "settled" ? Number(cost) : 0),
            0
          )
          if (paid > 0) yield* sql`UPDATE users SET granted = granted - ${paid} WHERE id = ${user}`
          return deleted.length
        })
      ).pipe(Effect.provideService(SqlClient.SqlClient, sql))

    const deleteOfUser = (user: string, before: number): Effect.Effect<number, SqlError.SqlError> =>
      Effect.flatMap(deleteSome(user, before), (number) =>
        number < DELETE_BATCH
          ? Effect.succeed(number)
          : // Waiting calls run in between.
            Effect.map(Effect.andThen(Effect.yieldNow, deleteOfUser(user, before)), (more) => number + more)
      )

    /** Deletes charges from before a time, and old rate windows. Returns the number of charges. */
    const deleteBefore = Effect.fn("Retention.deleteBefore")(function* (before: number) {
      yield* sql`DELETE FROM rate_windows WHERE starts_at < ${(yield* Clock.currentTimeMillis) - WINDOW_MS}`
      const users = yield* sql<{ readonly id: string }>`SELECT id FROM users`
      const numbers = yield* Effect.forEach(users, ({ id }) => deleteOfUser(id, before))
      return numbers.reduce((sum, number) => sum + number, 0)
    })

    const round = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const number = yield* deleteBefore(now - Duration.toMillis(Duration.days(billing.keepDays)))
      if (number > 0) yield* Effect.logInfo(`Deleted ${number} charges older than ${billing.keepDays} days`)
    }).pipe(warnOfSqlError("Could not delete old charges. Next attempt in an hour"))
    yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced(RETENTION_INTERVAL)))
    return { deleteBefore }
  })
}) {
  /** Runs at the start and every hour. */
  static readonly layer = Layer.effect(Retention, Retention.make)
}
