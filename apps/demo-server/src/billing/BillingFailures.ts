/** Errors for calls that the ledger rejects before anything is called or charged. */
import { Failure } from "@sluice/core/contract"
import { Duration } from "effect"
import type { RateState } from "./RateWindow.ts"

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** The message does not reveal the balance to the holder of a key. */
export const insufficientQuota = (of: "user" | "key", units: number): Failure =>
  new Failure({
    status: 403,
    message:
      of === "user"
        ? `The account's balance is too low: this call reserves ${plural(units, "unit")}. Top up the balance, or make a smaller request`
        : `The remain_quota of this API key is too low: this call reserves ${plural(units, "unit")}. Raise it with PUT /api/token/, or make a smaller request`,
    code: "insufficient_quota"
  })

/** `reserved`: the tokens of the call at most. */
export const rateLimited = (state: RateState, reserved: number): Failure => {
  const { requests, requestsPerMinute, resetMs, tokens, tokensPerMinute = 0 } = state
  const left = Math.max(0, tokensPerMinute - tokens)
  return new Failure({
    status: 429,
    message:
      requestsPerMinute !== undefined && requests >= requestsPerMinute
        ? `This API key is limited to ${plural(requestsPerMinute, "request")} per minute. Try again in the next minute`
        : `This API key is limited to ${plural(tokensPerMinute, "token")} per minute. ${left} ${left === 1 ? "is" : "are"} left and this call reserves ${reserved}. Try again in the next minute, or make a smaller request`,
    code: "rate_limited",
    retryAfter: Duration.millis(resetMs),
    retryable: true
  })
}
