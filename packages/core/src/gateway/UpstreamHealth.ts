/** The circuit breaker of an upstream: of a gateway in the client, of a provider in the server. */
import { Duration, Exit } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { type GatewayReason, ServerFailure } from "../contract/GatewayError.ts"

/** Consecutive failures that open a circuit. */
export const CIRCUIT_FAILURES = 5

/** How long an open circuit refuses calls, before one call tries the upstream. */
export const CIRCUIT_OPEN: Duration.Duration = Duration.seconds(10)

export const makeUpstreamBreaker = (failures: number, open: Duration.Input) =>
  CircuitBreaker.make({
    tripPolicy: CircuitBreaker.consecutive(failures),
    openDuration: open,
    // An upstream that asks for a longer pause is tried after this time.
    maxOpenDuration: "5 minutes"
  })

/**
 * What an attempt says about the health of its upstream.
 *
 * **Details.** No connection, a time-out, a status of 500 or above and an invalid response are failures. An invalid
 * response counts because its usual causes affect every call: the login page of a proxy, a wrong address, a broken
 * deployment. A refusal (4xx) is a success: the upstream works. An error of the gateway with a lower status does not tell
 * whose fault it is; it is ignored, as are interruptions and attempts that were refused before they were sent (`local`).
 */
export const upstreamOutcome = (
  exit: Exit.Exit<unknown, { readonly reason: GatewayReason; readonly local?: boolean }>
): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  const error = Exit.findErrorOption(exit)
  if (error._tag === "None" || error.value.local === true) return CircuitBreaker.ignored
  const { reason } = error.value
  switch (reason._tag) {
    case "Unreachable":
    case "TimedOut":
    case "InvalidResponse":
      return CircuitBreaker.failure()
    case "ServerFailure":
      return reason.status < 500
        ? CircuitBreaker.ignored
        : CircuitBreaker.failure({ retryAfter: reason.retryAfter })
    default:
      return CircuitBreaker.success
  }
}

/** The reason of a call that an open circuit refused. It was not sent, and is retryable after `retryAfter`. */
export const circuitOpenReason = (
  upstream: string,
  { reason }: CircuitBreaker.CircuitBreakerError
): ServerFailure =>
  new ServerFailure({
    message: `${upstream} has failed repeatedly and is not called for now (circuit breaker).`,
    status: 503,
    // One more millisecond, because timers may be early by less than one. A second for the call that tries the upstream.
    retryAfter:
      reason._tag === "CircuitOpen"
        ? Duration.millis(Math.floor(Duration.toMillis(reason.retryAfter)) + 1)
        : Duration.seconds(1)
  })
