/** What an answer's headers say about trying again. */
import { Duration } from "effect"

/**
 * How long the gateway asks to wait: `retry-after-ms`, else `retry-after` as seconds or as a date.
 *
 * Never negative; undefined when nothing is asked, or nothing that can be understood.
 */
export const retryAfter = (
  headers: Readonly<Record<string, string | undefined>>,
  nowMillis: number
): Duration.Duration | undefined => {
  const millis = number(headers["retry-after-ms"])
  if (millis !== undefined) return Duration.millis(millis)
  const value = headers["retry-after"]
  const seconds = number(value)
  if (seconds !== undefined) return Duration.seconds(seconds)
  const date = value !== undefined && HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Duration.millis(Math.max(0, date - nowMillis))
}

/** `x-should-retry`, where it is sent. */
export const shouldRetry = (headers: Readonly<Record<string, string | undefined>>): boolean | undefined => {
  const value = headers["x-should-retry"]
  return value === "true" ? true : value === "false" ? false : undefined
}

/** `Date.parse` takes much for a date: "-5" is one of 2001. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d/

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
