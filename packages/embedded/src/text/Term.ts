/** The vocabulary: every term that a text has had, each one object, so that terms are compared by identity. */
import { hashedFeatures, trigramHashes } from "./features.ts"
import { idf } from "./idf.ts"
import { stem } from "./stem.ts"
import { isStopWord } from "./StopWords.ts"

/** A stem, a CJK character, or a pair of CJK characters. */
export interface Term {
  /** Below `vocabularySize()`. */
  readonly index: number
  readonly kind: "word" | "character" | "pair"
  readonly key: string
  /** Inverse document frequency in general language, above 0, at most 1. */
  readonly idf: number
  readonly stop: boolean
  /** Where its `hashedFeatures` begin in `termHashes()`. */
  readonly features: number
  /** Where its `trigramHashes` begin and end in `termHashes()`. CJK has none. */
  readonly trigrams: number
  readonly end: number
}

/** The vocabulary is cleared above this many terms or tokens. It takes about 45 MiB then. */
const MAX_TERMS = 120_000

/** The terms of each token as it is written: one, several of an identifier, or none of underscores. */
const tokens = new Map<string, ReadonlyArray<Term>>()

/** Words of one stem share a term. */
const words = new Map<string, Term>()
/** By two UTF-16 code units in one integer: strings as keys take twice as long. */
const cjk = new Map<number, Term>()

/** The hashes of all terms in one array. With an array for each term, memory access takes most of a query's time. */
let hashes = new Int32Array(1 << 14)
let used = 0

export const termHashes = (): Int32Array => hashes

let size = 0

/** The number of terms that were made since the vocabulary was cleared. */
export const vocabularySize = (): number => size

const addHashes = (values: ReadonlyArray<number>): number => {
  const start = used
  used += values.length
  if (used > hashes.length) {
    const before = hashes
    hashes = new Int32Array(2 * Math.max(before.length, used))
    hashes.set(before)
  }
  hashes.set(values, start)
  return start
}

const makeTerm = (kind: Term["kind"], key: string, stop: boolean): Term => {
  const features = addHashes(hashedFeatures(kind, key))
  const trigrams = addHashes(kind === "word" ? trigramHashes(key) : [])
  return { index: size++, kind, key, idf: idf(key), stop, features, trigrams, end: used }
}

/** The term of a word in lower case. */
export const termOfWord = (word: string): Term => {
  const stop = isStopWord(word)
  const key = stop ? word : stem(word)
  // A stop word is not the term of another word whose stem it is.
  const name = stop ? `${key} ` : key
  const known = words.get(name)
  if (known !== undefined) return known
  const term = makeTerm("word", key, stop)
  words.set(name, term)
  return term
}

/** The terms of a token, which `split` splits into words in lower case. */
export const termsOfToken = (
  token: string,
  split: (token: string) => ReadonlyArray<string>
): ReadonlyArray<Term> => {
  const known = tokens.get(token)
  if (known !== undefined) return known
  // A copy: V8 keeps a whole text in memory for a part of it.
  const copy = structuredClone(token)
  const terms = split(copy).map(termOfWord)
  tokens.set(copy, terms)
  return terms
}

/** The term of one CJK character, or of a pair, given as UTF-16 code units. */
export const termOfCjk = (first: number, second = 0): Term => {
  const id = (first << 16) | second
  const known = cjk.get(id)
  if (known !== undefined) return known
  const key = second === 0 ? String.fromCharCode(first) : String.fromCharCode(first, second)
  const term = makeTerm(second === 0 ? "character" : "pair", key, isStopWord(key))
  cjk.set(id, term)
  return term
}

/**
 * Clears the vocabulary when it is full. Call it before a computation, never within one: a term made afterwards is
 * another object than the same term made before.
 */
export const limitVocabulary = (): void => {
  if (Math.max(size, tokens.size) <= MAX_TERMS) return
  tokens.clear()
  words.clear()
  cjk.clear()
  used = 0
  size = 0
}
