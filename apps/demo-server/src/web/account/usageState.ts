/** What was used and paid, by day. */
import { signal } from "@preact/signals"
import type { DayUsage } from "../../contract/Usage.ts"
import { getUsage } from "../api/account.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"

/** Days that may be looked back on, with today. */
export const SPANS = [7, 30, 90, 365] as const

export const days = signal<number>(30)

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

/** All of the last `span` days, also those without a call, the oldest first; `now` in epoch milliseconds. */
export const byDay = (
  rows: ReadonlyArray<DayUsage>,
  measure: Measure,
  span: number,
  now: number
): ReadonlyArray<{ readonly day: string; readonly amount: number }> => {
  const amounts = new Map<string, number>()
  for (const row of rows) amounts.set(row.day, (amounts.get(row.day) ?? 0) + MEASURES[measure](row))
  return Array.from({ length: span }, (_, at) => {
    const day = new Date(now - (span - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    return { day, amount: amounts.get(day) ?? 0 }
  })
}

export const refreshUsage = async (): Promise<void> => {
  const span = days.value
  try {
    const rows = await getUsage(span)
    if (span !== days.value) return
    usage.value = rows
    usageFailure.value = undefined
  } catch (thrown) {
    if (span === days.value) usageFailure.value = toFailure(thrown)
  }
}

export const chooseDays = (span: number): void => {
  days.value = span
  void refreshUsage()
}
