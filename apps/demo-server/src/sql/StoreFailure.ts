/** Failures of the database: retries of statements, and the response 503 when the accounts are unavailable. */
import { backOff } from "@sluice/core/client"
import { Failure } from "@sluice/core/contract"
import { Duration, Effect, Predicate, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import { isDamage } from "./NodeSqlite.ts"

/** Retries a failed statement for a total duration, because the database may be back in a moment. */
export const databaseRetry = (duration: Duration.Input) =>
  Schedule.upTo(backOff("100 millis", "10 seconds"), { duration })

const unavailable = new Failure({
  status: 503,
  message: "The accounts are unavailable. Try again in a moment",
  code: "accounts_unavailable",
  retryAfter: Duration.seconds(1),
  retryable: true
})

/** The database's message. It has no values, because parameters are sent apart from statements. */
const describe = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  Predicate.hasProperty(cause, "message") ? `${message}: ${String(cause.message)}` : message

/** What a database error means for the operator. */
const advise = (error: SqlError.SqlError): string =>
  isDamage(error)
    ? `The accounts are damaged. Stop the server and restore accounts.db from a copy. ${describe(error)}`
    : `The accounts are unavailable: ${describe(error)}`

/** Work that comes again: a database error is only logged, after what it prevented. */
export const warnOfSqlError =
  (what: string) =>
  <A, R>(work: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A | void, never, R> =>
    Effect.catchTag(work, "SqlError", ({ message }) => Effect.logWarning(`${what}: ${message}`))

/** Logs a database error and fails with 503. */
export const catchSqlError = <A, R>(
  effect: Effect.Effect<A, SqlError.SqlError | Failure, R>
): Effect.Effect<A, Failure, R> =>
  Effect.catchTag(effect, "SqlError", (error) =>
    Effect.andThen(Effect.logError(advise(error)), Effect.fail(unavailable))
  )
