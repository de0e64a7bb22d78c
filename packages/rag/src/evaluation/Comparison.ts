/** Compares two runs, metric by metric, with the paired bootstrap over queries. */
import { METRICS, type RunMetrics } from "./Metrics.ts"

/** How much higher one metric of the first run is than of the second. */
export interface Difference {
  /** Mean of first minus second. */
  readonly difference: number
  /** The 95 % confidence interval. */
  readonly interval: readonly [low: number, high: number]
  /** Two-sided: the probability of a difference as clear by chance. Below .05 is usually called significant. */
  readonly p: number
}

export interface Comparison {
  readonly a: string
  readonly b: string
  /** Queries that both were measured on. */
  readonly queries: number
  readonly metrics: { readonly [metric in keyof RunMetrics]: Difference }
}

/** The metrics of a run for each query, in the same order for all runs. */
export interface MeasuredQueries {
  readonly name: string
  readonly each: ReadonlyArray<RunMetrics>
}

export const compareRuns = (a: MeasuredQueries, b: MeasuredQueries): Comparison => {
  const valuesOf = ({ each }: MeasuredQueries, metric: keyof RunMetrics) => each.map((of) => of[metric])
  return {
    a: a.name,
    b: b.name,
    queries: Math.min(a.each.length, b.each.length),
    metrics: Object.fromEntries(
      METRICS.map((metric) => [metric, pairedBootstrap(valuesOf(a, metric), valuesOf(b, metric))])
    ) as Comparison["metrics"]
  }
}

export const RESAMPLES = 10_000
const SEED = 20_261_121
const TAIL = 0.025

/** mulberry32: the same queries give the same p-value everywhere. */
const seeded = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * Compares two runs query by query: `first[i]` and `second[i]` belong to the same query.
 *
 * **Details.** Draws the queries with replacement, `resamples` times. p is twice the smaller share of resampled differences
 * on one side of zero. Each share is counted as (n + 1) / (resamples + 1), so that p is never 0. Without queries, or without
 * any difference, p is 1.
 */
export const pairedBootstrap = (
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  { resamples = RESAMPLES, seed = SEED }: { readonly resamples?: number; readonly seed?: number } = {}
): Difference => {
  const count = Math.min(first.length, second.length)
  const gaps = Float64Array.from({ length: count }, (_, i) => first[i]! - second[i]!)
  const difference = gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, count)
  if (gaps.every((gap) => gap === 0)) return { difference: 0, interval: [0, 0], p: 1 }
  const random = seeded(seed)
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0
    for (let draw = 0; draw < count; draw++) sum += gaps[Math.floor(random() * count)]!
    return sum / count
  }).toSorted()
  const atMost = means.filter((mean) => mean <= 0).length
  const atLeast = means.filter((mean) => mean >= 0).length
  const at = (share: number) => means[Math.min(resamples - 1, Math.floor(share * resamples))]!
  return {
    difference,
    interval: [at(TAIL), at(1 - TAIL)],
    p: Math.min(1, (2 * (Math.min(atMost, atLeast) + 1)) / (resamples + 1))
  }
}
