/** Environment variables for prices, rate limits, storage and the retention of charges. */
import { Effect } from "effect"
import { resolve } from "node:path"
import { textVariable, wholeNumber } from "./Variables.ts"

/** More than the year that usage reports cover. */
const KEEP_DAYS = 400

/** Tasks are kept for a week, and their charges at least as long. */
const MIN_KEEP_DAYS = 7

/** 10 GiB. */
const STORAGE_MB = 10_240

const limit = <Default extends number | undefined>(name: string, otherwise: Default) =>
  wholeNumber(name, otherwise, 1, 999_999_999_999, "from 1. Unset it for the default")

export const readBilling = Effect.gen(function* () {
  const prices = yield* textVariable("SLUICE_PRICES")
  return {
    prices: prices === undefined ? undefined : resolve(prices),
    requestsPerMinute: yield* limit("SLUICE_REQUESTS_PER_MINUTE", undefined),
    tokensPerMinute: yield* limit("SLUICE_TOKENS_PER_MINUTE", undefined),
    /** Bytes that one user may store. */
    storageBytes: 1024 * 1024 * (yield* limit("SLUICE_STORAGE_MB", STORAGE_MB)),
    keepDays: yield* wholeNumber(
      "SLUICE_KEEP_DAYS",
      KEEP_DAYS,
      MIN_KEEP_DAYS,
      99_999,
      `of days, at least ${MIN_KEEP_DAYS}`
    )
  }
})

export type BillingSettings = Effect.Success<typeof readBilling>
