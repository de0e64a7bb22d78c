/** Usage of the last days, as a chart or as a table. */
import { signal } from "@preact/signals"
import { useState } from "preact/hooks"
import type { DayUsage } from "../../contract/Administration.ts"
import { Select, Segments } from "../ui/Fields.tsx"
import { pluralize, usd } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { DataTable, useTableToggle } from "../ui/DataTable.tsx"
import { chooseUsageDays, SPANS, usage, usageDays, usageError } from "./account.ts"

const MEASURES = { spent: "Spent", calls: "Calls", tokens: "Tokens" } as const
type Measure = keyof typeof MEASURES
const measure = signal<Measure>("spent")

const amountOf: Record<Measure, (row: DayUsage) => number> = {
  spent: ({ quota }) => quota,
  calls: ({ calls }) => calls,
  tokens: ({ input_tokens, output_tokens }) => input_tokens + output_tokens
}

const amountText = (amount: number): string =>
  measure.value === "spent" ? usd(amount) : pluralize(amount, measure.value === "calls" ? "call" : "token")

const DAY_MS = 86_400_000

/** The last days, also those without a call, the oldest first. */
const amountsByDay = (rows: ReadonlyArray<DayUsage>) => {
  const byDay = Map.groupBy(rows, ({ day }) => day)
  return Array.from({ length: usageDays.value }, (_, at) => {
    const day = new Date(Date.now() - (usageDays.value - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    const amounts = (byDay.get(day) ?? []).map(amountOf[measure.value])
    return { day, amount: amounts.reduce((sum, amount) => sum + amount, 0) }
  })
}

const mediumDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })
const dayText = (day = ""): string => mediumDay.format(new Date(day))

/** Units of the drawing, which is stretched to the width of the page. */
const BAR = 10
const GAP = 3
/** From this many days on there are no gaps between the bars. */
const DENSE = 120
const HEIGHT = 100
/** The height of the smallest bar. */
const MIN_HEIGHT = 1.5

const UsageChart = ({ rows }: { rows: ReadonlyArray<DayUsage> }) => {
  const [pointed, setPointed] = useState(-1)
  const days = amountsByDay(rows)
  const most = Math.max(...days.map(({ amount }) => amount))
  const at = days[pointed]
  const step = days.length < DENSE ? BAR + GAP : BAR
  const point = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as SVGElement).getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * days.length)
    setPointed(Math.max(0, Math.min(days.length - 1, index)))
  }
  return (
    <figure class="stack tight usage-chart">
      <figcaption>
        <b>{amountText(at?.amount ?? days.reduce((sum, { amount }) => sum + amount, 0))}</b>{" "}
        <span class="quiet">{at === undefined ? `in ${days.length} days` : dayText(at.day)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${days.length * step} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setPointed(-1)}
      >
        {days.map(({ amount, day }, index) => {
          const height = amount === 0 ? 0 : Math.max(MIN_HEIGHT, (amount / most) * HEIGHT)
          const place = { x: index * step, width: BAR, y: HEIGHT - height, height }
          return <rect key={day} {...place} data-pointed={index === pointed} />
        })}
      </svg>
      <p class="row ends quiet">
        <span>{dayText(days[0]?.day)}</span>
        <span>{dayText(days.at(-1)?.day)}</span>
      </p>
    </figure>
  )
}

const COLUMNS = ["Day (UTC)", "Model", "Calls", "Tokens in", "Tokens out", "Spent"]

const UsageTable = ({ rows }: { rows: ReadonlyArray<DayUsage> }) => (
  <DataTable class="usage-table" label="Usage by day and model" columns={COLUMNS}>
    {rows.toReversed().map(({ calls, day, input_tokens, model, operation, output_tokens, quota }) => (
      <tr key={`${day} ${model} ${operation}`}>
        <td>{day}</td>
        <th scope="row">{model}</th>
        <td>{calls.toLocaleString()}</td>
        <td>{input_tokens.toLocaleString()}</td>
        <td>{output_tokens.toLocaleString()}</td>
        <td>{usd(quota)}</td>
      </tr>
    ))}
  </DataTable>
)

export const UsageSection = () => {
  const { asTable, toggle } = useTableToggle()
  const rows = usage.value ?? []
  const Shown = asTable ? UsageTable : UsageChart
  return (
    <section class="stack loose usage" aria-labelledby="usage-title">
      <header class="row">
        <h2 id="usage-title">Usage</h2>
        <Select
          class="small-select"
          aria-label="Days shown"
          value={String(usageDays.value)}
          values={new Map(SPANS.map((days) => [days, `${days} days`]))}
          onValue={(days) => chooseUsageDays(Number(days))}
        />
        {rows.length > 0 && !asTable && <Segments legend="Measure" choices={MEASURES} value={measure} />}
        {rows.length > 0 && toggle}
      </header>
      <ErrorMessage error={usageError.value} />
      {usage.value?.length === 0 ? (
        <p class="lead">
          No usage in the last {usageDays.value} days. Try the <a href="#playground">playground</a>.
        </p>
      ) : (
        <Shown rows={rows} />
      )}
    </section>
  )
}
