/** How similar two words are, by the letter trigrams that they share. */
import { type Term, termHashes } from "./Term.ts"

const dice = (common: number, a: Term, b: Term): number =>
  (2 * common) / (a.end - a.trigrams + b.end - b.trigrams || 1)

/** Dice coefficient of the trigrams of two words' stems: 0 for nothing in common, 1 for the same word. */
export const similarity = (a: Term, b: Term): number => {
  if (a === b) return 1
  const hashes = termHashes()
  let common = 0
  for (let i = a.trigrams, j = b.trigrams; i < a.end && j < b.end;) {
    const left = hashes[i] as number
    const right = hashes[j] as number
    if (left === right) common++
    if (left <= right) i++
    if (right <= left) j++
  }
  return dice(common, a, b)
}

/** A word that is similar to another, by its index. */
interface SimilarWord {
  readonly index: number
  /** Dice coefficient, 0 to 1. */
  readonly similarity: number
}

const NONE: ReadonlyArray<SimilarWord> = []

/** The bits of a trigram's hash that choose its mark. */
const MARK_BITS = 12

/**
 * A function that finds which of some words are similar to a word, by at least `least`, above 0. It gives what
 * comparing by `similarity` gives, and is faster: most words have no trigram in common with any.
 */
export const similarityIndex = (words: ReadonlyArray<Term>, least: number) => {
  const marks = new Uint8Array(1 << MARK_BITS)
  const postings = new Map<number, Array<number>>()
  for (const [index, word] of words.entries()) {
    for (const trigram of termHashes().subarray(word.trigrams, word.end)) {
      marks[trigram >>> (32 - MARK_BITS)] = 1
      const indexes = postings.get(trigram)
      if (indexes === undefined) postings.set(trigram, [index])
      else indexes.push(index)
    }
  }
  /** How many trigrams each word shares; all zero between two calls. */
  const common = new Uint16Array(words.length)
  const find = (other: Term): ReadonlyArray<SimilarWord> => {
    const hashes = termHashes()
    let found: Array<number> | undefined
    for (let i = other.trigrams; i < other.end; i++) {
      const trigram = hashes[i] as number
      if (marks[trigram >>> (32 - MARK_BITS)] === 0) continue
      for (const index of postings.get(trigram) ?? []) {
        if (common[index] === 0) (found ??= []).push(index)
        common[index] = (common[index] as number) + 1
      }
    }
    if (found === undefined) return NONE
    return found.flatMap((index) => {
      const similarity = dice(common[index] as number, words[index] as Term, other)
      common[index] = 0
      return similarity >= least ? [{ index, similarity }] : []
    })
  }
  return find
}
