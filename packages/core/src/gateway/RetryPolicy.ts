/** When a failed call is made again, and how long that may go on. */
import { Context, Duration, Effect, Schedule } from "effect"
import type { GatewayError, GatewayReason } from "../contract/GatewayError.ts"

/** Which failures are tried again, how often, how soon and for how long. */
export interface RetryPolicy {
  /**
   * The reasons that are tried again, as far as the error says itself that it may help (`isRetryable`).
   * `RETRY_REASONS` when not given.
   */
  readonly reasons?: ReadonlyArray<GatewayReason["_tag"]>
  /** Attempts after the first, at most. */
  readonly times: number
  /** The first wait; each next one is twice as long, ±20 %. */
  readonly base: Duration.Input
  /** The longest wait of our own choosing. */
  readonly cap: Duration.Input
  /** From the first failure to the start of the last attempt, at most. A wait that does not fit is not begun. */
  readonly budget: Duration.Input
}

/** Rate limits, 5xx, nobody answering, an attempt out of time: what may pass by itself. */
export const RETRY_REASONS = [
  "RateLimited",
  "ServerFailure",
  "Unreachable",
  "TimedOut"
] as const satisfies ReadonlyArray<GatewayReason["_tag"]>

/** Three more attempts after about 0.25, 0.5 and 1 s, all begun within 30 s. */
export const RETRY: RetryPolicy = {
  reasons: RETRY_REASONS,
  times: 3,
  base: "250 millis",
  cap: "8 seconds",
  budget: "30 seconds"
}

/** Every call once. Inside a provider failover decides, not the client. */
export const RETRY_NEVER: RetryPolicy = { ...RETRY, times: 0 }

/** What replaces the client's policy, wholly or in part, for the calls that see it. */
export const CurrentRetryPolicy = Context.Reference<Partial<RetryPolicy> | undefined>(
  "@sluice/core/CurrentRetryPolicy",
  { defaultValue: () => undefined }
)

/**
 * Replaces the client's retry policy for the calls of one effect; what is not given stays the client's.
 *
 * **Gotchas.** No policy makes a creation be repeated that may have happened. For a stream, give `CurrentRetryPolicy`
 * by `Stream.provideService`.
 *
 * ```ts
 * gateway.rerank(request).pipe(withRetryPolicy({ times: 1, reasons: ["RateLimited"] }))
 * ```
 */
export const withRetryPolicy =
  (policy: Partial<RetryPolicy>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, CurrentRetryPolicy, policy)

/**
 * The schedule of a policy.
 *
 * **Details.** Never tried again are a request that is wrong, a credential, a quota, or an answer that cannot be
 * trusted. What the gateway asked for (`retry-after-ms`, `retry-after`) is the least wait, and `x-should-retry` decides
 * where it is sent.
 *
 * **Gotchas.** A gateway that asks for a longer wait than the budget ends the retries at once; the error's `retryAfter`
 * keeps what it asked for. A creation that may have happened is not tried again, nor a call whose task goes on; the client
 * gives `isRetryable` of its own where a gateway honours its key.
 */
export const retrySchedule = (
  policy: RetryPolicy,
  isRetryable = (error: GatewayError): boolean => error.isRetryable
): Schedule.Schedule<Duration.Duration, GatewayError> => {
  const cap = Duration.fromInputUnsafe(policy.cap)
  const budget = Duration.toMillis(policy.budget)
  const reasons: ReadonlySet<string> = new Set(policy.reasons ?? RETRY_REASONS)
  return Schedule.exponential(policy.base).pipe(
    Schedule.jittered,
    Schedule.setInputType<GatewayError>(),
    Schedule.while(({ input }) => isRetryable(input) && reasons.has(input.reason._tag)),
    Schedule.modifyDelay(({ duration, input }) =>
      Effect.succeed(Duration.max(Duration.min(duration, cap), input.retryAfter ?? Duration.zero))
    ),
    Schedule.while(({ duration, elapsed }) => elapsed + Duration.toMillis(duration) <= budget),
    Schedule.upTo({ times: policy.times })
  )
}
