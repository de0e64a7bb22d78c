/** What was used and paid, by day. */
import { signal } from "@preact/signals"
import type { DayUsage } from "../../contract/Usage.ts"
import { getUsage } from "../api/account.ts"
import { toFailure, type Failure } from "../api/Failure.ts"

/** Days that are shown, with today. */
export const DAYS = 30

const DAY_MS = 86_400_000

export const usage = signal<ReadonlyArray<DayUsage> | undefined>(undefined)
export const usageFailure = signal<Failure | undefined>(undefined)

/** What can be counted of a day. */
export const MEASURES = {
  spent: ({ quota }: DayUsage) => quota,
  calls: ({ calls }: DayUsage) => calls,
  tokens: ({ input_tokens, output_tokens }: DayUsage) => input_tokens + output_tokens
} as const
export type Measure = keyof typeof MEASURES

/** All days, also those without a call, the oldest first; `now` in epoch milliseconds. */
export const byDay = (
  rows: ReadonlyArray<DayUsage>,
  measure: Measure,
  now: number
): ReadonlyArray<{ readonly day: string; readonly amount: number }> =>
  Array.from({ length: DAYS }, (_, at) => {
    const day = new Date(now - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    const ofDay = rows.filter((row) => row.day === day)
    return { day, amount: ofDay.reduce((sum, row) => sum + MEASURES[measure](row), 0) }
  })

export const refreshUsage = async (): Promise<void> => {
  try {
    usage.value = await getUsage(DAYS)
    usageFailure.value = undefined
  } catch (thrown) {
    usageFailure.value = toFailure(thrown)
  }
}
