/** How much a key may do in a minute: what was said of it, of its user, and of the whole server. */
import { Schema } from "effect"
import { Integer } from "../sql/Integer.ts"

/** At most in a minute; undefined: no limit. */
export interface RateLimits {
  readonly requestsPerMinute: number | undefined
  readonly tokensPerMinute: number | undefined
}

/** As kept with a key and with a user; null: nothing is said. */
export const limitColumns = {
  requests_per_minute: Schema.NullOr(Integer),
  tokens_per_minute: Schema.NullOr(Integer)
}

/** The largest limit that is understood: what is above might as well be none. */
export const LARGEST_LIMIT = 999_999_999_999

/** What a key and its user say. */
export interface SaidLimits {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly user_requests_per_minute: number | null
  readonly user_tokens_per_minute: number | null
}

/** What the user is allowed stands in place of the server's limit; the key's own can only lower it. */
const lower = (own: number | null, user: number | null, server: number | undefined): number | undefined => {
  const most = user ?? server
  return own === null ? most : Math.min(own, most ?? own)
}

/** The limits that hold for a key, and for who calls without one. */
export const limitsOf = (key: SaidLimits | undefined, server: RateLimits): RateLimits =>
  key === undefined
    ? server
    : {
        requestsPerMinute: lower(
          key.requests_per_minute,
          key.user_requests_per_minute,
          server.requestsPerMinute
        ),
        tokensPerMinute: lower(key.tokens_per_minute, key.user_tokens_per_minute, server.tokensPerMinute)
      }
