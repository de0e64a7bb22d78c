/** A circuit breaker for each provider. A failing provider is skipped. */
import { GatewayError } from "@sluice/core"
import {
  CIRCUIT_FAILURES,
  CIRCUIT_OPEN,
  circuitOpenReason,
  makeUpstreamBreaker,
  upstreamOutcome
} from "@sluice/core/client"
import { Duration, Effect } from "effect"
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

/** Guards for providers by id. Providers with the same id and address share a circuit, also across reloads. */
export const makeCircuitGuards = Effect.fnUntraced(function* ({ failures, openSeconds }: CircuitOptions) {
  const breaker = yield* makeUpstreamBreaker(failures, Duration.seconds(openSeconds))
  return (id: string, url: string): CircuitGuard => {
    const key = `${id} ${url}`
    return {
      isOpen: breaker.state(key).pipe(
        Effect.map(({ _tag }) => _tag === "Open"),
        Effect.orElseSucceed(() => false)
      ),
      around: (call) =>
        Effect.mapError(breaker.execute(call, { key, classify: upstreamOutcome }), (error) => {
          if (!(error instanceof CircuitBreaker.CircuitBreakerError)) return error
          // No attempt was made: the error has no attempt number.
          const reason = circuitOpenReason(`The provider \`${id}\``, error)
          return new GatewayError({ operation: "provider", notExecuted: true, reason })
        })
    }
  }
})
