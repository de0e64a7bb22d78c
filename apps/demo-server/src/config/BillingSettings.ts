/** Environment variables for prices, rate limits, storage and the retention of charges. */
import { Config, Effect } from "effect"
import { resolve } from "node:path"
import { textVariable, wholeNumber } from "./Variables.ts"

/** More than the year that usage reports cover. */
const KEEP_DAYS = 400

/** Tasks are kept for a week, and their charges at least as long. */
const MIN_KEEP_DAYS = 7

/** 10 GiB. */
const STORAGE_MB = 10_240

export const billingVariables = Config.unwrap({
  prices: textVariable("SLUICE_PRICES"),
  requests: textVariable("SLUICE_REQUESTS_PER_MINUTE"),
  tokens: textVariable("SLUICE_TOKENS_PER_MINUTE"),
  keep: textVariable("SLUICE_KEEP_DAYS"),
  storage: textVariable("SLUICE_STORAGE_MB")
})

const limit = (name: string, value: string | number) =>
  wholeNumber(name, value, 1, 999_999_999_999, "from 1. Unset it for the default")

const optionalLimit = (name: string, value: string | undefined) =>
  value === undefined ? Effect.undefined : limit(name, value)

export const parseBilling = Effect.fnUntraced(function* (found: Config.Success<typeof billingVariables>) {
  return {
    prices: found.prices === undefined ? undefined : resolve(found.prices),
    requestsPerMinute: yield* optionalLimit("SLUICE_REQUESTS_PER_MINUTE", found.requests),
    tokensPerMinute: yield* optionalLimit("SLUICE_TOKENS_PER_MINUTE", found.tokens),
    /** Bytes that one user may store. */
    storageBytes: 1024 * 1024 * (yield* limit("SLUICE_STORAGE_MB", found.storage ?? STORAGE_MB)),
    keepDays: yield* wholeNumber(
      "SLUICE_KEEP_DAYS",
      found.keep ?? KEEP_DAYS,
      MIN_KEEP_DAYS,
      99_999,
      `of days, at least ${MIN_KEEP_DAYS}`
    )
  }
})

export type BillingSettings = Effect.Success<ReturnType<typeof parseBilling>>
