/** An evaluation as one HTML file: no scripts, no external resources, light and dark. */
import type { Comparison, Configuration, EvaluatedRun, MeasuredQueries } from "@sluice/rag/evaluation"
import { METRICS } from "@sluice/rag/evaluation"
import { Markup, markup } from "../../wire/Markup.ts"
import { groupedBars, intervals } from "./Plots.ts"

/** An evaluation of a judged collection or of a library. */
export interface ReportInput {
  readonly collection: string
  readonly queries: number
  readonly runs: ReadonlyArray<EvaluatedRun>
  readonly comparisons: ReadonlyArray<Comparison>
  readonly each: ReadonlyArray<MeasuredQueries>
  /** What the runs named a and b are. */
  readonly configurations?: ReadonlyArray<Configuration>
  /** What limits these results. */
  readonly note?: string | undefined
}

/** A p-value below this is significant. */
const SIGNIFICANCE = 0.05

const STYLE = new Markup(`
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #23211d; --soft: #6d685f; --line: #dcd7cc;
  --c0: #8a8577; --c1: #3f7d8c; --c2: #b0793a; --c3: #a63d40; --c4: #5a6fa8; --c5: #6b8f4e; --c6: #8d5a97; --c7: #4d4d4d }
@media (prefers-color-scheme: dark) { :root { --paper: #1b1a18; --ink: #eae6dd; --soft: #a39d91; --line: #3a3731;
  --c0: #a8a294; --c1: #6fb3c4; --c2: #dba866; --c3: #e27d7f; --c4: #93a8e0; --c5: #a1c583; --c6: #c797d1; --c7: #c9c9c9 } }
body { background: var(--paper); color: var(--ink); font: 15px/1.55 ui-sans-serif, system-ui, sans-serif;
  max-width: 920px; margin: 0 auto; padding: 40px 24px 80px }
h1 { font-size: 26px; margin: 0 } h2 { font-size: 18px; margin: 40px 0 8px } p { max-width: 72ch } .soft { color: var(--soft) }
svg { width: 100%; height: auto; display: block } svg text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: var(--ink) }
svg .tick { fill: var(--soft); font-size: 11px } svg .value { font-size: 10.5px; fill: var(--soft) }
.grid { stroke: var(--line) } .zero { stroke: var(--soft); stroke-width: 1.5 }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100% }
th, td { text-align: right; padding: 5px 10px; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child, td:first-child { text-align: left } th { font-weight: 600; color: var(--soft) } td.best { font-weight: 700 }
.legend span { margin-right: 18px; white-space: nowrap } .legend i { display: inline-block; width: 11px; height: 11px; margin-right: 6px }
.s0 { fill: var(--c0); background: var(--c0) } .s1 { fill: var(--c1); background: var(--c1) } .s2 { fill: var(--c2); background: var(--c2) }
.s3 { fill: var(--c3); background: var(--c3) } .s4 { fill: var(--c4); background: var(--c4) } .s5 { fill: var(--c5); background: var(--c5) }
.s6 { fill: var(--c6); background: var(--c6) } .s7 { fill: var(--c7); background: var(--c7) }
.better { stroke: var(--c5); fill: var(--c5) } .worse { stroke: var(--c3); fill: var(--c3) } .unclear { stroke: var(--soft); fill: var(--soft) }
.better line, .worse line, .unclear line { stroke-width: 2 } svg g text { stroke: none }
`)

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Markup>>): Markup =>
  markup`<div class="scroll"><table><thead><tr>${head.map((name) => markup`<th>${name}</th>`)}</tr></thead><tbody>${rows.map((cells) => markup`<tr>${cells}</tr>`)}</tbody></table></div>`

const cell = (text: string, best = false): Markup =>
  best ? markup`<td class="best">${text}</td>` : markup`<td>${text}</td>`

const metricsTable = (runs: ReadonlyArray<EvaluatedRun>): Markup => {
  const best = METRICS.map((metric) => Math.max(...runs.map(({ metrics }) => metrics[metric])))
  return table(
    ["run", ...METRICS],
    runs.map(({ metrics, name }) => [
      cell(name),
      ...METRICS.map((metric, i) => cell(metrics[metric].toFixed(4), metrics[metric] === best[i]))
    ])
  )
}

const costTable = (runs: ReadonlyArray<EvaluatedRun>): Markup =>
  table(
    ["run", "p50 (ms)", "p95 (ms)", "embedding calls", "rerank calls", "tokens"],
    runs.map(({ cost, latency, name }) => {
      const times = [latency.p50, latency.p95].map((milliseconds) => milliseconds.toFixed(2))
      const counts = [cost.embeddingCalls, cost.rerankCalls, cost.tokens]
      return [name, ...times, ...counts.map((count) => count.toLocaleString("en"))].map((text) => cell(text))
    })
  )

const differences = (comparison: Comparison, each: ReadonlyArray<MeasuredQueries>): Markup => {
  const { a, b, metrics, queries } = comparison
  const rows = METRICS.map((metric) => ({
    name: metric,
    ...metrics[metric],
    significant: metrics[metric].p < SIGNIFICANCE
  }))
  const [first = [], second = []] = [a, b].map((run) => each.find(({ name }) => name === run)?.each)
  const gaps = first.flatMap((metrics, i) => {
    const other = second[i]
    return other === undefined ? [] : [metrics["nDCG@10"] - other["nDCG@10"]]
  })
  const won = gaps.filter((gap) => gap > 0).length
  const lost = gaps.filter((gap) => gap < 0).length
  return markup`<h2>${a} vs ${b}</h2>
<p class="soft">Difference of the means over ${queries} questions with its 95 % interval: paired bootstrap, 10,000 resamples. Coloured where p &lt; ${SIGNIFICANCE}.</p>
${intervals(`${a} minus ${b}`, rows)}
${table(
  ["metric", "difference", "95 % interval", "p"],
  rows.map(({ difference, interval: [low, high], name, p, significant }) => [
    cell(name),
    cell(signed(difference), significant),
    cell(`${signed(low)} … ${signed(high)}`),
    cell(p.toFixed(4))
  ])
)}
<p class="soft">nDCG@10 by question: higher for ${won}, lower for ${lost}, equal for ${gaps.length - won - lost}.</p>`
}

/** Four decimals, with a sign. */
export const signed = (value: number): string => `${value > 0 ? "+" : ""}${value.toFixed(4)}`

/** The HTML document. */
export const reportHtml = (input: ReportInput): string => {
  const { collection, comparisons, configurations = [], each, note, queries, runs } = input
  const series = runs.map(({ metrics, name }) => ({ name, values: METRICS.map((metric) => metrics[metric]) }))
  return markup`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Retrieval on ${collection}</title><style>${STYLE}</style></head>
<body>
<h1>Retrieval on ${collection}</h1>
<p class="soft">${queries} questions. All metrics range from 0 to 1; higher is better.</p>
${note === undefined ? [] : markup`<p>${note}</p>`}
${configurations.map(({ name, options }) => markup`<p>${name}: <code>${JSON.stringify(options)}</code></p>`)}
<h2>Metrics of each run</h2>
${groupedBars("Metrics of each run", METRICS, series)}
${metricsTable(runs)}
<h2>Latency and cost</h2>
<p class="soft">Latency is per question. Calls and tokens are totals over all questions, as the models count them. Embedded models are free.</p>
${costTable(runs)}
${comparisons.map((comparison) => differences(comparison, each))}
</body>
</html>
`.text
}
