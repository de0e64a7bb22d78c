/** Two ways of retrieving, metric by metric. */
import { type Difference, pairedBootstrap } from "./Bootstrap.ts"
import { METRICS, type RunMetrics } from "./Metrics.ts"

/** How much better `a` is than `b`, with the interval and the p-value of each difference. */
export interface Comparison {
  readonly a: string
  readonly b: string
  /** Queries that both were measured on. */
  readonly queries: number
  readonly metrics: { readonly [metric in keyof RunMetrics]: Difference }
}

/** What a run reached for each query, in the same order for all runs. */
export interface MeasuredQueries {
  readonly name: string
  readonly each: ReadonlyArray<RunMetrics>
}

/** Compares two runs over the same queries with the paired bootstrap. */
export const compareRuns = (a: MeasuredQueries, b: MeasuredQueries): Comparison => {
  const differences = METRICS.map((metric): readonly [keyof RunMetrics, Difference] => [
    metric,
    pairedBootstrap(
      a.each.map((metrics) => metrics[metric]),
      b.each.map((metrics) => metrics[metric])
    )
  ])
  return {
    a: a.name,
    b: b.name,
    queries: Math.min(a.each.length, b.each.length),
    // The metrics are all of them.
    metrics: Object.fromEntries(differences) as Comparison["metrics"]
  }
}
