/**
 * What calls cost and how many there may be: the variables of the environment that say so, each checked.
 *
 * The table in `Config.ts` tells what they mean.
 */
import { Config, Effect } from "effect"
import { resolve } from "node:path"
import { StartError } from "./StartError.ts"
import { textVariable } from "./TextVariable.ts"

export interface MoneySettings {
  /** A file of prices that comes before the shipped one; absolute. */
  readonly prices: string | undefined
  /** Of each API key, in a minute; undefined: any number. */
  readonly requestsPerMinute: number | undefined
  readonly tokensPerMinute: number | undefined
  /** How many days charges that have ended are kept. */
  readonly keepDays: number
}

/** More than the year that usage is told of. */
const KEEP_DAYS = 400

/** Tasks are remembered for a week: what they cost should be, too. */
const KEEP_DAYS_AT_LEAST = 7

/** To be read together with the other variables. */
export const moneyVariables = Config.unwrap({
  prices: textVariable("SLUICE_PRICES"),
  requests: textVariable("SLUICE_REQUESTS_PER_MINUTE"),
  tokens: textVariable("SLUICE_TOKENS_PER_MINUTE"),
  keep: textVariable("SLUICE_KEEP_DAYS")
})

const limitOf = (name: string, value: string | undefined) =>
  value === undefined
    ? Effect.succeed(undefined)
    : /^[1-9]\d{0,11}$/.test(value.trim())
      ? Effect.succeed(Number(value))
      : Effect.fail(
          new StartError({ message: `${name} is no limit: give a whole number from 1, or unset it for none` })
        )

const keepDaysOf = (value = String(KEEP_DAYS)) =>
  /^\d{1,5}$/.test(value.trim()) && Number(value) >= KEEP_DAYS_AT_LEAST
    ? Effect.succeed(Number(value))
    : Effect.fail(
        new StartError({
          message: `SLUICE_KEEP_DAYS is not how long charges are kept: give a whole number of days from ${KEEP_DAYS_AT_LEAST}`
        })
      )

/** The settings, or what is wrong with them. */
export const moneyOf = Effect.fnUntraced(function* (found: Config.Success<typeof moneyVariables>) {
  return {
    prices: found.prices === undefined ? undefined : resolve(found.prices),
    requestsPerMinute: yield* limitOf("SLUICE_REQUESTS_PER_MINUTE", found.requests),
    tokensPerMinute: yield* limitOf("SLUICE_TOKENS_PER_MINUTE", found.tokens),
    keepDays: yield* keepDaysOf(found.keep)
  } satisfies MoneySettings
})
