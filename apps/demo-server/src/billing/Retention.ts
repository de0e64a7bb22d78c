/** Deletes old charges, and the rate windows of inactive keys. */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { guarded } from "../sql/Transaction.ts"
import { WINDOW_MS } from "./RateWindow.ts"

const EVERY = Duration.hours(1)

/** Charges of one transaction at most: other calls wait for it. */
const AT_ONCE = 500

interface Forgotten {
  readonly state: string
  readonly cost: number
}

/**
 * Deletes ended charges that are older than `SLUICE_KEEP_DAYS`.
 *
 * **Details.** Their cost is subtracted from what the user was granted, in the same transaction, so that the ledger
 * still adds up. Open charges stay. Stored responses are deleted after a day (`Recovery.ts`).
 */
export class Retention extends Context.Service<
  Retention,
  {
    /** Deletes charges from before a time, and old windows. Gives the number of charges. */
    readonly forget: (before: number) => Effect.Effect<number, SqlError.SqlError>
  }
>()("@sluice/demo-server/Retention") {
  /** Runs at the start, and every hour. */
  static readonly layer = Layer.effect(
    Retention,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { billing } = yield* ServerConfig

      const some = (user: string, before: number) =>
        guarded(
          Effect.gen(function* () {
            const gone = yield* sql<Forgotten>`DELETE FROM charges WHERE id IN (SELECT id FROM charges
              WHERE user_id = ${user} AND created_at < ${before} AND state IN ('settled', 'refunded')
              ORDER BY created_at LIMIT ${AT_ONCE}) RETURNING state, cost`
            const paid = gone.reduce(
              (sum, { cost, state }) => sum + (state === "settled" ? Number(cost) : 0),
              0
            )
            if (paid > 0) yield* sql`UPDATE users SET granted = granted - ${paid} WHERE id = ${user}`
            return gone.length
          })
        ).pipe(Effect.provideService(SqlClient.SqlClient, sql))

      const ofUser = (user: string, before: number): Effect.Effect<number, SqlError.SqlError> =>
        Effect.flatMap(some(user, before), (number) =>
          number < AT_ONCE
            ? Effect.succeed(number)
            : // Calls that came meanwhile have their turn.
              Effect.map(Effect.andThen(Effect.yieldNow, ofUser(user, before)), (more) => number + more)
        )

      const forget = Effect.fn("Retention.forget")(function* (before: number) {
        yield* sql`DELETE FROM rate_windows WHERE starts_at < ${(yield* Clock.currentTimeMillis) - WINDOW_MS}`
        const users = yield* sql<{ readonly id: string }>`SELECT id FROM users`
        const numbers = yield* Effect.forEach(users, ({ id }) => ofUser(id, before))
        return numbers.reduce((sum, number) => sum + number, 0)
      })

      const round = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const number = yield* forget(now - Duration.toMillis(Duration.days(billing.keepDays)))
        if (number > 0)
          yield* Effect.logInfo(`${number} charges of more than ${billing.keepDays} days are forgotten`)
      }).pipe(
        Effect.catchTag("SqlError", ({ message }) =>
          Effect.logWarning(`Old charges could not be forgotten, and will be in an hour: ${message}`)
        )
      )
      yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced(EVERY)))
      return { forget }
    })
  )
}
