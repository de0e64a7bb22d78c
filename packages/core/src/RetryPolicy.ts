/** When a failed call is made again, and how long that may go on. */
import { Duration, Effect, Schedule } from "effect"
import type { GatewayError } from "./GatewayError.ts"

/** How often, how soon and for how long a call is tried again. */
export interface RetryPolicy {
  /** Attempts after the first, at most. */
  readonly times: number
  /** The first wait; each next one is twice as long, ±20 %. */
  readonly base: Duration.Input
  /** The longest wait of our own choosing. */
  readonly cap: Duration.Input
  /** From the first failure to the start of the last attempt, at most. A wait that does not fit is not begun. */
  readonly budget: Duration.Input
}

/** Three more attempts after about 0.25, 0.5 and 1 s, all begun within 30 s. */
export const RETRY: RetryPolicy = { times: 3, base: "250 millis", cap: "8 seconds", budget: "30 seconds" }

/** Every call once. Inside a provider failover decides, not the client. */
export const RETRY_NEVER: RetryPolicy = { ...RETRY, times: 0 }

/**
 * The schedule of a policy.
 *
 * **Details.** Only reasons that are retryable are tried again: rate limits, 5xx, nobody answering, an attempt out of
 * time; never a request that is wrong, a credential, a quota, or an answer that cannot be trusted. What the gateway
 * asked for (`retry-after-ms`, `retry-after`) is the least wait, and `x-should-retry` decides where it is sent.
 *
 * **Gotchas.** A gateway that asks for a longer wait than the budget ends the retries at once; the error's `retryAfter`
 * keeps what it asked for. Calls that create something paid for (images, videos) are not to be given a schedule at all.
 */
export const retrySchedule = (policy: RetryPolicy): Schedule.Schedule<Duration.Duration, GatewayError> => {
  const cap = Duration.fromInputUnsafe(policy.cap)
  const budget = Duration.toMillis(policy.budget)
  return Schedule.exponential(policy.base).pipe(
    Schedule.jittered,
    Schedule.setInputType<GatewayError>(),
    Schedule.while(({ input }) => input.isRetryable),
    Schedule.modifyDelay(({ duration, input }) =>
      Effect.succeed(Duration.max(Duration.min(duration, cap), input.retryAfter ?? Duration.zero))
    ),
    Schedule.while(({ duration, elapsed }) => elapsed + Duration.toMillis(duration) <= budget),
    Schedule.upTo({ times: policy.times })
  )
}
