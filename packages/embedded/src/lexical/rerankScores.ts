/** Relevance of documents to a query, from the words that they share. */
import type { Candidate } from "@sluice/core/models"
import { limitVocabulary } from "../text/Term.ts"
import { candidateIdf, makeQuery, type Match, matchDocument, type Query, termFrequency } from "./bm25.ts"
import { dot, embedTerms, tokenizePassage, tokenizeQuery } from "./embedText.ts"
import { feedbackScores } from "./relevanceFeedback.ts"

/**
 * Weights of the parts of a score. Measured as nDCG@10:
 * - `vector` and `feedback`: .371 → .403 (Cranfield, 20 candidates).
 * - `candidateIdf` above `generalIdf`: .415 → .420 (Cranfield, 50 candidates), no loss on code, README sections and
 *   package descriptions.
 * - `order` at .15 instead of .25: −.001 in the mean of 78 collections. CJK pairs overlap, so their order tells less.
 */
const WEIGHTS = {
  generalIdf: 0.2,
  candidateIdf: 0.6,
  title: 0.18,
  order: 0.25,
  cjkOrder: 0.15,
  similarWords: 0.2,
  vector: 0.3,
  coverage: 0.1,
  feedback: 1.5
}

/**
 * A user of a short query expects all of its words: the covered share of the query counts by this power, so that only
 * nearly full coverage counts. Queries of three words of a dictionary's article: nDCG@10 from .045 below BM25 to .017
 * above; Cranfield and the mean of 97 other collections unchanged.
 */
const COVERAGE_POWER = 5

/**
 * A long query has many rare words that do not matter. From `LONG_QUERY` words on the vector weighs more, by up to
 * `LONG_QUERY_VECTOR` at `VERY_LONG_QUERY` words. Twelve collections with queries of 20 to 90 words: nDCG@3 and nDCG@10
 * +.01 in the mean.
 */
const LONG_QUERY = 15
const VERY_LONG_QUERY = 50
const LONG_QUERY_VECTOR = 1

/** The weight of the priors in the choice of the feedback documents: +.0015 nDCG@10 in the mean of 98 collections. */
const PRIOR_WEIGHT = 0.15

/** The shares of a lexical score that depend on the title; all 0 to 1. */
interface LexicalScore {
  /** Without the title. */
  readonly score: number
  /** By inverse document frequency among the candidates. */
  readonly fit: number
  /** What the title adds to what the text says. */
  readonly title: number
  /** The most that a title could add. */
  readonly maxTitle: number
}

/**
 * An untitled document gets what the titles of the others add on average to a document that fits as well, growing with
 * the square of the fit, so that titled documents do not win by having a title. Twelve collections without a third of
 * their titles: nDCG@3 +.018 above BM25 instead of +.016. Ten whose relevant documents lost theirs: +.014, not −.002.
 */
const estimateTitle = (titled: ReadonlyArray<LexicalScore>): ((untitled: LexicalScore) => number) => {
  const title = titled.reduce((sum, score) => sum + score.title, 0) / (titled.length || 1)
  const fit = titled.reduce((sum, score) => sum + score.fit, 0) / (titled.length || 1)
  return (untitled) => (fit > 0 ? Math.min(untitled.maxTitle, title * (untitled.fit / fit) ** 2) : 0)
}

const lexicalScores = (
  query: Query,
  rarity: Float64Array,
  matches: ReadonlyArray<Match>
): ReadonlyArray<number> => {
  const frequencyOf = termFrequency(matches)
  const order = WEIGHTS.order + query.cjkShare * (WEIGHTS.cjkOrder - WEIGHTS.order)
  const totalIdf = query.idf.reduce((a, b) => a + b, 0) || 1
  const totalRarity = rarity.reduce((a, b) => a + b, 0) || 1
  const scores = matches.map((match): LexicalScore => {
    let general = 0
    let similar = 0
    let fit = 0
    let title = 0
    let maxTitle = 0
    let coverage = 0
    match.counts.forEach((count, term) => {
      const idf = query.idf[term] as number
      const rare = (rarity[term] as number) / totalRarity
      if (count === 0) {
        similar += (idf * (match.similarity[term] as number)) / totalIdf
        return
      }
      const frequency = frequencyOf(count, match)
      const rest = rare * (1 - frequency)
      general += (idf * frequency) / totalIdf
      fit += rare * frequency
      if (match.inTitle[term] === true) title += rest
      maxTitle += rest
      coverage += rare
    })
    const score =
      WEIGHTS.generalIdf * general +
      WEIGHTS.similarWords * similar +
      WEIGHTS.candidateIdf * fit +
      WEIGHTS.coverage * coverage ** COVERAGE_POWER +
      order * match.bigrams
    return { score, fit, title, maxTitle }
  })
  const estimate = estimateTitle(scores.filter((_, i) => matches[i]?.titled === true))
  return scores.map(
    (score, i) => score.score + WEIGHTS.title * (matches[i]?.titled === true ? score.title : estimate(score))
  )
}

const logistic = (x: number): number => 1 / (1 + Math.exp(-x))

/**
 * A score for each document, in the order given: above 0, below 1, higher is better.
 *
 * **Details.** The first score is BM25 with inverse document frequency in general language and among the candidates, with
 * smaller parts for title, word order, similar words, coverage of the query, and the cosine of `embedText`, which weighs
 * more for long queries. Pseudo-relevance feedback follows: how much a document resembles the best ones for each topic
 * of the query. `priors` (0 to 1, in the order of the documents) help choose these. The scores depend on the arguments
 * alone, and not on the order of the documents except between equals.
 *
 * **Gotchas.** Scores order the documents of one call. They are not probabilities.
 */
export const rerankScores = (
  query: string,
  documents: ReadonlyArray<Candidate>,
  priors: ReadonlyArray<number> = []
): Float64Array => {
  limitVocabulary()
  const queryText = tokenizeQuery(query)
  const parsed = makeQuery(queryText.terms)
  const queryVector = embedTerms(queryText)
  // All of one document before the next, while its terms are in the processor's cache.
  const vectors: Array<Float32Array> = []
  const matches = documents.map(({ text, title }) => {
    const passage = tokenizePassage(text, title)
    vectors.push(embedTerms(passage))
    // A first line that serves as the title in the vector is text here.
    return matchDocument(parsed, title ? passage : { ...passage, titleTerms: 0 })
  })
  const length = (parsed.size - LONG_QUERY) / (VERY_LONG_QUERY - LONG_QUERY)
  const vectorWeight = WEIGHTS.vector + Math.max(0, Math.min(length, 1)) * LONG_QUERY_VECTOR
  const rarity = candidateIdf(parsed, matches)
  const scores = Float64Array.from(
    lexicalScores(parsed, rarity, matches),
    (score, i) => score + vectorWeight * dot(queryVector, vectors[i] as Float32Array)
  )
  const feedback = feedbackScores(
    { idf: rarity, sequence: parsed.sequence },
    scores.map((score, i) => score + PRIOR_WEIGHT * (priors[i] ?? 0)),
    matches.map(({ counts }) => counts),
    vectors
  )
  return scores.map((score, i) => logistic(4 * (score + WEIGHTS.feedback * (feedback[i] as number)) - 4))
}

/**
 * The weight of a document's prior beside its score, scaled to 0–1: the scores see the candidates alone, BM25 the rarity of
 * words in the whole collection. A higher weight leaves fewer collections below BM25, and Cranfield gains less: +.053 with
 * .1, +.050 with .15, +.037 with 1 (nDCG@10).
 */
const PRIOR_SHARE = 0.12

/** Different words. From `LONG` to `VERY_LONG` the weight grows to `LONG_SHARE`: every passage has some of so many words. */
const LONG = 30
const VERY_LONG = 60
const LONG_SHARE = 0.5

const WORD = /\p{Script=Han}{2}|[\p{L}\p{M}\p{N}]+/gu

const priorShare = (query: string): number => {
  const words = new Set(query.toLowerCase().match(WORD)).size
  const long = Math.max(0, Math.min((words - LONG) / (VERY_LONG - LONG), 1))
  return PRIOR_SHARE + long * (LONG_SHARE - PRIOR_SHARE)
}

/** The relevance of each document: its score among the candidates and its prior in the collection. */
export const addPriors = (
  query: string,
  scores: Float64Array,
  priors: ReadonlyArray<number>
): Float64Array => {
  const share = priorShare(query)
  const least = Math.min(...scores)
  const spread = Math.max(...scores) - least || 1
  return scores.map((score, i) => (score - least) / spread + share * (priors[i] ?? 0))
}
