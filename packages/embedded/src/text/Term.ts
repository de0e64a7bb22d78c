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

/** The vocabulary is cleared above this size. It takes about 25 MiB then. */
const MAX_TERMS = 120_000

/** The terms of a token as it is written: one, several of an identifier, or none of underscores. */
interface Token {
  readonly text: string
  readonly first: Term | undefined
  readonly rest: ReadonlyArray<Term>
}

/**
 * The last tokens by hash, which is never 0: a hash's token is in one of `WAYS` slots, so that a text cannot be slow by
 * its choice of tokens. A map with strings as keys takes three times as long, because each token would be sliced.
 */
const WAYS = 8
const tokenHashes = new Int32Array(1 << 17)
const tokens = Array.from<Token | undefined>({ length: tokenHashes.length })

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

/** The terms of the token `text.slice(start, end)`, which `split` splits into words in lower case. */
export const tokenAt = (
  text: string,
  start: number,
  end: number,
  split: (token: string) => ReadonlyArray<string>
): Token => {
  // FNV-1a.
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash |= 1
  const home = (hash ^ (hash >>> 15)) & (tokenHashes.length - WAYS)
  let slot = home
  for (; slot < home + WAYS && tokenHashes[slot] !== 0; slot++) {
    if (tokenHashes[slot] !== hash) continue
    const known = tokens[slot] as Token
    if (isAt(known.text, text, start, end)) return known
  }
  if (slot === home + WAYS) slot = home
  const word = text.slice(start, end)
  const [first, ...rest] = split(word).map(termOfWord)
  const token = { text: word, first, rest: rest.length === 0 ? NO_TERMS : rest }
  tokenHashes[slot] = hash
  tokens[slot] = token
  return token
}

const NO_TERMS: ReadonlyArray<Term> = []

const isAt = (part: string, text: string, start: number, end: number): boolean => {
  if (part.length !== end - start) return false
  for (let i = 0; i < part.length; i++) if (part.charCodeAt(i) !== text.charCodeAt(start + i)) return false
  return true
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
  if (size <= MAX_TERMS) return
  tokenHashes.fill(0)
  tokens.fill(undefined)
  words.clear()
  cjk.clear()
  used = 0
  size = 0
}
