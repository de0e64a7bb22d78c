/** How similar two words are, by the letter trigrams that they share. */

/** A word with the sorted hashes of its trigrams. */
interface HashedWord {
  readonly trigrams: ReadonlyArray<number>
}

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

const dice = (common: number, a: HashedWord, b: HashedWord): number =>
  (2 * common) / (a.trigrams.length + b.trigrams.length || 1)

/** Dice coefficient of the trigrams of two words' stems: 0 for nothing in common, 1 for the same word. */
export const similarity = (a: HashedWord, b: HashedWord): number => {
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

const NONE: ReadonlyArray<SimilarWord> = []

/** The bits of a trigram's hash that choose its mark. */
const MARK_BITS = 12

/**
 * A function that finds which of some words are similar to a word, by at least `least`, above 0. It gives what
 * comparing by `similarity` gives, and is faster: most words have no trigram in common with any.
 */
export const similarityIndex = (words: ReadonlyArray<HashedWord>, least: number) => {
  const marks = new Uint8Array(1 << MARK_BITS)
  const postings = new Map<number, Array<number>>()
  for (const [index, { trigrams }] of words.entries()) {
    for (const trigram of trigrams) {
      marks[trigram >>> (32 - MARK_BITS)] = 1
      const indexes = postings.get(trigram)
      if (indexes === undefined) postings.set(trigram, [index])
      else indexes.push(index)
    }
  }
  const find = (other: HashedWord): ReadonlyArray<SimilarWord> => {
    let common: Array<number> | undefined
    for (const trigram of other.trigrams) {
      if (marks[trigram >>> (32 - MARK_BITS)] === 0) continue
      for (const index of postings.get(trigram) ?? []) {
        common ??= words.map(() => 0)
        common[index] = (common[index] as number) + 1
      }
    }
    if (common === undefined) return NONE
    return common
      .map((count, index) => ({ index, similarity: dice(count, words[index] as HashedWord, other) }))
      .filter(({ similarity }) => similarity >= least)
  }
  return find
}
