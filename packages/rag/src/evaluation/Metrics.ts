/** Metrics of a ranking against judgements, one query at a time. */
import { Record, Struct } from "effect"

/** The relevance of a query's documents. 0 or absent: not relevant. */
export type Judgements = ReadonlyMap<string, number>

/** The metrics of a run, 0 to 1, averaged over the queries that have a relevant document. */
export interface RunMetrics {
  readonly "nDCG@3": number
  readonly "nDCG@10": number
  readonly "recall@20": number
  readonly "recall@100": number
  readonly "MRR@10": number
  /** 1 if one of the first three is relevant. */
  readonly "hit@3": number
}

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

/** One divided by the rank of the first relevant document; 0 if none is among the first k. */
export const reciprocalRank = (ranking: ReadonlyArray<string>, judgements: Judgements, k: number): number => {
  const at = ranking.slice(0, k).findIndex((document) => gain(judgements, document) > 0)
  return at < 0 ? 0 : 1 / (at + 1)
}

/** 1 if a relevant document is among the first k, else 0. */
export const hit = (ranking: ReadonlyArray<string>, judgements: Judgements, k: number): number =>
  ranking.slice(0, k).some((document) => gain(judgements, document) > 0) ? 1 : 0

/** The metrics in the order of reports. */
const FUNCTIONS = {
  "nDCG@3": (ranking, judgements) => ndcg(ranking, judgements, 3),
  "nDCG@10": (ranking, judgements) => ndcg(ranking, judgements, 10),
  "recall@20": (ranking, judgements) => recall(ranking, judgements, 20),
  "recall@100": (ranking, judgements) => recall(ranking, judgements, 100),
  "MRR@10": (ranking, judgements) => reciprocalRank(ranking, judgements, 10),
  "hit@3": (ranking, judgements) => hit(ranking, judgements, 3)
} as const satisfies Record<
  keyof RunMetrics,
  (ranking: ReadonlyArray<string>, judgements: Judgements) => number
>

/** The names of the metrics, in the order of reports. */
export const METRICS = Struct.keys(FUNCTIONS)

/** All metrics of one query's ranking. */
export const measureOne = (ranking: ReadonlyArray<string>, judgements: Judgements): RunMetrics =>
  Record.map(FUNCTIONS, (metric) => metric(ranking, judgements))

/** Only queries with a relevant document are measured. */
export const hasRelevant = (judgements: Judgements): boolean =>
  [...judgements.values()].some((grade) => grade > 0)

/** The mean of each metric over queries; 0 without queries. */
export const meanOf = (each: ReadonlyArray<RunMetrics>): RunMetrics =>
  Record.map(
    FUNCTIONS,
    (_, metric) => each.reduce((sum, metrics) => sum + metrics[metric], 0) / Math.max(1, each.length)
  )

/** All metrics, averaged over the queries that have at least one relevant document; a query without a ranking counts 0. */
export const measure = (
  rankings: ReadonlyMap<string, ReadonlyArray<string>>,
  judgements: ReadonlyMap<string, Judgements>
): RunMetrics =>
  meanOf(
    [...judgements]
      .filter(([, own]) => hasRelevant(own))
      .map(([query, own]) => measureOne(rankings.get(query) ?? [], own))
  )
