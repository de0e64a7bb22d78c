/** What a caller hears whom the ledger does not let through: nothing was called, nothing was paid. */
import { Failure } from "@sluice/core/contract"
import { Duration } from "effect"
import type { RateState } from "./RateWindow.ts"

/** The balance is told by `/api/user/self`, and not to whoever holds a key. */
export const quotaShort = (of: "user" | "key", units: number): Failure =>
  new Failure({
    status: 403,
    message:
      of === "user"
        ? `The balance of the account does not cover this call, which reserves ${units} units: add to it, or ask for less`
        : `The remain_quota of this API key does not cover this call, which reserves ${units} units: raise it by PUT /api/token/, or ask for less`,
    code: "insufficient_quota",
    retryable: false
  })

/** A key that was deleted since it let its caller in. */
export const keyGone = new Failure({
  status: 401,
  message: "This API key is not known any more: POST /api/token/ makes another",
  code: "invalid_api_key",
  retryable: false
})

/**
 * `reserved`: tokens that the call may come to.
 *
 * **Gotchas.** A call that reserves more than a whole minute has is let in where it is the first of one.
 */
export const tooMany = (state: RateState, reserved: number): Failure => {
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
