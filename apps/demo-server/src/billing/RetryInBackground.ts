/** What has to be written to the ledger is, in the end: the caller need not wait for a database that is gone. */
import { Duration, Effect, FiberSet, Schedule } from "effect"
import type { SqlError } from "effect/sql"

/** A settlement that the database did not take is tried again for as long as anybody may wait for it. */
const AGAIN = Schedule.exponential("100 millis").pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.seconds(10)))),
  Schedule.upTo({ duration: "10 minutes" })
)

export const makeSurely = Effect.gen(function* () {
  const retrying = yield* FiberSet.make()
  // What is not written when the server ends would be given back at its next start.
  yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(retrying), "5 seconds"))

  const surely = (write: Effect.Effect<unknown, SqlError.SqlError>): Effect.Effect<void> =>
    Effect.catchTag(Effect.asVoid(write), "SqlError", (error) =>
      Effect.andThen(
        Effect.logError(`A charge could not be written, and will be tried again: ${error.message}`),
        FiberSet.run(
          retrying,
          Effect.retry(write, AGAIN).pipe(
            Effect.asVoid,
            Effect.catchTag("SqlError", ({ message }) =>
              Effect.logError(`A charge is left to be recovered when its lease has ended: ${message}`)
            )
          )
        )
      )
    )

  return { surely }
})
