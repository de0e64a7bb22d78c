/** Refuses calls of a gateway that keeps failing: an optional layer for clients. */
import { type Duration, Effect, Layer } from "effect"
import { CircuitBreaker } from "effect/persistence"
import {
  CIRCUIT_FAILURES,
  CIRCUIT_OPEN,
  circuitOpenReason,
  makeUpstreamBreaker,
  upstreamOutcome
} from "../../gateway/UpstreamHealth.ts"
import { type AttemptMiddleware, BreakerMiddleware } from "./CallInfo.ts"

export interface CircuitBreakerOptions {
  /** Consecutive failures that open the circuit. Default: 5. */
  readonly failures?: number | undefined
  /** How long an open circuit refuses attempts, or longer if the gateway asks for it. Default: 10 seconds. */
  readonly open?: Duration.Input | undefined
  /** `"gateway"` has one circuit for all calls, `"model"` one for each model. Default: `"gateway"`. */
  readonly by?: "gateway" | "model" | undefined
}

/**
 * A circuit breaker for the clients built with this layer.
 *
 * **When to use.** For many calls to one gateway: while it is down, a call fails at once instead of after a time-out.
 *
 * **Details.** It counts every attempt, including retries, by `upstreamOutcome`. While the circuit is open, attempts
 * fail with `ServerFailure` 503, whose `retryAfter` is the remaining time, and `error.notExecuted`, so that creations are
 * retried too. Then one attempt tries the gateway and closes the circuit if it succeeds.
 *
 * **Gotchas.** Clients share a circuit only if they are built with the same layer value. The state is in memory.
 *
 * ```ts
 * GatewayClient.layer(options).pipe(Layer.provide(layerCircuitBreaker({ failures: 3 })))
 * ```
 */
export const layerCircuitBreaker = (options: CircuitBreakerOptions = {}): Layer.Layer<never> =>
  Layer.effect(
    BreakerMiddleware,
    Effect.gen(function* () {
      const breaker = yield* makeUpstreamBreaker(
        options.failures ?? CIRCUIT_FAILURES,
        options.open ?? CIRCUIT_OPEN
      )
      const middleware: AttemptMiddleware = (attempt, { model }) =>
        breaker
          .execute(attempt, {
            key: (options.by === "model" && model) || "gateway",
            classify: upstreamOutcome
          })
          .pipe(
            Effect.mapError((error) =>
              error instanceof CircuitBreaker.CircuitBreakerError
                ? { reason: circuitOpenReason("The gateway", error), notExecuted: true }
                : error
            )
          )
      return middleware
    })
  ).pipe(Layer.provide(CircuitBreaker.layerStoreMemory()))
