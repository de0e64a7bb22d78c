/** Rate limits of keys: fixed windows of a minute, counted in the transaction of the reservation. */
import type { RateLimits } from "../accounts/KeyLimits.ts"
import { query, type SqlQuery, sqlQuery, type SqlStep, write } from "../sql/SqlStep.ts"

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
export const limitsForNextCall = (
  { requestsPerMinute, tokensPerMinute }: RateLimits,
  own: CallCount,
  tokens: number
): RateLimits => ({
  requestsPerMinute: requestsPerMinute && requestsPerMinute + own.requests,
  tokensPerMinute:
    own.requests === 0 ? tokensPerMinute : tokensPerMinute && Math.max(tokensPerMinute, tokens) + own.tokens
})

/** Whether the row is of another minute, or has no call. The next minute counts as this one, because a server's clock may be ahead. */
const IS_OTHER = `(rate_windows.requests = 0 OR rate_windows.starts_at < excluded.starts_at
  OR rate_windows.starts_at > excluded.starts_at + ${WINDOW_MS})`

/** Calls of a key that are counted together. */
export interface CountedCalls {
  readonly key: number
  /** The tokens of each call. */
  readonly tokens: ReadonlyArray<number>
  readonly limits: RateLimits
  /** Epoch milliseconds. */
  readonly now: number
}

const sum = (tokens: ReadonlyArray<number>) => tokens.reduce((total, one) => total + one, 0)
const windowStart = (now: number) => now - (now % WINDOW_MS)

/** Whether several calls together exceed a limit. A single call is admitted if it is the first of its minute. */
export const exceedLimits = ({ limits, tokens }: CountedCalls): boolean => {
  const { requestsPerMinute = UNLIMITED, tokensPerMinute = UNLIMITED } = limits
  return tokens.length > 1 && (tokens.length > requestsPerMinute || sum(tokens) > tokensPerMinute)
}

/** Counts calls if they are within the limits. Returns the window's counts after them, or no row. */
export const countCalls = ({ key, limits, now, tokens }: CountedCalls): SqlQuery =>
  sqlQuery(
    `INSERT INTO rate_windows (token_id, starts_at, requests, tokens) VALUES (?, ?, ?, ?)
    ON CONFLICT (token_id) DO UPDATE SET
      requests = CASE WHEN ${IS_OTHER} THEN excluded.requests ELSE rate_windows.requests + excluded.requests END,
      tokens = CASE WHEN ${IS_OTHER} THEN excluded.tokens ELSE rate_windows.tokens + excluded.tokens END,
      starts_at = excluded.starts_at
    WHERE ${IS_OTHER} OR (
      rate_windows.requests + excluded.requests <= ? AND rate_windows.tokens + excluded.tokens <= ?)
    RETURNING requests, tokens`,
    key,
    windowStart(now),
    tokens.length,
    sum(tokens),
    limits.requestsPerMinute ?? UNLIMITED,
    limits.tokensPerMinute ?? UNLIMITED
  )

/** Undoes `countCalls` in the same transaction. */
export const uncountCalls = ({ key, tokens }: CountedCalls): SqlStep<void> =>
  write(
    "UPDATE rate_windows SET requests = requests - ?, tokens = tokens - ? WHERE token_id = ?",
    tokens.length,
    sum(tokens),
    key
  )

const stateOf = (
  { limits, now }: CountedCalls,
  { requests, tokens }: CallCount,
  admitted: boolean
): RateState => ({
  ...limits,
  admitted,
  requests: Number(requests),
  tokens: Number(tokens),
  resetMs: windowStart(now) + WINDOW_MS - now
})

/** The states after each of the admitted calls, computed from the counts after all of them. */
export const admittedStates = (calls: CountedCalls, total: CallCount): ReadonlyArray<RateState> => {
  let later = sum(calls.tokens)
  return calls.tokens.map((one, at) => {
    later -= one
    const requests = Number(total.requests) - (calls.tokens.length - 1 - at)
    return stateOf(calls, { requests, tokens: Number(total.tokens) - later }, true)
  })
}

/** The state for a call that was not admitted. */
export function* refusedState(calls: CountedCalls): SqlStep<RateState> {
  const [row] = yield* query<CallCount>(
    "SELECT requests, tokens FROM rate_windows WHERE token_id = ?",
    calls.key
  )
  return stateOf(calls, row ?? { requests: 0, tokens: 0 }, false)
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
