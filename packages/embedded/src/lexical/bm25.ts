/** The parts of BM25: which terms of a query a document has, how often, and how rare they are. */
import { similarityIndex } from "../text/trigrams.ts"
import { type Term, vocabularySize } from "../text/Term.ts"
import type { TokenizedText } from "./embedText.ts"

/** BM25's k1: how soon repetitions of a term stop counting. */
const K1 = 1.2
/** BM25's b: how strongly the length of a document reduces its score. */
const B = 0.75

/** The average length is at least this many terms, so that a document is not favoured for being shorter. */
const MIN_AVERAGE_LENGTH = 60

/** Words that are less similar count as different. */
const MIN_SIMILARITY = 0.5

/** The weight of a CJK character relative to a word or a pair. */
const CHARACTER_WEIGHT = 0.5

/** What a term adds to the length of a query. Each CJK character begins a pair. */
const SIZES = { word: 1, character: 0.5, pair: 0 }

const ABSENT = -1

/** A query. Numbers about its terms are arrays in the order of `terms`. */
export type Query = ReturnType<typeof makeQuery>

export const makeQuery = (all: ReadonlyArray<Term>) => {
  const content = all.filter(({ stop }) => !stop)
  const sequence = content.length > 0 ? content : all
  const terms = [...new Set(sequence)]
  const indexes = new Int32Array(vocabularySize()).fill(ABSENT)
  for (const [i, { index }] of terms.entries()) indexes[index] = i
  const indexOf = (term: Term) => indexes[term.index] as number
  const words = sequence.filter(({ kind }) => kind !== "character")
  const bigrams = words.flatMap((word, i) => {
    const before = words[i - 1]
    return before === undefined || before === word ? [] : indexOf(before) * terms.length + indexOf(word)
  })
  return {
    /** Each term once; stop words only in a query of nothing else. */
    terms,
    /** By a term's index in the vocabulary: its index in `terms`, or `ABSENT`. Terms made later are beyond its end. */
    indexes,
    /** Indexes of the terms as they follow each other in the query. */
    sequence: sequence.map(indexOf),
    /** Inverse document frequency in general language. */
    idf: Float64Array.from(terms, ({ idf, kind }) => (kind === "character" ? idf * CHARACTER_WEIGHT : idf)),
    /** Words and CJK characters. */
    size: terms.reduce((sum, { kind }) => sum + SIZES[kind], 0),
    /** Pairs of words, or of CJK pairs, that follow each other, as `first × terms + second`. */
    bigrams: new Set(bigrams),
    /** The share of CJK pairs among the words, 0 to 1. */
    cjkShare: words.filter(({ kind }) => kind === "pair").length / (words.length || 1),
    similarTo: similarityIndex(terms, MIN_SIMILARITY)
  }
}

/** What a document has of a query. Arrays are in the order of the query's terms. */
export type Match = ReturnType<typeof matchDocument>

export const matchDocument = (query: Query, document: TokenizedText) => {
  const { indexes, similarTo, terms } = query
  const counts = terms.map(() => 0)
  let length = 0
  for (const [i, term] of document.distinct.entries()) {
    const index = indexes[term.index] ?? ABSENT
    if (term.stop && index === ABSENT) continue
    const count = document.counts[i] as number
    length += count
    if (index !== ABSENT) counts[index] = count
  }
  const similarity = terms.map(() => 0)
  if (counts.includes(0)) {
    for (const term of document.distinct) {
      if (term.stop && (indexes[term.index] ?? ABSENT) === ABSENT) continue
      for (const similar of similarTo(term)) {
        similarity[similar.index] = Math.max(similar.similarity, similarity[similar.index] as number)
      }
    }
  }
  const title = document.terms.slice(0, document.titleTerms)
  return {
    counts,
    inTitle: terms.map((term) => title.includes(term)),
    /** The similarity of the most similar word, 0 to 1; 0 below `MIN_SIMILARITY`. */
    similarity,
    /** The share of the query's bigrams that the document has, 0 to 1. */
    bigrams: countBigrams(query, document) / (query.bigrams.size || 1),
    /** Terms that are no stop words, or are in the query. */
    length,
    titled: title.length > 0
  }
}

/** How many of a query's bigrams a document has, across stop words that are not in the query. */
const countBigrams = (query: Query, { terms, titleTerms }: TokenizedText): number => {
  const found = new Set<number>()
  let before = ABSENT
  for (const [i, { index, kind, stop }] of terms.entries()) {
    if (i === titleTerms) before = ABSENT
    const at = query.indexes[index] ?? ABSENT
    if (kind === "character" || (stop && at === ABSENT)) continue
    const bigram = before * query.terms.length + at
    if (before !== ABSENT && at !== ABSENT && query.bigrams.has(bigram)) found.add(bigram)
    before = at
  }
  return found.size
}

/**
 * Inverse document frequency among the candidates × in general language, for each term of the query: a term that all
 * candidates have tells nothing about which is best.
 */
export const candidateIdf = ({ idf }: Query, matches: ReadonlyArray<Match>) =>
  idf.map((general, index) => {
    const documents = matches.filter(({ counts }) => counts[index] !== 0).length
    return (
      (general * Math.log(1 + (matches.length + 0.5) / (documents + 0.5))) / Math.log(2 + 2 * matches.length)
    )
  })

/** BM25's saturated term frequency, 0 to 1, as a function of the count and the document. */
export const termFrequency = (matches: ReadonlyArray<Match>): ((count: number, match: Match) => number) => {
  const total = matches.reduce((sum, { length }) => sum + length, 0)
  const average = Math.max(MIN_AVERAGE_LENGTH, total / (matches.length || 1))
  return (count, { length }) => count / (count + K1 * (1 - B + (B * length) / average))
}
