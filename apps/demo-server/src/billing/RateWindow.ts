/** How often a key may call, and for how many tokens: windows of a minute, in the transaction that reserves. */
import type { RateLimits } from "../accounts/KeyLimits.ts"
import { query, type SqlStep } from "../sql/SqlStep.ts"

export const WINDOW_MS = 60_000

/** What is left of a window after a call, or what it lacked. */
export interface RateState extends RateLimits {
  readonly admitted: boolean
  readonly requests: number
  readonly tokens: number
  /** Until the next window. */
  readonly resetMs: number
}

/** A minute of a key, and what it has called in it. */
export interface Window {
  /** Epoch milliseconds. */
  readonly start: number
  readonly requests: number
  readonly tokens: number
}

const ANY = Number.MAX_SAFE_INTEGER

/** The start of the window that is open. */
export const windowOf = (now: number): number => now - (now % WINDOW_MS)

/** Whether another call of a window that has some already is let in, as `countCall` has it. */
export const fits = (
  window: Window,
  tokens: number,
  { requestsPerMinute = ANY, tokensPerMinute = ANY }: RateLimits
): boolean => window.requests < requestsPerMinute && window.tokens + tokens <= tokensPerMinute

/** What was counted of calls. */
export type Counted = Pick<Window, "requests" | "tokens">

/**
 * The limits of one more call, of so many tokens, in whose way the calls that it belongs to do not stand: together they
 * are let in as the first of them was.
 */
export const limitsBeside = (
  { requestsPerMinute, tokensPerMinute }: RateLimits,
  own: Counted,
  tokens: number
): RateLimits => ({
  requestsPerMinute: requestsPerMinute && requestsPerMinute + own.requests,
  tokensPerMinute:
    own.requests === 0 ? tokensPerMinute : tokensPerMinute && Math.max(tokensPerMinute, tokens) + own.tokens
})

export const stateOf = (
  limits: RateLimits,
  { requests, start, tokens }: Window,
  admitted: boolean,
  now: number
): RateState => ({ ...limits, admitted, requests, tokens, resetMs: start + WINDOW_MS - now })

/** Writes a window as it is. */
export function* putWindow(key: number, { requests, start, tokens }: Window): SqlStep<void> {
  yield* query(
    `INSERT INTO rate_windows (token_id, starts_at, requests, tokens) VALUES (?, ?, ?, ?)
    ON CONFLICT (token_id) DO UPDATE SET
      starts_at = excluded.starts_at, requests = excluded.requests, tokens = excluded.tokens`,
    key,
    start,
    requests,
    tokens
  )
}

/** Not the minute's that is open, nor the next one's of a server whose clock is a little ahead. */
const IS_OTHER = `(rate_windows.starts_at < excluded.starts_at
  OR rate_windows.starts_at > excluded.starts_at + ${WINDOW_MS})`

/**
 * Counts a call of a key, unless it goes over a limit: nothing is counted then.
 *
 * A window that begins later than the next one was written by a clock that was ahead, and is begun anew.
 *
 * **Details.** A call of more tokens than a whole minute has is let in when it is the first of its minute: else it never
 * would be.
 */
export function* countCall(key: number, tokens: number, limits: RateLimits, now: number): SqlStep<RateState> {
  const start = windowOf(now)
  const { requestsPerMinute = ANY, tokensPerMinute = ANY } = limits
  const counted = yield* query<Omit<Window, "start">>(
    `INSERT INTO rate_windows (token_id, starts_at, requests, tokens) VALUES (?, ?, 1, ?)
    ON CONFLICT (token_id) DO UPDATE SET
      requests = CASE WHEN ${IS_OTHER} THEN 1 ELSE rate_windows.requests + 1 END,
      tokens = CASE WHEN ${IS_OTHER} THEN excluded.tokens ELSE rate_windows.tokens + excluded.tokens END,
      starts_at = excluded.starts_at
    WHERE ${IS_OTHER} OR (
      rate_windows.requests < ? AND rate_windows.tokens + excluded.tokens <= ?)
    RETURNING requests, tokens`,
    key,
    start,
    tokens,
    requestsPerMinute,
    tokensPerMinute
  )
  const admitted = counted.length > 0
  const [row] = admitted
    ? counted
    : yield* query<Omit<Window, "start">>("SELECT requests, tokens FROM rate_windows WHERE token_id = ?", key)
  const [requests, of] = [Number(row?.requests ?? 0), Number(row?.tokens ?? 0)]
  return stateOf(limits, { start, requests, tokens: of }, admitted, now)
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)}s`

/** What the answer says of the limits; nothing where there are none. */
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
