/** A circuit breaker for each provider: one that does not work costs the calls nothing but the step to the next. */
import { GatewayError, ServerFailure } from "@sluice/core"
import { Duration, Effect, Exit, Option } from "effect"
import { CircuitBreaker } from "effect/persistence"
import type { Guard } from "./Provider.ts"

export interface HealthOptions {
  /** Failures in a row after which a provider is left alone. */
  readonly failures: number
  /** How long it is left alone, before one call tries it. */
  readonly openSeconds: number
}

export const HEALTH: HealthOptions = { failures: 5, openSeconds: 10 }

/** One that asks to be left alone for longer is tried all the same. */
const OPEN_MAX: Duration.Input = "5 minutes"

/** A refusal shows that it works; nobody answering, 5xx, no whole answer and our own credential refused that it does not. */
const outcomeOf = <A>(exit: Exit.Exit<A, GatewayError>): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  const error = Exit.findErrorOption(exit)
  if (Option.isNone(error)) return CircuitBreaker.ignored
  const { reason } = error.value
  switch (reason._tag) {
    case "Unreachable":
    case "TimedOut":
    case "InvalidResponse":
      return CircuitBreaker.failure()
    case "ServerFailure":
      return CircuitBreaker.failure({ retryAfter: reason.retryAfter })
    default:
      return CircuitBreaker.success
  }
}

/** No attempt was made, so that it has no number. */
const leftAlone = (id: string, { reason }: CircuitBreaker.CircuitBreakerError): GatewayError =>
  new GatewayError({
    operation: "provider",
    unmade: true,
    reason: new ServerFailure({
      message: `The provider \`${id}\` has failed repeatedly and is left alone for a while`,
      status: 503,
      retryAfter:
        reason._tag === "CircuitOpen"
          ? Duration.millis(Math.ceil(Duration.toMillis(reason.retryAfter)) + 1)
          : Duration.seconds(1)
    })
  })

/** Guards for providers by id; those of one id and address share a circuit, over reloads too. */
export const makeHealth = Effect.fnUntraced(function* ({ failures, openSeconds }: HealthOptions) {
  const breaker = yield* CircuitBreaker.make({
    tripPolicy: CircuitBreaker.consecutive(failures),
    openDuration: Duration.seconds(openSeconds),
    maxOpenDuration: OPEN_MAX
  })
  return (id: string, url: string): Guard =>
    (call) =>
      breaker
        .execute(call, { key: `${id} ${url}`, classify: outcomeOf })
        .pipe(
          Effect.mapError((error) =>
            error instanceof CircuitBreaker.CircuitBreakerError ? leftAlone(id, error) : error
          )
        )
})
