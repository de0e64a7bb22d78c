/** The rate limits of a key: its own, its user's, and the server's. */
import { Schema } from "effect"
import { Integer } from "../sql/Integer.ts"

/** Maximum per minute; undefined: no limit. */
export interface RateLimits {
  readonly requestsPerMinute: number | undefined
  readonly tokensPerMinute: number | undefined
}

/** Columns of keys and users; null: not set. */
export const limitColumns = {
  requests_per_minute: Schema.NullOr(Integer),
  tokens_per_minute: Schema.NullOr(Integer)
}

/** The largest accepted limit. */
export const LARGEST_LIMIT = 999_999_999_999

/** The limits set for a key and its user. */
export interface ConfiguredLimits {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly user_requests_per_minute: number | null
  readonly user_tokens_per_minute: number | null
}

/** The user's limit replaces the server's. The key's own limit can only lower it. */
const effectiveLimit = (own: number | null, user: number | null, server: number | undefined) => {
  const most = user ?? server
  return own === null ? most : Math.min(own, most ?? own)
}

/** The effective limits of a key. Without a key: the server's. */
export const limitsOf = (key: ConfiguredLimits | undefined, server: RateLimits): RateLimits => {
  if (key === undefined) return server
  const { requests_per_minute, tokens_per_minute, user_requests_per_minute, user_tokens_per_minute } = key
  return {
    requestsPerMinute: effectiveLimit(
      requests_per_minute,
      user_requests_per_minute,
      server.requestsPerMinute
    ),
    tokensPerMinute: effectiveLimit(tokens_per_minute, user_tokens_per_minute, server.tokensPerMinute)
  }
}
