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

/**
 * Guards for providers by id; those of one id and address share a circuit, over reloads too.
 *
 * **Details.** As long as a circuit is closed and nothing is counted against its provider, another success changes
 * nothing: it is not told to the circuit, which makes a generator function for each call (docs/decisions/0014). All else is.
 */
export const makeHealth = Effect.fnUntraced(function* ({ failures, openSeconds }: HealthOptions) {
  const breaker = yield* CircuitBreaker.make({
    tripPolicy: CircuitBreaker.consecutive(failures),
    openDuration: Duration.seconds(openSeconds),
    maxOpenDuration: OPEN_MAX
  })
  /** Those of which the last thing that is known is a success. */
  const calm = new Set<string>()
  return (id: string, url: string): Guard => {
    const key = `${id} ${url}`
    const told = <A>(call: Effect.Effect<A, GatewayError>) =>
      breaker.execute(call, { key, classify: outcomeOf })
    const whenClosed = <A, E>(then: Effect.Effect<A, E>) =>
      Effect.flatMap(breaker.state(key), ({ _tag }) =>
        _tag === "Closed" ? Effect.asVoid(then) : Effect.void
      )
    const calmed = Effect.ignore(whenClosed(Effect.sync(() => calm.add(key))))
    return <A>(call: Effect.Effect<A, GatewayError>) =>
      Effect.suspend(() =>
        calm.has(key)
          ? Effect.onExit(call, (exit) => {
              if (outcomeOf(exit)._tag === "Failure") calm.delete(key)
              // What ends after the circuit was opened says nothing that was not known then.
              return calm.has(key) ? Effect.void : Effect.ignore(whenClosed(told(exit)))
            })
          : told(Effect.tap(call, () => calmed)).pipe(
              Effect.mapError((error) =>
                error instanceof CircuitBreaker.CircuitBreakerError ? leftAlone(id, error) : error
              )
            )
      )
  }
})
