/** The response when the accounts' database fails: 503, and not that the credential is wrong. */
import { Failure } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"

const unavailable = new Failure({
  status: 503,
  message: "The accounts are unavailable. Try again in a moment",
  code: "accounts_unavailable",
  retryAfter: Duration.seconds(1),
  retryable: true
})

/** The database's message. It has no values, because parameters are sent apart from statements. */
const describe = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  typeof cause === "object" && cause !== null && "message" in cause
    ? `${message}: ${String(cause.message)}`
    : message

/** Logs a database error and fails with 503. */
export const orUnavailable = <A, R>(
  effect: Effect.Effect<A, SqlError.SqlError | Failure, R>
): Effect.Effect<A, Failure, R> =>
  Effect.catchTag(effect, "SqlError", (error) =>
    Effect.andThen(
      Effect.logError(`The accounts are unavailable: ${describe(error)}`),
      Effect.fail(unavailable)
    )
  )
