/** Usage of the last days, as a chart or as a table. */
import { signal } from "@preact/signals"
import { useState } from "preact/hooks"
import type { DayUsage } from "../../contract/Usage.ts"
import { LinkButton } from "../ui/Button.tsx"
import { Segments } from "../ui/Fields.tsx"
import { pluralize, usd } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { Scroller } from "../ui/Scroller.tsx"
import { chooseUsageDays, SPANS, usage, usageDays, usageError } from "./account.ts"

interface Props {
  readonly days: ReadonlyArray<{ readonly day: string; readonly amount: number }>
  readonly amountOf: (amount: number) => string
}

/** Units of the drawing, which is stretched to the width of the page. */
const BAR = 10
const GAP = 3
/** From this many days on there are no gaps between the bars. */
const DENSE = 120
const HEIGHT = 100
/** The height of the smallest bar. */
const MIN_HEIGHT = 1.5

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })
const named = (date: string | undefined): string => (date === undefined ? "" : day.format(new Date(date)))

const UsageChart = ({ amountOf, days }: Props) => {
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  const most = Math.max(...days.map(({ amount }) => amount))
  const total = days.reduce((sum, { amount }) => sum + amount, 0)
  const at = pointed === undefined ? undefined : days[pointed]
  const gap = days.length < DENSE ? GAP : 0
  const width = days.length * (BAR + gap) - gap
  const point = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as SVGElement).getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * days.length)
    setPointed(Math.max(0, Math.min(days.length - 1, index)))
  }
  return (
    <figure class="usage-chart">
      <figcaption>
        <b>{amountOf(at?.amount ?? total)}</b>{" "}
        <span class="quiet">{at === undefined ? `in ${days.length} days` : named(at.day)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        {days.map(({ amount, day }, index) => {
          const height = amount === 0 ? 0 : Math.max(MIN_HEIGHT, (amount / most) * HEIGHT)
          return (
            <rect
              key={day}
              x={index * (BAR + gap)}
              width={BAR}
              y={HEIGHT - height}
              height={height}
              data-pointed={index === pointed}
            />
          )
        })}
      </svg>
      <p class="axis quiet">
        <span>{named(days[0]?.day)}</span>
        <span>{named(days.at(-1)?.day)}</span>
      </p>
    </figure>
  )
}

const MEASURES = { spent: "Spent", calls: "Calls", tokens: "Tokens" } as const
type Measure = keyof typeof MEASURES

const measured: Record<Measure, (row: DayUsage) => number> = {
  spent: ({ quota }) => quota,
  calls: ({ calls }) => calls,
  tokens: ({ input_tokens, output_tokens }) => input_tokens + output_tokens
}

const amountText = (measure: Measure, amount: number): string =>
  measure === "spent" ? usd(amount) : pluralize(amount, measure === "calls" ? "call" : "token")

const DAY_MS = 86_400_000

/** The last `span` days, also those without a call, the oldest first. `now` in epoch milliseconds. */
const byDay = (rows: ReadonlyArray<DayUsage>, measure: Measure, span: number, now: number) => {
  const amounts = new Map<string, number>()
  for (const row of rows) amounts.set(row.day, (amounts.get(row.day) ?? 0) + measured[measure](row))
  return Array.from({ length: span }, (_, at) => {
    const day = new Date(now - (span - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    return { day, amount: amounts.get(day) ?? 0 }
  })
}

const UsageTable = ({ rows }: { readonly rows: ReadonlyArray<DayUsage> }) => (
  <Scroller class="wide" label="Usage by day and model">
    <table class="trace-table usage-table">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          <th scope="col">Model</th>
          <th scope="col">Calls</th>
          <th scope="col">Tokens in</th>
          <th scope="col">Tokens out</th>
          <th scope="col">Spent</th>
        </tr>
      </thead>
      <tbody>
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
      </tbody>
    </table>
  </Scroller>
)

const measure = signal<Measure>("spent")

export const UsageSection = () => {
  const [asTable, setAsTable] = useState(false)
  const rows = usage.value ?? []
  return (
    <section class="usage" aria-labelledby="usage-title">
      <header>
        <h2 id="usage-title">Usage</h2>
        <select
          class="small-select"
          aria-label="Days shown"
          value={usageDays.value}
          onChange={(event) => chooseUsageDays(Number(event.currentTarget.value))}
        >
          {SPANS.map((span) => (
            <option key={span} value={span}>
              {span} days
            </option>
          ))}
        </select>
        {rows.length > 0 && !asTable && (
          <Segments
            legend="Measure"
            choices={MEASURES}
            value={measure.value}
            onValue={(value) => (measure.value = value)}
          />
        )}
        {rows.length > 0 && (
          <LinkButton aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? "Show as a chart" : "Show as a table"}
          </LinkButton>
        )}
      </header>
      <ErrorMessage error={usageError.value} />
      {usage.value?.length === 0 ? (
        <p class="lead">
          No usage in the last {usageDays.value} days. Try the <a href="#playground">playground</a>.
        </p>
      ) : asTable ? (
        <UsageTable rows={rows} />
      ) : (
        <UsageChart
          days={byDay(rows, measure.value, usageDays.value, Date.now())}
          amountOf={(amount) => amountText(measure.value, amount)}
        />
      )}
    </section>
  )
}
