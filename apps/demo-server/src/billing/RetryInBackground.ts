/** Retries ledger writes in the background, so that no caller waits for an unavailable database. */
import { type Duration, Effect, FiberSet } from "effect"
import type { SqlError } from "effect/sql"
import { databaseRetry } from "../sql/StoreFailure.ts"

/** How long writes are retried. After that, recovery ends the charges. */
const RETRY_TIME: Duration.Input = "10 minutes"

/** Runs a write. If it fails, it is retried in the background and the caller continues. */
export type RetryInBackground = (write: Effect.Effect<unknown, SqlError.SqlError>) => Effect.Effect<void>

export const makeRetryInBackground = Effect.gen(function* () {
  const retrying = yield* FiberSet.make()
  // If the server ends before the writes succeed, its next start refunds the charges.
  yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(retrying), "5 seconds"))

  const retry = (write: Effect.Effect<unknown, SqlError.SqlError>) =>
    Effect.retry(write, databaseRetry(RETRY_TIME)).pipe(
      Effect.catchTag("SqlError", ({ message }) =>
        Effect.logError(`A charge could not be written. It is recovered when its lease expires: ${message}`)
      )
    )
  const retryInBackground: RetryInBackground = (write) =>
    Effect.matchEffect(write, {
      onSuccess: () => Effect.void,
      onFailure: (error) =>
        Effect.andThen(
          Effect.logError(`A charge could not be written. Retrying in the background: ${error.message}`),
          Effect.asVoid(FiberSet.run(retrying, retry(write)))
        )
    })
  return retryInBackground
})
