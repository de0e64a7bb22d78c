/** What was used in the last days, as a chart or as a table. */
import { signal } from "@preact/signals"
import { useState } from "preact/hooks"
import { counted } from "../ui/counted.ts"
import { usd } from "../ui/money.ts"
import { byDay, chooseDays, days, type Measure, SPANS, usage, usageFailure } from "./usageState.ts"
import { UsageChart } from "./UsageChart.tsx"
import { UsageTable } from "./UsageTable.tsx"
import { Problem } from "../ui/Problem.tsx"

const NAMES: Record<Measure, string> = { spent: "Spent", calls: "Calls", tokens: "Tokens" }

const amountOf = (measure: Measure, amount: number): string =>
  measure === "spent" ? usd(amount) : counted(amount, measure === "calls" ? "call" : "token")

const measure = signal<Measure>("spent")

const Empty = () => (
  <p class="lead">
    Nothing was used in the last {days.value} days. The <a href="#playground">playground</a> is a place to
    begin.
  </p>
)

export const Usage = () => {
  const [asTable, setAsTable] = useState(false)
  const rows = usage.value
  const some = rows !== undefined && rows.length > 0
  const bars = byDay(rows ?? [], measure.value, days.value, Date.now())
  return (
    <section class="usage" aria-labelledby="usage-title">
      <header>
        <h2 id="usage-title">Usage</h2>
        <select
          class="small-select"
          aria-label="Days shown"
          value={days.value}
          onChange={(event) => chooseDays(Number(event.currentTarget.value))}
        >
          {SPANS.map((span) => (
            <option key={span} value={span}>
              {span} days
            </option>
          ))}
        </select>
        {some && !asTable && (
          <fieldset class="segments">
            <legend class="unseen">What is counted</legend>
            {(Object.keys(NAMES) as Array<Measure>).map((each) => (
              <label key={each}>
                <input
                  type="radio"
                  name="measure"
                  checked={each === measure.value}
                  onChange={() => (measure.value = each)}
                />
                <span>{NAMES[each]}</span>
              </label>
            ))}
          </fieldset>
        )}
        {some && (
          <button class="link" type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? "As a chart" : "As a table"}
          </button>
        )}
      </header>
      <Problem failure={usageFailure.value} />
      {rows?.length === 0 ? (
        <Empty />
      ) : asTable ? (
        <UsageTable rows={rows ?? []} />
      ) : (
        <UsageChart days={bars} amountOf={(amount) => amountOf(measure.value, amount)} />
      )}
    </section>
  )
}
