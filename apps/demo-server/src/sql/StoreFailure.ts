/** What the caller is told when the accounts cannot be asked: never that the credential is wrong. */
import { Failure } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"

const unavailable = new Failure({
  status: 503,
  message: "The accounts cannot be asked just now: try again in a moment",
  code: "accounts_unavailable",
  retryAfter: Duration.seconds(1),
  retryable: true
})

/** What the database said. It repeats no values: statements and parameters travel apart. */
const told = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  typeof cause === "object" && cause !== null && "message" in cause
    ? `${message}: ${String(cause.message)}`
    : message

/** Logs what went wrong, and says 503. */
export const orUnavailable = <A, R>(
  effect: Effect.Effect<A, SqlError.SqlError | Failure, R>
): Effect.Effect<A, Failure, R> =>
  Effect.catchTag(effect, "SqlError", (error) =>
    Effect.andThen(Effect.logError(`The accounts cannot be asked: ${told(error)}`), Effect.fail(unavailable))
  )
