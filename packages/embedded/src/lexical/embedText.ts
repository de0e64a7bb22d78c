/** A text as a vector: its terms, hashed into 1024 dimensions. */
import type { Purpose } from "@sluice/core"
import { DIMENSION } from "../text/features.ts"
import { limitVocabulary, type Term } from "../text/Term.ts"
import { tokenize } from "../text/tokenize.ts"

export { DIMENSION } from "../text/features.ts"

/** The weight of all n-grams of a word together, relative to the word. */
const NGRAM_WEIGHT = 0.7

/** A term of the title counts this many times more. */
const TITLE_EXTRA = 2

/** A tokenized text. The first `titleTerms` of its terms are its title's. */
export interface TokenizedText {
  readonly terms: ReadonlyArray<Term>
  readonly titleTerms: number
}

/** Without a `title`, the first line of several is the title. */
export const tokenizePassage = (text: string, title?: string): TokenizedText => {
  const titleEnd = title ? 0 : Math.max(0, text.indexOf("\n"))
  const titleTerms = tokenize(title || text.slice(0, titleEnd))
  return { terms: [...titleTerms, ...tokenize(text.slice(titleEnd))], titleTerms: titleTerms.length }
}

const countTerms = ({ terms, titleTerms }: TokenizedText): ReadonlyMap<Term, number> => {
  const counts = new Map<Term, number>()
  terms.forEach((term, i) => {
    counts.set(term, (counts.get(term) ?? 0) + (i < titleTerms ? 1 + TITLE_EXTRA : 1))
  })
  return counts
}

/** The sums before they are normalized; all zero between two calls. */
const sums = new Float64Array(DIMENSION)

const addFeature = (feature: number, weight: number): void => {
  const dimension = feature >>> 1
  sums[dimension] = (sums[dimension] as number) + ((feature & 1) === 1 ? weight : -weight)
}

/** See `embedText`. */
export const embedTerms = (text: TokenizedText): Float32Array => {
  const counts = countTerms(text)
  const onlyStopWords = text.terms.every(({ stop }) => stop)
  for (const [{ features, idf, stop }, count] of counts) {
    if (stop && !onlyStopWords) continue
    const weight = (1 + Math.log(count)) * idf
    addFeature(features[0] as number, weight)
    const ngramWeight = (weight * NGRAM_WEIGHT) / Math.sqrt(features.length - 1)
    for (let i = 1; i < features.length; i++) addFeature(features[i] as number, ngramWeight)
  }
  const norm = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0))
  const vector = new Float32Array(DIMENSION)
  if (norm > 0) for (let i = 0; i < DIMENSION; i++) vector[i] = (sums[i] as number) / norm
  sums.fill(0)
  return vector
}

/** The dot product of two vectors: the cosine, since their norm is 1. */
export const dot = (x: Float32Array, y: Float32Array): number => {
  let sum = 0
  for (let i = 0; i < DIMENSION; i++) sum += (x[i] as number) * (y[i] as number)
  return sum
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
  return embedTerms(purpose === "passage" ? tokenizePassage(text) : { terms: tokenize(text), titleTerms: 0 })
}
