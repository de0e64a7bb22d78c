/** Metrics of a ranking against judgements: pure functions, for one query. */

/** The grade of each judged document of a query. 0 and absent mean not relevant. */
export type Judgements = ReadonlyMap<string, number>

/** Names of the metrics, in the order of reports. `hit@3`: whether one of the three kept passages is relevant. */
export const METRICS = ["nDCG@3", "nDCG@10", "recall@20", "recall@100", "MRR@10", "hit@3"] as const

/** The metrics of a run, 0 to 1, higher is better, averaged over the queries that have a relevant document. */
export type RunMetrics = { readonly [metric in (typeof METRICS)[number]]: number }

const gain = (judgements: Judgements, document: string): number => Math.max(0, judgements.get(document) ?? 0)

const discounted = (gains: ReadonlyArray<number>): number =>
  gains.reduce((sum, value, i) => sum + value / Math.log2(i + 2), 0)

/**
 * Normalized discounted cumulative gain.
 *
 * **Details.** The gain is the grade itself, as in trec_eval and in BEIR's published figures, not 2^grade - 1.
 */
export const ndcg = (ranking: ReadonlyArray<string>, judgements: Judgements, k: number): number => {
  const ideal = [...judgements.values()].filter((grade) => grade > 0).toSorted((a, b) => b - a)
  const best = discounted(ideal.slice(0, k))
  return best === 0 ? 0 : discounted(ranking.slice(0, k).map((document) => gain(judgements, document))) / best
}

/** The share of all relevant documents that are among the first k. */
export const recall = (ranking: ReadonlyArray<string>, judgements: Judgements, k: number): number => {
  const relevant = [...judgements.values()].filter((grade) => grade > 0).length
  const found = ranking.slice(0, k).filter((document) => gain(judgements, document) > 0).length
  return relevant === 0 ? 0 : found / relevant
}

/** One divided by the rank of the first relevant document. 0 if there is none among the first k. */
export const reciprocalRank = (ranking: ReadonlyArray<string>, judgements: Judgements, k: number): number => {
  const at = ranking.slice(0, k).findIndex((document) => gain(judgements, document) > 0)
  return at < 0 ? 0 : 1 / (at + 1)
}

/** 1 if a relevant document is among the first k, else 0. */
export const hit = (ranking: ReadonlyArray<string>, judgements: Judgements, k: number): number =>
  reciprocalRank(ranking, judgements, k) > 0 ? 1 : 0

export const measureOne = (ranking: ReadonlyArray<string>, judgements: Judgements): RunMetrics => ({
  "nDCG@3": ndcg(ranking, judgements, 3),
  "nDCG@10": ndcg(ranking, judgements, 10),
  "recall@20": recall(ranking, judgements, 20),
  "recall@100": recall(ranking, judgements, 100),
  "MRR@10": reciprocalRank(ranking, judgements, 10),
  "hit@3": hit(ranking, judgements, 3)
})

/** Whether any document is relevant. Queries without one are not measured. */
export const hasRelevant = (judgements: Judgements): boolean =>
  [...judgements.values()].some((grade) => grade > 0)

/** The mean of each metric over queries; 0 without queries. */
export const meanOf = (each: ReadonlyArray<RunMetrics>): RunMetrics =>
  Object.fromEntries(
    METRICS.map((metric) => [
      metric,
      each.reduce((sum, metrics) => sum + metrics[metric], 0) / Math.max(1, each.length)
    ])
  ) as RunMetrics
