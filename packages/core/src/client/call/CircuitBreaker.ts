/** Leaves a gateway that does not work alone for a while: an opt-in layer before a client's attempts. */
import { Duration, Effect, Exit, Layer } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { ServerFailure, Unreachable } from "../../contract/GatewayError.ts"
import type { CallResult, AttemptFailure } from "../transport/CallResult.ts"
import { BreakerMiddleware, type AttemptMiddleware } from "./CallInfo.ts"

export interface CircuitBreakerOptions {
  /** Attempts in a row that find no working gateway, after which none is made; 5 when not given. */
  readonly failures?: number
  /** How long none is made, before one tries; 10 s when not given, or longer where the gateway asks for it. */
  readonly open?: Duration.Input
  /** What shares a circuit: `"gateway"` (when not given) one for all calls, `"model"` one for each model. */
  readonly by?: "gateway" | "model"
}

const FAILURES = 5
const OPEN: Duration.Input = "10 seconds"
/** A gateway that asks to be left alone for longer is tried all the same. */
const OPEN_MAX: Duration.Input = "5 minutes"

/**
 * What counts against a gateway: nobody answering, 5xx, an attempt out of time. A refusal shows that it works; what was
 * refused here, by a limit of calls for one, shows nothing.
 */
const outcomeOf = <A>(exit: Exit.Exit<CallResult<A>, AttemptFailure>): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  const problem = Exit.findErrorOption(exit)
  if (problem._tag === "None" || problem.value.local === true) return CircuitBreaker.ignored
  const { reason } = problem.value
  if (reason._tag === "Unreachable" || reason._tag === "TimedOut") return CircuitBreaker.failure()
  if (reason._tag !== "ServerFailure" || reason.status < 500) return CircuitBreaker.success
  const { retryAfter } = reason
  return CircuitBreaker.failure(retryAfter && { retryAfter })
}

/** Not made, and retryable: the retry policy waits until the circuit lets one through, if its budget allows. */
const leftAlone = ({ reason }: CircuitBreaker.CircuitBreakerError): AttemptFailure => ({
  reason:
    reason._tag === "CircuitOpen"
      ? new ServerFailure({
          message: "The gateway has failed repeatedly and is left alone (circuit breaker).",
          status: 503,
          // Timers may be early by less than a millisecond: who comes back then is not to be refused once more.
          retryAfter: Duration.millis(Math.floor(Duration.toMillis(reason.retryAfter)) + 1)
        })
      : new Unreachable({
          message:
            "The gateway has failed repeatedly; one call tries whether it works again (circuit breaker)."
        }),
  requestId: undefined,
  notExecuted: true
})

/**
 * A circuit breaker for the clients that are given this layer.
 *
 * **When to use.** Where many calls go to one gateway: one that is down then costs each call nothing instead of a
 * time-out.
 *
 * **Details.** It sees every attempt, retries too, with its time-out. While it is open an attempt fails at once with
 * `ServerFailure` 503, whose `retryAfter` is the time left; `error.notExecuted` is true, so that creations wait as well.
 * One attempt then tries; if it succeeds, all go on.
 *
 * **Gotchas.** Clients share a circuit only if they are built with one layer value. State lives in the process.
 *
 * ```ts
 * GatewayClient.layer(options).pipe(Layer.provide(layerCircuitBreaker({ failures: 3 })))
 * ```
 */
export const layerCircuitBreaker = (options: CircuitBreakerOptions = {}): Layer.Layer<never> =>
  Layer.effect(
    BreakerMiddleware,
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make({
        tripPolicy: CircuitBreaker.consecutive(options.failures ?? FAILURES),
        openDuration: options.open ?? OPEN,
        maxOpenDuration: OPEN_MAX
      })
      const middleware: AttemptMiddleware = (attempt, { model }) =>
        breaker
          .execute(attempt, { key: (options.by === "model" && model) || "gateway", classify: outcomeOf })
          .pipe(
            Effect.mapError((error) =>
              error instanceof CircuitBreaker.CircuitBreakerError ? leftAlone(error) : error
            )
          )
      return middleware
    })
  ).pipe(Layer.provide(CircuitBreaker.layerStoreMemory()))
