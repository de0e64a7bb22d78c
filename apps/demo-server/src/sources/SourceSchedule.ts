/** When a source runs next. */
import { Failure } from "@sluice/core/contract"
import { Cron, Effect, Result } from "effect"
import type { SourceSchedule } from "../contract/Sources.ts"

const invalid = (message: string) =>
  new Failure({ status: 400, message, code: "invalid_value", param: "schedule" })

/** In ms since 1970; null without a schedule. */
export const nextRun = (schedule: SourceSchedule | null, now: number): number | null => {
  if (schedule === null) return null
  if ("every" in schedule) return now + schedule.every * 60_000
  const cron = Result.getOrThrow(Cron.parse(schedule.cron, schedule.zone ?? "UTC"))
  return Cron.next(cron, now).getTime()
}

/** Fails for a schedule that never comes. */
export const checkSchedule = (schedule: SourceSchedule | null): Effect.Effect<void, Failure> =>
  Effect.try({
    try: () => {
      if (schedule === null || "every" in schedule) return
      // With a sixth field, cron counts seconds.
      if (schedule.cron.trim().split(/\s+/).length !== 5) throw new Error("five fields")
      nextRun(schedule, 0)
    },
    catch: () =>
      invalid(
        "This is no schedule. Give five fields, minute, hour, day, month and weekday, such as `30 6 * * 1-5`, and a time zone such as `Europe/Paris`"
      )
  })
