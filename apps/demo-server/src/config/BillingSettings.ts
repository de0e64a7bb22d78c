/** Environment variables for prices, rate limits, storage and the retention of charges. */
import { Config, Effect } from "effect"
import { resolve } from "node:path"
import { invalidVariable, textVariable } from "./Variables.ts"

/** More than the year that usage reports cover. */
const KEEP_DAYS = 400

/** Tasks are kept for a week, and their charges at least as long. */
const MIN_KEEP_DAYS = 7

/** 10 GiB. */
const STORAGE_MB = "10240"

export const billingVariables = Config.unwrap({
  prices: textVariable("SLUICE_PRICES"),
  requests: textVariable("SLUICE_REQUESTS_PER_MINUTE"),
  tokens: textVariable("SLUICE_TOKENS_PER_MINUTE"),
  keep: textVariable("SLUICE_KEEP_DAYS"),
  storage: textVariable("SLUICE_STORAGE_MB")
})

const parseLimit = (name: string, value: string | undefined) =>
  value === undefined
    ? Effect.succeed(undefined)
    : /^[1-9]\d{0,11}$/.test(value.trim())
      ? Effect.succeed(Number(value))
      : invalidVariable(`${name} must be a whole number from 1. Unset it for the default`)

const parseKeepDays = (value = String(KEEP_DAYS)) =>
  /^\d{1,5}$/.test(value.trim()) && Number(value) >= MIN_KEEP_DAYS
    ? Effect.succeed(Number(value))
    : invalidVariable(`SLUICE_KEEP_DAYS must be a whole number of days, at least ${MIN_KEEP_DAYS}`)

export const parseBilling = Effect.fnUntraced(function* (found: Config.Success<typeof billingVariables>) {
  return {
    prices: found.prices === undefined ? undefined : resolve(found.prices),
    requestsPerMinute: yield* parseLimit("SLUICE_REQUESTS_PER_MINUTE", found.requests),
    tokensPerMinute: yield* parseLimit("SLUICE_TOKENS_PER_MINUTE", found.tokens),
    /** Bytes that one user may store. */
    storageBytes: 1024 * 1024 * ((yield* parseLimit("SLUICE_STORAGE_MB", found.storage ?? STORAGE_MB)) ?? 0),
    keepDays: yield* parseKeepDays(found.keep)
  }
})

export type BillingSettings = Effect.Success<ReturnType<typeof parseBilling>>
