/** What the models see of a text: its terms, each known once. */
import { idf } from "./idf.ts"
import { stem } from "./stem.ts"
import { isStopWord } from "./StopWords.ts"
import { hashed, makeWordTable, NO_LETTER } from "./WordTable.ts"

/**
 * A stem, a CJK character or a pair of them. Two texts that share a term hold the same object, until it is forgotten.
 */
export interface Term {
  readonly kind: "word" | "character" | "pair"
  readonly key: string
  /** Rarity in general language, 0 to 1. */
  readonly idf: number
  /** Says how a sentence is built, not what it is about. */
  readonly stop: boolean
  /** Place for the embedder: where in `featureCodes` it says where the term goes in a vector, -1 at first, and how many. */
  features: number
  featureCount: number
  /** Trigrams of the key, as sorted hashes. */
  trigrams: Int32Array | undefined
  /** Places for the reranker: where the term stands in the query, -1 where it does not … */
  place: number
  /** … the last document that has it … */
  document: number
  /** … and the words of the query that it looks like, as `asked` of that number found them. */
  asked: number
  likes: ReadonlyArray<Like> | undefined
  /** Place for whoever counts terms, within one synchronous pass that sets it to 0 again. */
  count: number
}

/** A word of a query that another word looks like: its place, and how much, 0 to 1. */
export interface Like {
  readonly place: number
  readonly value: number
}

/** Terms remembered; beyond, all are forgotten between two texts. About 20 MiB when full. */
const MAX_WORDS = 40_000
const MAX_CJK = 60_000

const terms = new Map<string, Term>()
const words = makeWordTable<Term>()
const cjk = new Map<number, Term>()

const make = (kind: Term["kind"], key: string, stop: boolean): Term => ({
  kind,
  key,
  idf: idf(key),
  stop,
  features: -1,
  featureCount: 0,
  trigrams: undefined,
  place: -1,
  document: 0,
  asked: 0,
  likes: undefined,
  count: 0
})

/**
 * The term of the word `text.slice(start, end)`, whose letters `hashed` made that hash of. Capitals beyond ASCII must be
 * small already.
 */
export const termAt = (text: string, start: number, end: number, hash: number): Term => {
  let term = words.get(text, start, end, hash)
  if (term === undefined) {
    const word = text.slice(start, end).replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase())
    const stop = isStopWord(word)
    // A stop word keeps apart from words that happen to have its stem.
    const key = stop ? word : stem(word)
    const name = stop ? `${key} ` : key
    term = terms.get(name)
    if (term === undefined) terms.set(name, (term = make("word", key, stop)))
    words.set(word, hash, term)
  }
  return term
}

/** The features of all terms in one array: with one for each term, a question waits for memory most of its time. */
let codes = new Uint16Array(1 << 14)
let used = 0

/** Dimension × 2, plus 1 where the feature is added and not subtracted: of a whole term first, then of its parts. */
export const featureCodes = (): Uint16Array => codes

/** Keeps the features of a term. */
export const setFeatures = (term: Term, found: ReadonlyArray<number>): void => {
  while (used + found.length > codes.length) {
    const before = codes
    codes = new Uint16Array(2 * before.length)
    codes.set(before)
  }
  codes.set(found, used)
  term.features = used
  term.featureCount = found.length
  used += found.length
}

/** The term of a word in lower case. */
export const termOfWord = (word: string): Term => {
  let hash = NO_LETTER
  for (let i = 0; i < word.length; i++) hash = hashed(hash, word.charCodeAt(i))
  return termAt(word, 0, word.length, hash)
}

/** Code units of CJK scripts are below it when counted from there: two of them fit a small integer. */
const CJK_START = 0x3000
const CJK_SIZE = 0xa800

/** The term of one CJK character (`next` = 0) or of a pair, given as UTF-16 code units from U+3001 to U+D7FF. */
export const termOfCjk = (first: number, next: number): Term => {
  const id = (first - CJK_START) * CJK_SIZE + (next === 0 ? 0 : next - CJK_START)
  let term = cjk.get(id)
  if (term === undefined) {
    const key = next === 0 ? String.fromCharCode(first) : String.fromCharCode(first, next)
    cjk.set(id, (term = make(next === 0 ? "character" : "pair", key, isStopWord(key))))
  }
  return term
}

/** How often all terms were forgotten. Those of different times are different objects. */
let forgotten = 0
export const timesForgotten = (): number => forgotten

/**
 * Keeps memory bounded. Called at the start of each whole computation and never within one: terms made before and
 * after it are different objects.
 */
export const forgetIfFull = (): void => {
  if (words.size() <= MAX_WORDS && cjk.size <= MAX_CJK) return
  words.clear()
  terms.clear()
  cjk.clear()
  used = 0
  forgotten++
}
