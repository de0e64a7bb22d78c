/** Whether a difference between two ways of retrieving is more than chance: the paired bootstrap over queries. */

/** How much better the first is than the second, of one metric. */
export interface Difference {
  /** Mean of first minus second. */
  readonly difference: number
  /** 95 % of the resampled differences lie within, both ends included. */
  readonly interval: readonly [low: number, high: number]
  /** Two-sided: how often chance alone would show a difference as clear. Below .05 is usually called significant. */
  readonly p: number
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
 * Compares two runs query by query: `first[i]` and `second[i]` are of the same query.
 *
 * **Details.** Queries are drawn with replacement, `resamples` times, with a seed of its own. p is twice the smaller
 * share of resampled differences on one side of zero, each share counted as (n + 1) / (resamples + 1), so that it is
 * never 0. Without queries, or without any difference, it is 1.
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
  const means = new Float64Array(resamples)
  for (let sample = 0; sample < resamples; sample++) {
    let sum = 0
    for (let draw = 0; draw < count; draw++) sum += gaps[Math.floor(random() * count)]!
    means[sample] = sum / count
  }
  means.sort()
  const atMost = means.reduce((sum, mean) => sum + (mean <= 0 ? 1 : 0), 0)
  const atLeast = means.reduce((sum, mean) => sum + (mean >= 0 ? 1 : 0), 0)
  const at = (share: number) => means[Math.min(resamples - 1, Math.floor(share * resamples))]!
  return {
    difference,
    interval: [at(TAIL), at(1 - TAIL)],
    p: Math.min(1, (2 * (Math.min(atMost, atLeast) + 1)) / (resamples + 1))
  }
}
