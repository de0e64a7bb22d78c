/** What the models see of a text: its terms, each known once. */
import { idf } from "./idf.ts"
import { stem } from "./stem.ts"
import { isStopWord } from "./StopWords.ts"

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
  /** Place for the embedder: where the term goes in a vector. */
  features: Features | undefined
  /** Place for the reranker. */
  trigrams: Trigrams | undefined
  /** Place for whoever counts terms, within one synchronous pass that sets it to 0 again. */
  count: number
}

/** Dimension × 2, plus 1 when it is added and not subtracted: of the whole term first, then of its parts. */
export interface Features {
  readonly codes: Uint16Array
  /** What each part adds or subtracts for an idf of 1, against 1 for the whole. */
  readonly partWeight: number
}

/** The trigrams of a term's key. */
export interface Trigrams {
  /** Sorted. */
  readonly hashes: Int32Array
  /** One of 32 bits for each hash. */
  readonly bits: number
  /** How many hashes share another's bit. */
  readonly shared: number
}

/** Terms remembered; beyond, all are forgotten between two texts. About 30 MiB when full. */
const MAX_WORDS = 40_000
const MAX_CJK = 60_000

const terms = new Map<string, Term>()
const words = new Map<string, Term>()
const cjk = new Map<number, Term>()

const make = (kind: Term["kind"], key: string, stop: boolean): Term => ({
  kind,
  key,
  idf: idf(key),
  stop,
  features: undefined,
  trigrams: undefined,
  count: 0
})

/** The term of a word in lower case. */
export const termOfWord = (word: string): Term => {
  let term = words.get(word)
  if (term === undefined) {
    const stop = isStopWord(word)
    // A stop word keeps apart from words that happen to have its stem.
    const key = stop ? word : stem(word)
    const name = stop ? `${key} ` : key
    term = terms.get(name)
    if (term === undefined) terms.set(name, (term = make("word", key, stop)))
    words.set(word, term)
  }
  return term
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

/**
 * Keeps memory bounded. Called at the start of each whole computation and never within one: terms made before and
 * after it are different objects.
 */
export const forgetIfFull = (): void => {
  if (words.size > MAX_WORDS) {
    words.clear()
    terms.clear()
  }
  if (cjk.size > MAX_CJK) cjk.clear()
}
