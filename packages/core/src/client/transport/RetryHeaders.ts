/** What an answer's headers say about trying again. */
import { Duration } from "effect"

/** The longest wait that is believed. Nobody waits longer in a call; a program may want to say so to a person. */
export const RETRY_AFTER_MAX = Duration.hours(24)

/**
 * How long the gateway asks to wait: `retry-after-ms`, else `retry-after` as seconds or as a date.
 *
 * From 0 to `RETRY_AFTER_MAX`, whatever is asked; undefined when nothing is, or nothing that can be understood.
 */
export const retryAfter = (
  headers: Readonly<Record<string, string | undefined>>,
  nowMillis: number
): Duration.Duration | undefined => {
  const asked = askedFor(headers, nowMillis)
  return asked && Duration.min(asked, RETRY_AFTER_MAX)
}

const askedFor = (
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
