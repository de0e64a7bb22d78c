/** Relevance of documents to a query, from the words that they share. */
import type { Candidate } from "@sluice/core"
import { termsOfDocument } from "./documentTerms.ts"
import { DIMENSION, dot, embedTerms, type TermedText } from "./embedText.ts"
import { nearnessOf } from "./relevanceFeedback.ts"
import { likesOf } from "../text/similarity.ts"
import { forgetIfFull, type Term } from "../text/Term.ts"
import { termsOf } from "../text/termsOf.ts"

/**
 * Shares of the score; no single one carries it. `vector` and `company`: nDCG@10 .371 → .403 (Cranfield, 20 documents).
 * Rarity among the candidates counts more than rarity in general language: .415 → .420 (50 documents), and no less on
 * code, README sections and package descriptions. What a title says counts as far as the text does not say it. With
 * `order` .15 the mean of 78 collections is .001 lower, of the 54 not made from Cranfield .002. Pairs of CJK characters
 * overlap: their order says little more than they do.
 */
const WEIGHTS = {
  background: 0.2,
  candidates: 0.6,
  title: 0.18,
  order: 0.25,
  orderOfPairs: 0.15,
  similar: 0.2,
  vector: 0.3,
  covered: 0.1,
  company: 1.5
}

/**
 * Whoever types a few words expects what has all of them: the share of the question's words that a document has, the rare
 * ones among the candidates counting more, to so high a power that little but nearly all of them counts. Three words of a
 * dictionary's article: nDCG@10 .017 above BM25 in place of .045 below; Cranfield and the mean of 97 others as before.
 */
const COVERED_POWER = 5

/**
 * A long question has many words that are rare and of no importance, and each document has some of them: what all of them
 * say together, the vector, counts more from so many different words on, up to so much more. Twelve collections with
 * questions of 20 to 90 words: nDCG@10 and nDCG@3 +.01 in the mean.
 */
const LONG = 15
const VERY_LONG = 50
const VECTOR_OF_LONG = 1

/**
 * What the priors count in choosing the leaders. They, the leaders' power and the weight of their company together: the
 * mean of 98 collections .0015 above what `covered` gives, twelve of them below BM25 → ten, what these lack together
 * .084 → .035 (nDCG@10).
 */
const LEADER_PRIOR = 0.15

/** Saturation of repeated terms, and how far long documents are held back. */
const K1 = 1.2
const B = 0.75

/** Documents shorter than so many terms are not favoured for being short. */
const MIN_AVERAGE_TERMS = 60

/** Words less alike than this have nothing in common. */
const SIMILAR = 0.5

/** What a CJK character counts against a word or a pair. */
const CHARACTER_WEIGHT = 0.5

/** How long a question is: each character begins a pair. */
const SIZES = { word: 1, character: 0.5, pair: 0 }

interface Wanted {
  /** Different words, or pairs of CJK characters. */
  readonly size: number
  /** Each knows its place, until `forget`. */
  readonly terms: ReadonlyArray<Term>
  /** Their places as they follow each other in the query. */
  readonly sequence: ReadonlyArray<number>
  readonly weights: Float64Array
  /** Terms that follow each other in the query, as places. */
  readonly neighbours: ReadonlySet<number>
  /** What their order counts. */
  readonly order: number
  /** Which of them a word looks like. */
  readonly likes: ReturnType<typeof likesOf>
}

const wantedOf = (all: ReadonlyArray<Term>): Wanted => {
  const content = all.filter(({ stop }) => !stop)
  const sequence = content.length > 0 ? content : all
  const terms = [...new Set(sequence)]
  terms.forEach((term, place) => {
    term.place = place
  })
  const words = sequence.filter(({ kind }) => kind !== "character")
  const neighbours = new Set<number>()
  for (let i = 1; i < words.length; i++) {
    const before = words[i - 1]
    const after = words[i]
    if (before === undefined || after === undefined || before === after) continue
    neighbours.add(before.place * terms.length + after.place)
  }
  const weights = Float64Array.from(terms, ({ idf, kind }) =>
    kind === "character" ? idf * CHARACTER_WEIGHT : idf
  )
  const size = terms.reduce((sum, { kind }) => sum + SIZES[kind], 0)
  const pairs = words.filter(({ kind }) => kind === "pair").length / (words.length || 1)
  const order = WEIGHTS.order + pairs * (WEIGHTS.orderOfPairs - WEIGHTS.order)
  const likes = likesOf(terms, SIMILAR)
  return { size, terms, sequence: sequence.map(({ place }) => place), weights, neighbours, order, likes }
}

const forget = ({ terms }: Wanted): void => {
  for (const term of terms) term.place = -1
}

interface Seen {
  /** Of each wanted term: how often in title and text, whether in the title, and how much the likest word is like it. */
  readonly counts: ReadonlyArray<number>
  readonly inTitle: ReadonlyArray<number>
  readonly likeness: ReadonlyArray<number>
  readonly ordered: number
  readonly length: number
  readonly titled: boolean
}

/** Documents looked at so far, in all calls. */
let documentsSeen = 0

const look = ({ likes, neighbours, terms }: Wanted, all: ReadonlyArray<Term>, titleTerms: number): Seen => {
  const counts = terms.map(() => 0)
  const inTitle = terms.map(() => 0)
  const likeness = terms.map(() => 0)
  const found = new Set<number>()
  const document = ++documentsSeen
  let length = 0
  let before = -1
  for (let i = 0; i < all.length; i++) {
    const term = all[i] as Term
    const place = term.place
    if (i === titleTerms) before = -1
    if (term.stop && place < 0) continue
    length++
    if (term.kind === "word" && term.document !== document) {
      term.document = document
      const alike = likes(term)
      if (alike !== undefined) {
        for (const { place, value } of alike) likeness[place] = Math.max(value, likeness[place] as number)
      }
    }
    if (place >= 0) {
      counts[place] = (counts[place] as number) + 1
      if (i < titleTerms) inTitle[place] = 1
    }
    if (term.kind === "character") continue
    if (before >= 0 && place >= 0 && neighbours.has(before * terms.length + place)) {
      found.add(before * terms.length + place)
    }
    before = place
  }
  const ordered = found.size / (neighbours.size || 1)
  return { counts, inTitle, ordered, length, likeness, titled: titleTerms > 0 }
}

/** What words in common say of a document, all between 0 and 1 but `score`. */
interface Match {
  /** Without what its title gives. */
  readonly score: number
  /** How well it fits, by rarity among the candidates. */
  readonly fit: number
  /** What its title says and its text does not say often. */
  readonly title: number
  /** What a title could say so. */
  readonly room: number
}

/**
 * Titled documents must not win by what others cannot have: one without a title gets what the others' titles give on
 * average to a document that fits so well. That grows with the square of the fit; it ends where nothing is left to say.
 * Twelve collections of which chance took a third of the titles: nDCG@3 +.018 over BM25 in place of +.016; where relevant
 * ones alone have lost theirs (ten others): +.014 in place of -.002.
 */
const usualTitle = (titled: ReadonlyArray<Match>): ((document: Match) => number) => {
  const title = titled.reduce((sum, document) => sum + document.title, 0) / (titled.length || 1)
  const fit = titled.reduce((sum, document) => sum + document.fit, 0) / (titled.length || 1)
  return (document) => (fit > 0 ? Math.min(document.room, title * (document.fit / fit) ** 2) : 0)
}

/** How rare each wanted term is among the documents, as far as it is in general language. */
const rarityAmong = ({ weights }: Wanted, seen: ReadonlyArray<Seen>): Float64Array =>
  weights.map((weight, place) => {
    const holders = seen.reduce((sum, { counts }) => sum + (counts[place] === 0 ? 0 : 1), 0)
    return (weight * Math.log(1 + (seen.length + 0.5) / (holders + 0.5))) / Math.log(2 + 2 * seen.length)
  })

/** Scores from words in common alone. */
const lexicalScores = (wanted: Wanted, rare: Float64Array, seen: ReadonlyArray<Seen>): Float64Array => {
  const { order, terms, weights } = wanted
  const average = Math.max(
    MIN_AVERAGE_TERMS,
    seen.reduce((sum, { length }) => sum + length, 0) / (seen.length || 1)
  )
  const total = weights.reduce((a, b) => a + b, 0) || 1
  const totalRare = rare.reduce((a, b) => a + b, 0) || 1
  const matches = seen.map((document): Match => {
    const norm = K1 * (1 - B + (B * document.length) / average)
    let background = 0
    let fit = 0
    let title = 0
    let room = 0
    let similar = 0
    let covered = 0
    for (let place = 0; place < terms.length; place++) {
      const count = document.counts[place] as number
      const weight = weights[place] as number
      if (count > 0) {
        const saturated = count / (count + norm)
        const unsaid = (rare[place] as number) * (1 - saturated)
        background += weight * saturated
        fit += (rare[place] as number) * saturated
        title += unsaid * (document.inTitle[place] as number)
        room += unsaid
        covered += rare[place] as number
      } else similar += weight * (document.likeness[place] as number)
    }
    const score =
      (WEIGHTS.background * background + WEIGHTS.similar * similar) / total +
      (WEIGHTS.candidates * fit) / totalRare +
      WEIGHTS.covered * (covered / totalRare) ** COVERED_POWER +
      order * document.ordered
    return { score, fit: fit / totalRare, title: title / totalRare, room: room / totalRare }
  })
  const usual = usualTitle(matches.filter((_, i) => seen[i]?.titled === true))
  return Float64Array.from(
    matches,
    (match, i) => match.score + WEIGHTS.title * (seen[i]?.titled === true ? match.title : usual(match))
  )
}

/** Of the call before: 40 new ones a question, 4 KB each, keep the garbage collector busy. */
const vectorsKept: Array<Float32Array> = []
const VECTORS_KEPT = 100

const vectorAt = (i: number): Float32Array =>
  i < VECTORS_KEPT ? (vectorsKept[i] ??= new Float32Array(DIMENSION)) : new Float32Array(DIMENSION)

const logistic = (x: number): number => 1 / (1 + Math.exp(-x))

/**
 * A score for each document, in the order given: above 0, below 1, higher is better.
 *
 * **Details.** Saturated term frequency, with rarity in general language and among the candidates, and smaller parts
 * for title, order of words, words that look alike, having all words, and the vectors of `embedText`, which count more for
 * long questions; then how near a document is to the three best, and to the best of what else the question speaks of.
 * `priors` (0 to 1, in the order of the documents) take part in choosing these. Only what is given counts: no index, no
 * state, no matter in which order the documents come, unless several are the best, to the last digit: then the first.
 *
 * **Gotchas.** Scores order the documents of one call. They are no probabilities.
 */
export const rerankScores = (
  query: string,
  documents: ReadonlyArray<Candidate>,
  priors: ReadonlyArray<number> = []
): Float64Array => {
  forgetIfFull()
  const asked: TermedText = { terms: termsOf(query), titleTerms: 0 }
  const wanted = wantedOf(asked.terms)
  const vector = embedTerms(asked)
  const vectors: Array<Float32Array> = []
  // All of one document before the next: its terms are still near.
  const seen = documents.map((document, i) => {
    const passage = termsOfDocument(document)
    vectors.push(embedTerms(passage, vectorAt(i)))
    return look(wanted, passage.terms, document.title ? passage.titleTerms : 0)
  })
  forget(wanted)
  const long = Math.max(0, Math.min((wanted.size - LONG) / (VERY_LONG - LONG), 1))
  const vectorWeight = WEIGHTS.vector + long * VECTOR_OF_LONG
  const rarity = rarityAmong(wanted, seen)
  const scores = lexicalScores(wanted, rarity, seen).map(
    (score, i) => score + vectorWeight * dot(vector, vectors[i] ?? vector)
  )
  const company = nearnessOf(
    { rarity, sequence: wanted.sequence },
    scores.map((score, i) => score + LEADER_PRIOR * (priors[i] ?? 0)),
    seen.map(({ counts }) => counts),
    vectors
  )
  return scores.map((score, i) => logistic(4 * (score + WEIGHTS.company * (company[i] ?? 0)) - 4))
}
