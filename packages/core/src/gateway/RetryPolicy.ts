/** Retry policies of calls. */
import { Context, Duration, Effect, Schedule } from "effect"
import type { GatewayError, GatewayReason } from "../contract/GatewayError.ts"

/** Which failures are retried, how often, how soon and for how long. */
export interface RetryPolicy {
  /** The reasons to retry, if the error `isRetryable`. Default: `RETRY_REASONS`. */
  readonly reasons?: ReadonlyArray<GatewayReason["_tag"]>
  /** The most retries after the first attempt. */
  readonly times: number
  /** The first delay. Each next one is twice as long, ±20 %. */
  readonly base: Duration.Input
  /** The longest delay, unless the gateway asks for more. */
  readonly cap: Duration.Input
  /** The limit from the first failure to the start of the last attempt. A longer delay ends the retries. */
  readonly budget: Duration.Input
}

/** Transient reasons: rate limits, 5xx, no connection, a timed-out attempt. */
export const RETRY_REASONS = [
  "RateLimited",
  "ServerFailure",
  "Unreachable",
  "TimedOut"
] as const satisfies ReadonlyArray<GatewayReason["_tag"]>

/** Three retries after about 0.25, 0.5 and 1 s, all started within 30 s. */
export const RETRY: RetryPolicy = {
  reasons: RETRY_REASONS,
  times: 3,
  base: "250 millis",
  cap: "8 seconds",
  budget: "30 seconds"
}

/** No retries. For providers inside the server, where failover retries. */
export const RETRY_NEVER: RetryPolicy = { ...RETRY, times: 0 }

/** Overrides parts of the client's policy for the calls in scope. */
export const CurrentRetryPolicy = Context.Reference<Partial<RetryPolicy> | undefined>(
  "@sluice/core/CurrentRetryPolicy",
  { defaultValue: () => undefined }
)

/**
 * Overrides parts of the client's retry policy for the calls of one effect.
 *
 * **Gotchas.** A creation that may have been executed is never repeated. For a stream, provide `CurrentRetryPolicy` with
 * `Stream.provideService`.
 *
 * ```ts
 * gateway.rerank(request).pipe(withRetryPolicy({ times: 1, reasons: ["RateLimited"] }))
 * ```
 */
export const withRetryPolicy =
  (policy: Partial<RetryPolicy>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, CurrentRetryPolicy, policy)

/** Delays that start at `base` and double up to `cap`, ±20 %. */
export const backOff = (base: Duration.Input, cap: Duration.Input): Schedule.Schedule<Duration.Duration> => {
  const longest = Duration.fromInputUnsafe(cap)
  return Schedule.exponential(base).pipe(
    Schedule.jittered,
    Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, longest)))
  )
}

/**
 * The schedule of a policy.
 *
 * **Details.** Invalid requests, credentials, quotas and invalid responses are never retried. `retry-after-ms` or
 * `retry-after` is the least delay. `x-should-retry` decides if it is present.
 *
 * **Gotchas.** A requested delay beyond the budget ends the retries at once; the error keeps it as `retryAfter`. A
 * creation that may have been executed is not retried, nor a call whose task goes on, unless the gateway honours
 * idempotency keys: then the client passes its own `isRetryable`.
 */
export const retrySchedule = (
  policy: RetryPolicy,
  isRetryable = (error: GatewayError): boolean => error.isRetryable
): Schedule.Schedule<Duration.Duration, GatewayError> => {
  const budget = Duration.toMillis(policy.budget)
  const reasons: ReadonlySet<string> = new Set(policy.reasons ?? RETRY_REASONS)
  return backOff(policy.base, policy.cap).pipe(
    Schedule.setInputType<GatewayError>(),
    Schedule.while(({ input }) => isRetryable(input) && reasons.has(input.reason._tag)),
    Schedule.modifyDelay(({ duration, input }) =>
      Effect.succeed(Duration.max(duration, input.retryAfter ?? Duration.zero))
    ),
    Schedule.while(({ duration, elapsed }) => elapsed + Duration.toMillis(duration) <= budget),
    Schedule.upTo({ times: policy.times })
  )
}
