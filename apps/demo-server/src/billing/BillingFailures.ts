/** Errors of callers whom the ledger refuses. Nothing was called, and nothing is paid. */
import { Failure } from "@sluice/core/contract"
import { Duration } from "effect"
import type { RateState } from "./RateWindow.ts"

/** The balance itself is not told: whoever holds a key must not learn it. */
export const insufficientQuota = (of: "user" | "key", units: number): Failure =>
  new Failure({
    status: 403,
    message:
      of === "user"
        ? `The balance of the account does not cover this call, which reserves ${units} units: add to it, or ask for less`
        : `The remain_quota of this API key does not cover this call, which reserves ${units} units: raise it by PUT /api/token/, or ask for less`,
    code: "insufficient_quota"
  })

/** The key was deleted after authentication. */
export const keyGone = new Failure({
  status: 401,
  message: "This API key is not known any more: POST /api/token/ makes another",
  code: "invalid_api_key"
})

/**
 * `reserved`: the tokens of the call at most.
 *
 * **Gotchas.** A call that reserves more than the limit of a minute is admitted if it is the first of one.
 */
export const rateLimited = (state: RateState, reserved: number): Failure => {
  const { requests, requestsPerMinute, resetMs, tokens, tokensPerMinute = 0 } = state
  const left = Math.max(0, tokensPerMinute - tokens)
  return new Failure({
    status: 429,
    message:
      requestsPerMinute !== undefined && requests >= requestsPerMinute
        ? `This API key has made all the ${requestsPerMinute} requests of this minute: wait, or make fewer`
        : `This API key has ${left} of the ${tokensPerMinute} tokens of this minute left, and this call reserves ${reserved}: wait for the next minute, in which a larger call is let in too when it is the first, or ask for less`,
    code: "rate_limited",
    retryAfter: Duration.millis(resetMs),
    retryable: true
  })
}
