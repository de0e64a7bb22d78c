/** Which of the recalled passages are kept: the best, each text once, and where asked for, unlike each other. */
import type { StoredPassage } from "../document/Document.ts"
import type { Copies } from "./Duplicates.ts"

/** So many are kept of texts that are alike and do not say the same: two rules, and what else answers. */
const ALIKE = 2

/** A recalled passage; in order, best first. Where the reranker did not answer, `score` and `relevance` are absent. */
export interface Ordered {
  readonly passage: StoredPassage
  /** The reranker's. */
  readonly score?: number | undefined
  /** What the order goes by. */
  readonly relevance?: number | undefined
  readonly vector?: Float32Array | undefined
}

export interface KeepingOptions {
  readonly keep: number
  readonly minimumRelevance: number | undefined
  /** 0 to 1. */
  readonly diversity: number
}

/** Places in the list given. */
export interface Kept {
  /** Best first. */
  readonly kept: ReadonlyArray<number>
  /** Passages that say the same as a kept one, or are alike to enough of them, and which. */
  readonly sameAs: ReadonlyMap<number, number>
}

/**
 * Chooses the passages to keep.
 *
 * **Details.** With `diversity` d, each next one is the highest of (1 - d) · relevance - d · cosine with the nearest one
 * already kept; relevance is stretched to 0–1, or the place where it is missing. The best is always kept.
 */
export const keepOf = (
  { alike, same }: Copies,
  ordered: ReadonlyArray<Ordered>,
  { diversity, keep, minimumRelevance }: KeepingOptions
): Kept => {
  const relevance = relevanceOf(ordered)
  const rest = new Set(
    ordered.flatMap(({ score }, i) =>
      minimumRelevance !== undefined && score !== undefined && score < minimumRelevance ? [] : [i]
    )
  )
  const kept: Array<number> = []
  const copyOf = (one: StoredPassage): number | undefined => {
    const near = kept.filter((other) => alike(ordered[other]!.passage, one))
    return (
      near.find((other) => same(ordered[other]!.passage, one)) ?? (near.length < ALIKE ? undefined : near[0])
    )
  }
  while (kept.length < keep && rest.size > 0) {
    const next = diversity > 0 ? leastAlike(ordered, relevance, rest, kept, diversity) : first(rest)
    rest.delete(next)
    if (copyOf(ordered[next]!.passage) === undefined) kept.push(next)
  }
  const sameAs = new Map<number, number>()
  ordered.forEach(({ passage }, i) => {
    const one = kept.includes(i) ? undefined : copyOf(passage)
    if (one !== undefined) sameAs.set(i, one)
  })
  return { kept, sameAs }
}

const first = (rest: ReadonlySet<number>): number => {
  for (const one of rest) return one
  return 0
}

const relevanceOf = (ordered: ReadonlyArray<Ordered>): ReadonlyArray<number> => {
  const values = ordered.map(({ relevance }) => relevance).filter((value) => value !== undefined)
  const least = Math.min(...values)
  const spread = Math.max(...values) - least
  return values.length === ordered.length && spread > 0
    ? values.map((value) => (value - least) / spread)
    : ordered.map((_, i) => 1 - i / ordered.length)
}

const leastAlike = (
  ordered: ReadonlyArray<Ordered>,
  relevance: ReadonlyArray<number>,
  rest: ReadonlySet<number>,
  kept: ReadonlyArray<number>,
  diversity: number
): number => {
  if (kept.length === 0) return first(rest)
  let best = first(rest)
  let most = Number.NEGATIVE_INFINITY
  for (const one of rest) {
    const alike = Math.max(...kept.map((other) => cosine(ordered[one]?.vector, ordered[other]?.vector)))
    const value = (1 - diversity) * (relevance[one] ?? 0) - diversity * alike
    if (value > most) [best, most] = [one, value]
  }
  return best
}

/** Of vectors of norm 1; 0 where one is missing. */
const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number => {
  if (a === undefined || b === undefined) return 0
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}
