/** A text as a vector: its terms, hashed into 1024 dimensions. */
import type { Purpose } from "@sluice/core/models"
import { searchedWords } from "@sluice/core/text"
import { DIMENSION } from "../text/features.ts"
import { limitVocabulary, type Term, termHashes, vocabularySize } from "../text/Term.ts"
import { tokenize } from "../text/tokenize.ts"

/** The weight of all n-grams of a word together, relative to the word. */
const NGRAM_WEIGHT = 0.7

/** A term of the title counts this many times more. */
const TITLE_EXTRA = 2

/** A tokenized text. The first `titleTerms` of its terms are its title's. */
export interface TokenizedText {
  readonly terms: ReadonlyArray<Term>
  readonly titleTerms: number
  /** Each term once. */
  readonly distinct: ReadonlyArray<Term>
  /** How often the text has each of `distinct`, and how often its title. */
  readonly counts: ReadonlyArray<number>
  readonly titleCounts: ReadonlyArray<number>
}

/** By a term's index; all zero between two calls. With maps by term a reranking takes 14 % longer. */
let counters = new Int32Array(1 << 14)

/** Removes the counts of `terms` from the counters. */
const takeCounts = (terms: ReadonlyArray<Term>): ReadonlyArray<number> =>
  terms.map(({ index }) => {
    const count = counters[index] as number
    counters[index] = 0
    return count
  })

const withCounts = (terms: ReadonlyArray<Term>, titleTerms: number): TokenizedText => {
  if (vocabularySize() > counters.length) counters = new Int32Array(2 * vocabularySize())
  const distinct: Array<Term> = []
  for (const term of terms) {
    if (counters[term.index] === 0) distinct.push(term)
    counters[term.index] = (counters[term.index] as number) + 1
  }
  const counts = takeCounts(distinct)
  for (let i = 0; i < titleTerms; i++) {
    const { index } = terms[i] as Term
    counters[index] = (counters[index] as number) + 1
  }
  return { terms, titleTerms, distinct, counts, titleCounts: takeCounts(distinct) }
}

export const tokenizeQuery = (text: string): TokenizedText => withCounts(tokenize(searchedWords(text)), 0)

/** Without a `title`, the first line of several is the title. */
export const tokenizePassage = (text: string, title?: string): TokenizedText => {
  const titleEnd = title ? 0 : Math.max(0, text.indexOf("\n"))
  const terms = tokenize(title || text.slice(0, titleEnd))
  const titleTerms = terms.length
  return withCounts(tokenize(text.slice(titleEnd), terms), titleTerms)
}

/** The dot product of two vectors. Of normalized ones it is the cosine. */
export const dot = (x: Float32Array | Float64Array, y: Float32Array | Float64Array): number => {
  // Four independent sums: an addition need not wait for the one before.
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let i = 0; i < DIMENSION; i += 4) {
    a += (x[i] as number) * (y[i] as number)
    b += (x[i + 1] as number) * (y[i + 1] as number)
    c += (x[i + 2] as number) * (y[i + 2] as number)
    d += (x[i + 3] as number) * (y[i + 3] as number)
  }
  return a + b + c + d
}

/** The sums before they are normalized; all zero between two calls. */
const sums = new Float64Array(DIMENSION)

const addFeature = (feature: number, weight: number): void => {
  const dimension = feature >>> 1
  // A multiplication, since half of all branches would be mispredicted.
  sums[dimension] = (sums[dimension] as number) + weight * ((feature & 1) * 2 - 1)
}

/** See `embedText`. */
export const embedTerms = ({ counts, distinct, titleCounts }: TokenizedText): Float32Array => {
  const onlyStopWords = distinct.every(({ stop }) => stop)
  const hashes = termHashes()
  for (let term = 0; term < distinct.length; term++) {
    const { features, idf, stop, trigrams } = distinct[term] as Term
    if (stop && !onlyStopWords) continue
    const count = (counts[term] as number) + TITLE_EXTRA * (titleCounts[term] as number)
    const weight = (1 + Math.log(count)) * idf
    addFeature(hashes[features] as number, weight)
    const ngramWeight = (weight * NGRAM_WEIGHT) / Math.sqrt(trigrams - features - 1)
    for (let i = features + 1; i < trigrams; i++) addFeature(hashes[i] as number, ngramWeight)
  }
  const norm = Math.sqrt(dot(sums, sums))
  const vector = new Float32Array(DIMENSION)
  if (norm > 0) for (let i = 0; i < DIMENSION; i++) vector[i] = (sums[i] as number) / norm
  sums.fill(0)
  return vector
}

/**
 * The vector of a text: 1024 dimensions, L2 norm 1, or all zero for a text without a word.
 *
 * **Details.** A term weighs (1 + ln count) × its inverse document frequency in general language. Its hash chooses a
 * dimension and a sign. The 3- and 4-grams of a word weigh .7 of the word together, so that inflected and misspelt forms
 * match. Stop words count only in a text of nothing else. The first line of a passage of several lines is its title and
 * counts three times. The same text gives the same vector in every process.
 *
 * **Gotchas.** It matches words and their parts, not meaning: "car" and "automobile" are unrelated.
 */
export const embedText = (text: string, purpose: Purpose = "passage"): Float32Array => {
  limitVocabulary()
  return embedTerms(purpose === "passage" ? tokenizePassage(text) : tokenizeQuery(text))
}
