/** When a source is read again: a choice with its time, or cron's five fields. */
import { useState } from "preact/hooks"
import type { SourceSchedule } from "../../contract/Sources.ts"
import type { FieldReader } from "../ui/ActionForm.tsx"
import { InputField, SelectField } from "../ui/Fields.tsx"

const CHOICES = ["Every day", "Every week", "Every hour", "Every 15 minutes", "By cron", "Only when I ask"]

/** Minutes of the choices without a time. */
const MINUTES: Readonly<Record<string, number>> = { "Every hour": 60, "Every 15 minutes": 15 }
const DAY_MINUTES = 1_440

/** As cron counts them. */
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

interface Choice {
  readonly choice: string
  readonly time: string
  readonly weekday: string
  readonly cron: string
}

const DEFAULTS: Choice = { choice: "Every day", time: "03:00", weekday: "Monday", cron: "" }

/** The choice that a schedule was made by. */
const choiceOf = (schedule: SourceSchedule | undefined): Choice => {
  if (schedule === undefined) return { ...DEFAULTS, choice: "Only when I ask" }
  if ("every" in schedule) {
    const choice = Object.keys(MINUTES).find((name) => MINUTES[name] === schedule.every)
    return { ...DEFAULTS, choice: choice ?? DEFAULTS.choice }
  }
  const { cron } = schedule
  const [, minute = "", hour = "", day = "*"] = /^(\d{1,2}) (\d{1,2}) \* \* ([*0-6])$/.exec(cron) ?? []
  if (hour === "") return { ...DEFAULTS, choice: "By cron", cron }
  const weekday = WEEKDAYS[Number(day)] ?? DEFAULTS.weekday
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`
  return { choice: day === "*" ? "Every day" : "Every week", time, weekday, cron }
}

/** The schedule that the fields say. */
export const readSchedule = (read: FieldReader): SourceSchedule | null => {
  const choice = read("schedule")
  const every = MINUTES[choice]
  if (every !== undefined) return { every }
  if (choice === "Only when I ask") return null
  if (choice === "By cron") return { cron: read("cron"), zone: ZONE }
  const [hour, minute] = read("time").split(":").map(Number)
  const day = choice === "Every week" ? WEEKDAYS.indexOf(read("weekday")) : "*"
  return { cron: `${minute} ${hour} * * ${day}`, zone: ZONE }
}

export const describeSchedule = (schedule: SourceSchedule | undefined): string => {
  const { choice, cron, time, weekday } = choiceOf(schedule)
  if (schedule === undefined) return "Only when you ask"
  if ("every" in schedule) {
    const isNamed = MINUTES[choice] !== undefined || schedule.every === DAY_MINUTES
    return isNamed ? choice : `Every ${schedule.every} minutes`
  }
  const zone = schedule.zone ?? "UTC"
  const of = zone === ZONE ? "" : ` (${zone})`
  if (choice === "By cron") return `By cron: ${cron}${of}`
  return `${choice === "Every week" ? `Every ${weekday}` : choice} at ${time}${of}`
}

/** `now` is the present schedule; null for a new source. */
export const ScheduleFields = ({ now }: { readonly now: SourceSchedule | undefined | null }) => {
  const initial = now === null ? DEFAULTS : choiceOf(now)
  const [choice, choose] = useState(initial.choice)
  const hasTime = choice === "Every day" || choice === "Every week"
  return (
    <div class="columns">
      <SelectField
        label="Update"
        hint="What the source no longer has is removed here too."
        name="schedule"
        value={choice}
        values={CHOICES}
        onValue={choose}
      />
      {choice === "Every week" && (
        <SelectField label="Day" name="weekday" value={initial.weekday} values={WEEKDAYS} />
      )}
      {hasTime && (
        <InputField label="Time" hint={ZONE} name="time" type="time" required defaultValue={initial.time} />
      )}
      {choice === "By cron" && (
        <InputField
          label="Cron"
          hint={`Minute, hour, day, month and weekday, in ${ZONE}: 30 6 * * 1-5`}
          name="cron"
          required
          maxLength={100}
          spellcheck={false}
          defaultValue={initial.cron}
        />
      )}
    </div>
  )
}
