/** A circuit breaker for each provider. A failing provider is skipped. */
import { GatewayError } from "@sluice/core"
import {
  CIRCUIT_FAILURES,
  CIRCUIT_OPEN,
  circuitOpenReason,
  makeUpstreamBreaker,
  upstreamOutcome
} from "@sluice/core/client"
import { Duration, Effect, type Exit } from "effect"
import { CircuitBreaker } from "effect/persistence"
import type { CircuitGuard } from "./Provider.ts"

interface CircuitOptions {
  /** Consecutive failures after which a provider is skipped. */
  readonly failures: number
  /** How long it is skipped before one call tries it. */
  readonly openSeconds: number
}

export const CIRCUIT_DEFAULTS: CircuitOptions = {
  failures: CIRCUIT_FAILURES,
  openSeconds: Duration.toSeconds(CIRCUIT_OPEN)
}

/** The state of a circuit, without asking the breaker. */
interface Circuit {
  /** Whether the circuit is closed and the last result was a success. */
  isHealthy: boolean
  /** How often the circuit was opened. Results of calls that started before the last time are ignored. */
  openings: number
}

/**
 * Guards for providers by id. Providers with the same id and address share a circuit, also across reloads.
 *
 * **Details.** While a circuit is closed and the last result was a success, another success changes nothing and is
 * not reported to the breaker, whose bookkeeping costs more than the guard.
 */
export const makeCircuitGuards = Effect.fnUntraced(function* ({ failures, openSeconds }: CircuitOptions) {
  const breaker = yield* makeUpstreamBreaker(failures, Duration.seconds(openSeconds))
  const circuits = new Map<string, Circuit>()
  return (id: string, url: string): CircuitGuard => {
    const key = `${id} ${url}`
    const circuit = circuits.get(key) ?? { isHealthy: false, openings: 0 }
    circuits.set(key, circuit)
    const update = (outcome: CircuitBreaker.Outcome, openings: number) =>
      Effect.ignore(
        Effect.map(breaker.state(key), ({ _tag }) => {
          if (_tag === "Open") circuit.openings++
          if (_tag !== "Closed" || outcome._tag === "Failure") circuit.isHealthy = false
          else if (outcome._tag === "Success" && circuit.openings === openings) circuit.isHealthy = true
        })
      )
    const withBreaker = <A>(call: Effect.Effect<A, GatewayError>, openings: number) =>
      Effect.suspend(() => {
        // Stays ignored if the breaker rejects the call.
        let outcome = CircuitBreaker.ignored
        const classify = (exit: Exit.Exit<A, GatewayError>) => (outcome = upstreamOutcome(exit))
        return Effect.onExit(breaker.execute(call, { key, classify }), () => update(outcome, openings))
      })
    const withoutBreaker =
      (openings: number) =>
      <A>(call: Effect.Effect<A, GatewayError>) =>
        Effect.onExit(call, (exit) => {
          const { _tag } = upstreamOutcome(exit)
          if (_tag === "Ignored" || circuit.openings !== openings) return Effect.void
          if (_tag === "Failure") circuit.isHealthy = false
          return circuit.isHealthy ? Effect.void : Effect.ignore(withBreaker(exit, openings))
        })
    return {
      isOpen: breaker.state(key).pipe(
        Effect.map(({ _tag }) => _tag === "Open"),
        Effect.orElseSucceed(() => false)
      ),
      around: (call) =>
        Effect.suspend(() => {
          const { isHealthy, openings } = circuit
          return isHealthy
            ? withoutBreaker(openings)(call)
            : Effect.mapError(withBreaker(call, openings), (error) => {
                if (!(error instanceof CircuitBreaker.CircuitBreakerError)) return error
                // No attempt was made: the error has no attempt number.
                const reason = circuitOpenReason(`The provider \`${id}\``, error)
                return new GatewayError({ operation: "provider", notExecuted: true, reason })
              })
        })
    }
  }
})
