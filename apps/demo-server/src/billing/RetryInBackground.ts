/** Retries ledger writes in the background, so that no caller waits for a database that is gone. */
import { type Duration, Effect, FiberSet } from "effect"
import type { SqlError } from "effect/sql"
import { backOff } from "../sql/BackOff.ts"

/** How long a database may be down until charges are left to the recovery. */
const RETRIED: Duration.Input = "10 minutes"

/** Runs a write. If it fails it goes on in the background, and its caller goes on. */
export type RetryInBackground = (write: Effect.Effect<unknown, SqlError.SqlError>) => Effect.Effect<void>

export const makeRetryInBackground = Effect.gen(function* () {
  const retrying = yield* FiberSet.make()
  // Charges that are not written when the server ends are refunded at its next start.
  yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(retrying), "5 seconds"))

  const retry = (write: Effect.Effect<unknown, SqlError.SqlError>) =>
    Effect.retry(write, backOff(RETRIED)).pipe(
      Effect.catchTag("SqlError", ({ message }) =>
        Effect.logError(`A charge is left to be recovered when its lease has ended: ${message}`)
      )
    )
  const retryInBackground: RetryInBackground = (write) =>
    Effect.matchEffect(write, {
      onSuccess: () => Effect.void,
      onFailure: (error) =>
        Effect.andThen(
          Effect.logError(`A charge could not be written, and will be tried again: ${error.message}`),
          Effect.asVoid(FiberSet.run(retrying, retry(write)))
        )
    })
  return retryInBackground
})
