/** The order after reranking, and how far keywords take part in it. */
import type { RerankerModel } from "@sluice/core"
import type { Hit } from "../store/PassageIndex.ts"

/**
 * A reranker that compares words sees the candidates alone; BM25 knows how rare each word is in the whole collection. So
 * much of its score, the best hit's being 1, is added to the reranker's, stretched to 0–1. The more of it, the fewer
 * collections fall below BM25, and the less Cranfield gains: +.053 with .1, +.050 with .15, +.037 with 1.
 */
const KEYWORDS_WEIGHT = 0.12

/**
 * Of a question of so many different words every passage has some, and which ones it has begins to count more than how
 * many …
 */
const LONG = 30
/** … up to so many words, and so much. */
const VERY_LONG = 60
const LONG_WEIGHT = 0.5

const WORD = /\p{Script=Han}{2}|[\p{L}\p{M}\p{N}]+/gu

/** What BM25 counts beside the reranker. */
export const keywordsWeight = (question: string): number => {
  const words = new Set(question.toLowerCase().match(WORD)).size
  const long = Math.max(0, Math.min((words - LONG) / (VERY_LONG - LONG), 1))
  return KEYWORDS_WEIGHT + long * (LONG_WEIGHT - KEYWORDS_WEIGHT)
}

/** What keywords found of each hit, the best of them 1; all 0 where they found nothing. */
export const priorsOf = (hits: ReadonlyArray<Hit>): ReadonlyArray<number> => {
  const best = Math.max(...hits.map(({ keywordScore = 0 }) => keywordScore))
  return hits.map(({ keywordScore = 0 }) => (best > 0 ? keywordScore / best : 0))
}

/** What a reranker said of hits: a score for each in their order, and their places, best first. */
export interface Reranked {
  readonly scores: ReadonlyArray<number>
  readonly order: ReadonlyArray<number>
}

/** Places, best first, and what they go by, in the order of the hits. */
export interface FinalOrder {
  readonly order: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

/** `priors` are `priorsOf` the hits. A neural reranker's order stands as it is. */
export const finalOrder = (
  question: string,
  { order, scores }: Reranked,
  priors: ReadonlyArray<number>,
  kind: RerankerModel["kind"]
): FinalOrder => {
  if (kind === "neural") return { order, values: scores }
  const weight = keywordsWeight(question)
  const least = Math.min(...scores)
  const spread = Math.max(...scores) - least || 1
  const values = scores.map((score, i) => (score - least) / spread + weight * (priors[i] ?? 0))
  // Equal values keep the reranker's order.
  return { order: order.toSorted((a, b) => values[b]! - values[a]!), values }
}
