/** How similar two words are, by the letter trigrams that they share. */
import { type Term, termHashes } from "./Term.ts"

/** By its index among some words: a similar one, with the Dice coefficient of the trigrams of the stems, 0 to 1. */
type SimilarWords = ReadonlyArray<{ readonly index: number; readonly similarity: number }>

/** The bits of a trigram's hash that choose its mark. */
const MARK_BITS = 12

/**
 * A function that finds which of some words are similar to a word, by at least `least`, above 0. It looks up
 * trigrams, because most words have none in common with any.
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
  return (other: Term): SimilarWords => {
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
    if (found === undefined) return []
    return found.flatMap((index) => {
      const { end, trigrams } = words[index] as Term
      const similarity = (2 * (common[index] as number)) / (end - trigrams + other.end - other.trigrams)
      common[index] = 0
      return similarity >= least ? [{ index, similarity }] : []
    })
  }
}
