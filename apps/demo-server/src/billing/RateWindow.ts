/** Rate limits of keys: fixed windows of a minute, counted in the transaction of the reservation. */
import type { RateLimits } from "../accounts/KeyLimits.ts"
import { query, type SqlStep } from "../sql/SqlStep.ts"

export const WINDOW_MS = 60_000

/** A window after a call. */
export interface RateState extends RateLimits {
  readonly admitted: boolean
  readonly requests: number
  readonly tokens: number
  /** Milliseconds until the next window. */
  readonly resetMs: number
}

/** The calls of a key in a minute. */
export interface CallCount {
  readonly requests: number
  readonly tokens: number
}

const UNLIMITED = Number.MAX_SAFE_INTEGER

/** The limits for one more call of a request, whose other calls do not count. */
export const limitsBeside = (
  { requestsPerMinute, tokensPerMinute }: RateLimits,
  own: CallCount,
  tokens: number
): RateLimits => ({
  requestsPerMinute: requestsPerMinute && requestsPerMinute + own.requests,
  tokensPerMinute:
    own.requests === 0 ? tokensPerMinute : tokensPerMinute && Math.max(tokensPerMinute, tokens) + own.tokens
})

/** Whether the row is of another minute. The next minute counts as this one, because a server's clock may be ahead. */
const IS_OTHER = `(rate_windows.starts_at < excluded.starts_at
  OR rate_windows.starts_at > excluded.starts_at + ${WINDOW_MS})`

/**
 * Counts calls of a key, with the tokens of each, if they are within the limits.
 *
 * **Details.** The result for a single call says whether it is admitted. Several calls are admitted together, or the
 * result is undefined. A single call with more tokens than the limit is admitted if it is the first of its minute.
 */
export function* countCalls(
  key: number,
  tokens: ReadonlyArray<number>,
  limits: RateLimits,
  now: number
): SqlStep<ReadonlyArray<RateState> | undefined> {
  const calls = tokens.length
  const sum = tokens.reduce((total, one) => total + one, 0)
  const { requestsPerMinute = UNLIMITED, tokensPerMinute = UNLIMITED } = limits
  if (calls > 1 && (calls > requestsPerMinute || sum > tokensPerMinute)) return undefined
  const start = now - (now % WINDOW_MS)
  const counted = yield* query<CallCount>(
    `INSERT INTO rate_windows (token_id, starts_at, requests, tokens) VALUES (?, ?, ?, ?)
    ON CONFLICT (token_id) DO UPDATE SET
      requests = CASE WHEN ${IS_OTHER} THEN excluded.requests ELSE rate_windows.requests + excluded.requests END,
      tokens = CASE WHEN ${IS_OTHER} THEN excluded.tokens ELSE rate_windows.tokens + excluded.tokens END,
      starts_at = excluded.starts_at
    WHERE ${IS_OTHER} OR (
      rate_windows.requests + excluded.requests <= ? AND rate_windows.tokens + excluded.tokens <= ?)
    RETURNING requests, tokens`,
    key,
    start,
    calls,
    sum,
    requestsPerMinute,
    tokensPerMinute
  )
  const stateOf = (count: CallCount | undefined, admitted: boolean): RateState => ({
    ...limits,
    admitted,
    requests: Number(count?.requests ?? 0),
    tokens: Number(count?.tokens ?? 0),
    resetMs: start + WINDOW_MS - now
  })
  const [total] = counted
  if (total === undefined) {
    if (calls > 1) return undefined
    const [row] = yield* query<CallCount>("SELECT requests, tokens FROM rate_windows WHERE token_id = ?", key)
    return [stateOf(row, false)]
  }
  let later = sum
  return tokens.map((one, at) => {
    later -= one
    const requests = Number(total.requests) - (calls - 1 - at)
    return stateOf({ requests, tokens: Number(total.tokens) - later }, true)
  })
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)}s`

/** The rate limit headers of a response. */
export const rateHeaders = (state: RateState): Record<string, string> => ({
  ...(state.requestsPerMinute !== undefined && {
    "x-ratelimit-limit-requests": String(state.requestsPerMinute),
    "x-ratelimit-remaining-requests": String(Math.max(0, state.requestsPerMinute - state.requests)),
    "x-ratelimit-reset-requests": seconds(state.resetMs)
  }),
  ...(state.tokensPerMinute !== undefined && {
    "x-ratelimit-limit-tokens": String(state.tokensPerMinute),
    "x-ratelimit-remaining-tokens": String(Math.max(0, state.tokensPerMinute - state.tokens)),
    "x-ratelimit-reset-tokens": seconds(state.resetMs)
  })
})
