/** What a caller hears whom the ledger does not let through: nothing was called, nothing was paid. */
import { Failure } from "@sluice/core"
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

export const tooMany = ({ resetMs, requests, requestsPerMinute }: RateState): Failure => {
  const ofRequests = requestsPerMinute !== undefined && requests >= requestsPerMinute
  return new Failure({
    status: 429,
    message: `This API key has made all the ${ofRequests ? "requests" : "tokens"} of this minute: wait, or make ${ofRequests ? "fewer" : "shorter"} ones`,
    code: "rate_limited",
    retryAfter: Duration.millis(resetMs),
    retryable: true
  })
}
