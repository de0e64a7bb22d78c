/** A circuit breaker for each provider: one that does not work costs the calls nothing but the step to the next. */
import { GatewayError, ServerFailure } from "@sluice/core"
import { Duration, Effect, Exit, Option } from "effect"
import { CircuitBreaker } from "effect/persistence"
import type { CircuitGuard } from "./Provider.ts"

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
      // An error with status 200 that says nothing of whose fault it is.
      if (reason.status < 500) return CircuitBreaker.ignored
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

/** What is known of a circuit without asking it. */
interface Circuit {
  /** Closed, and the last thing that is known of its provider is a success. */
  calm: boolean
  /** How often it was seen open: calls that began before say nothing of what is after. */
  openings: number
}

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
  const circuits = new Map<string, Circuit>()
  return (id: string, url: string): CircuitGuard => {
    const key = `${id} ${url}`
    const circuit = circuits.get(key) ?? { calm: false, openings: 0 }
    circuits.set(key, circuit)
    const learn = (outcome: CircuitBreaker.Outcome, openings: number) =>
      Effect.ignore(
        Effect.map(breaker.state(key), ({ _tag }) => {
          if (_tag === "Open") circuit.openings++
          if (_tag !== "Closed" || outcome._tag === "Failure") circuit.calm = false
          else if (outcome._tag === "Success" && circuit.openings === openings) circuit.calm = true
        })
      )
    const told = <A>(call: Effect.Effect<A, GatewayError>, openings: number) =>
      Effect.suspend(() => {
        // Of a call that is not let through, nothing is learnt.
        let outcome = CircuitBreaker.ignored
        const classify = (exit: Exit.Exit<A, GatewayError>) => (outcome = outcomeOf(exit))
        return Effect.onExit(breaker.execute(call, { key, classify }), () => learn(outcome, openings))
      })
    const calmly =
      (openings: number) =>
      <A>(call: Effect.Effect<A, GatewayError>) =>
        Effect.onExit(call, (exit) => {
          const { _tag } = outcomeOf(exit)
          if (_tag === "Ignored" || circuit.openings !== openings) return Effect.void
          if (_tag === "Failure") circuit.calm = false
          return circuit.calm ? Effect.void : Effect.ignore(told(exit, openings))
        })
    return {
      around: (call) =>
        Effect.suspend(() => {
          const { calm, openings } = circuit
          return calm
            ? calmly(openings)(call)
            : told(call, openings).pipe(
                Effect.mapError((error) =>
                  error instanceof CircuitBreaker.CircuitBreakerError ? leftAlone(id, error) : error
                )
              )
        })
    }
  }
})
