/** The vocabulary: every term that a text has had, each one object, so that terms are compared by identity. */
import { hashedFeatures } from "./features.ts"
import { idf } from "./idf.ts"
import { stem } from "./stem.ts"
import { isStopWord } from "./StopWords.ts"
import { trigramHashes } from "./trigrams.ts"

/** A stem, a CJK character, or a pair of CJK characters. */
export interface Term {
  readonly kind: "word" | "character" | "pair"
  readonly key: string
  /** Inverse document frequency in general language, above 0, at most 1. */
  readonly idf: number
  readonly stop: boolean
  /** The dimensions of a vector that the term adds to: see `hashedFeatures`. */
  readonly features: ReadonlyArray<number>
  /** Sorted hashes of the key's trigrams; empty for CJK. */
  readonly trigrams: ReadonlyArray<number>
}

/** The vocabulary is cleared above these sizes. It takes about 20 MiB then. */
const MAX_WORDS = 40_000
const MAX_CJK = 60_000

/** By the word as it is written, in lower case; words of one stem share a term. */
const words = new Map<string, Term>()
const stems = new Map<string, Term>()
/** By two UTF-16 code units in one integer: strings as keys take twice as long. */
const cjk = new Map<number, Term>()

const makeTerm = (kind: Term["kind"], key: string, stop: boolean): Term => ({
  kind,
  key,
  idf: idf(key),
  stop,
  features: hashedFeatures(kind, key),
  trigrams: kind === "word" ? trigramHashes(key) : []
})

/** The term of a word in lower case. */
export const termOfWord = (word: string): Term => {
  const known = words.get(word)
  if (known !== undefined) return known
  const stop = isStopWord(word)
  const key = stop ? word : stem(word)
  // A stop word is not the term of another word whose stem it is.
  const name = stop ? `${key} ` : key
  const term = stems.get(name) ?? makeTerm("word", key, stop)
  stems.set(name, term)
  words.set(word, term)
  return term
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
  if (words.size <= MAX_WORDS && cjk.size <= MAX_CJK) return
  words.clear()
  stems.clear()
  cjk.clear()
}
