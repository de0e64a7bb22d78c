/** How similar two words are, by the letter trigrams that they share. */
import type { Term } from "./Term.ts"

/** Sorted hashes of the trigrams of a word framed by its borders. */
export const trigramHashes = (word: string): ReadonlyArray<number> => {
  const framed = `^${word}$`
  const hashes = new Set<number>()
  for (let i = 0; i + 3 <= framed.length; i++) {
    hashes.add(
      Math.imul(framed.charCodeAt(i), 0x9e3779b1) ^
        Math.imul(framed.charCodeAt(i + 1), 0x85ebca6b) ^
        Math.imul(framed.charCodeAt(i + 2), 0xc2b2ae35)
    )
  }
  return [...hashes].toSorted((a, b) => a - b)
}

const dice = (common: number, a: Term, b: Term): number =>
  (2 * common) / (a.trigrams.length + b.trigrams.length || 1)

/** Dice coefficient of the trigrams of two words' stems: 0 for nothing in common, 1 for the same word. */
export const similarity = (a: Term, b: Term): number => {
  if (a === b) return 1
  let common = 0
  for (let i = 0, j = 0; i < a.trigrams.length && j < b.trigrams.length;) {
    const left = a.trigrams[i] as number
    const right = b.trigrams[j] as number
    if (left === right) common++
    if (left <= right) i++
    if (right <= left) j++
  }
  return dice(common, a, b)
}

/** A word that is similar to another, by its index. */
export interface SimilarWord {
  readonly index: number
  /** Dice coefficient, 0 to 1. */
  readonly similarity: number
}

/**
 * A function that finds which of some words are similar to a word, by at least `least`, above 0. It gives what
 * comparing by `similarity` gives, and is faster: most words have no trigram in common with any.
 */
export const similarityIndex = (words: ReadonlyArray<Term>, least: number) => {
  const postings = new Map<number, Array<number>>()
  words.forEach((word, index) => {
    for (const trigram of word.trigrams) {
      const indexes = postings.get(trigram)
      if (indexes === undefined) postings.set(trigram, [index])
      else indexes.push(index)
    }
  })
  const known = new Map<Term, ReadonlyArray<SimilarWord>>()
  const find = (other: Term): ReadonlyArray<SimilarWord> => {
    const common = new Map<number, number>()
    for (const trigram of other.trigrams) {
      for (const index of postings.get(trigram) ?? []) common.set(index, (common.get(index) ?? 0) + 1)
    }
    return [...common]
      .map(([index, count]) => ({ index, similarity: dice(count, words[index] as Term, other) }))
      .filter(({ similarity }) => similarity >= least)
  }
  return (other: Term): ReadonlyArray<SimilarWord> => {
    let found = known.get(other)
    if (found === undefined) known.set(other, (found = find(other)))
    return found
  }
}
