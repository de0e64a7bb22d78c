/** Pseudo-relevance feedback: documents that resemble the best ones are likely relevant too. */
import type { Query } from "./bm25.ts"
import { dot } from "./embedText.ts"

/**
 * The best documents by the first scores serve as feedback, weighted by a power of their score. With six Cranfield loses
 * .02 nDCG@10.
 */
const FEEDBACK_DOCUMENTS = 3
const SCORE_POWER = 4

/**
 * A query may have several topics, and the best documents may all be about one. Up to this many others join: those with
 * terms of the query that no feedback document has, if the terms stand together in the query.
 */
const MORE_TOPICS = 3
/**
 * Whether terms stand together: they alternate in the query with the terms of the best document this much less often
 * than in random order. From the first number on a topic counts, from the second fully.
 */
const MIN_SEPARATION = 1
const FULL_SEPARATION = 3

/**
 * A document is compared with the feedback documents by the share of query terms that both have, to this power, so that
 * a query's second topic does not fall as the first one's documents rise.
 */
const SHARED_POWER = 1.5

/** How often a document has each term of the query. */
type Counts = ReadonlyArray<number>

type QueryTerms = Pick<Query, "idf" | "sequence">

const has = (counts: Counts, term: number): boolean => (counts[term] as number) > 0

/** The summed inverse document frequency of the terms that both have. */
const sharedIdf = ({ idf }: QueryTerms, a: Counts, b: Counts): number =>
  idf.reduce((sum, value, term) => (has(a, term) && has(b, term) ? sum + value : sum), 0)

/** 0 to 1: whether the terms that only `a` has and those that only `b` has are in different parts of the query. */
const separation = ({ sequence }: QueryTerms, a: Counts, b: Counts): number => {
  const ofB = sequence.filter((term) => has(a, term) !== has(b, term)).map((term) => has(b, term))
  const changes = ofB.filter((one, i) => i > 0 && one !== ofB[i - 1]).length
  const count = ofB.filter((one) => one).length
  const expected = (2 * count * (ofB.length - count)) / (ofB.length || 1)
  const share = (expected - changes - MIN_SEPARATION) / (FULL_SEPARATION - MIN_SEPARATION)
  return Math.max(0, Math.min(share, 1))
}

const chooseFeedback = (
  query: QueryTerms,
  scores: Float64Array,
  documents: ReadonlyArray<Counts>,
  totals: ReadonlyArray<number>
) => {
  const weightOf = (index: number) => Math.max(0, scores[index] as number) ** SCORE_POWER
  const chosen = [...scores.keys()]
    .toSorted((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
    .slice(0, FEEDBACK_DOCUMENTS)
    .map((index) => ({ index, weight: weightOf(index) }))
  const best = documents[chosen[0]?.index ?? -1]
  if (best === undefined) return chosen
  /** 1 for each term that no chosen document has. */
  const missing = Array.from(query.idf, (_, term) =>
    chosen.some(({ index }) => has(documents[index] as Counts, term)) ? 0 : 1
  )
  for (let more = 0; more < MORE_TOPICS && missing.includes(1); more++) {
    const shares = documents.map((counts, i) => sharedIdf(query, counts, missing) / (totals[i] || 1))
    const values = shares.map((share, i) => share * (scores[i] as number))
    const index = values.indexOf(Math.max(...values))
    const counts = documents[index] as Counts
    const weight = weightOf(index) * (shares[index] as number) * separation(query, best, counts)
    if (weight > 0) chosen.push({ index, weight })
    counts.forEach((count, term) => {
      if (count > 0) missing[term] = 0
    })
  }
  return chosen
}

/** The weighted mean cosine of each document with the feedback documents. `scores` are the first scores. */
export const feedbackScores = (
  query: QueryTerms,
  scores: Float64Array,
  documents: ReadonlyArray<Counts>,
  vectors: ReadonlyArray<Float32Array>
): Float64Array => {
  const totals = documents.map((counts) => sharedIdf(query, counts, counts))
  const feedback = chooseFeedback(query, scores, documents, totals)
  return Float64Array.from(vectors, (vector, i) => {
    const shared = feedback.map(({ index, weight }) => {
      const both = sharedIdf(query, documents[i] as Counts, documents[index] as Counts)
      const either = (totals[i] as number) + (totals[index] as number) - both
      return weight * (both / (either || 1)) ** SHARED_POWER
    })
    const weights = shared.some((share) => share > 0) ? shared : feedback.map(({ weight }) => weight)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const sum = feedback.reduce((sum, { index }, k) => {
      const weight = weights[k] as number
      return weight === 0 ? sum : sum + weight * dot(vector, vectors[index] as Float32Array)
    }, 0)
    return sum / (total || 1)
  })
}
