/** Passages that say the same: pages that repeat, versions of a document, boilerplate. */
import type { StoredPassage } from "./Document.ts"

/** Texts that share fewer of their triples of words say different things. */
const SHARED = 0.85

/** Shorter texts are the same only when all their words are. */
const SHORT = 20

const NEGATIONS = new Set([
  "not",
  "no",
  "never",
  "without",
  "none",
  "nor",
  "cannot",
  "不",
  "没",
  "無",
  "无",
  "非",
  "未"
])

/** Its words in lower case; of Han, each character. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .match(/\p{Script=Han}|[\p{L}\p{M}\p{N}]+/gu) ?? []

/** Tells which passages say the same; each text is taken apart once. */
export const makeSameText = (question: string) => {
  const asked = new Set(wordsOf(question))
  const known = new Map<string, ReadonlyArray<string>>()
  const words = (passage: StoredPassage): ReadonlyArray<string> => {
    const own = known.get(passage.id) ?? wordsOf(passage.text)
    known.set(passage.id, own)
    return own
  }
  /**
   * Whether two passages say the same: all their words are equal, or nearly all in the same order.
   *
   * **Details.** Never where they differ in a number, a negation, or a word of the question: that may be the answer.
   */
  return (a: StoredPassage, b: StoredPassage): boolean => {
    const longer = Math.max(a.text.length, b.text.length)
    if (Math.abs(a.text.length - b.text.length) > longer * (1 - SHARED)) return false
    if (a.figure?.kind !== b.figure?.kind || a.figure?.crop !== b.figure?.crop) return false
    if (a.text === b.text) return true
    const left = words(a)
    const right = words(b)
    if (left.length === right.length && left.every((word, i) => word === right[i])) return true
    if (Math.min(left.length, right.length) < SHORT) return false
    return differences(left, right).every((word) => !telling(word, asked)) && likeness(left, right) >= SHARED
  }
}

const telling = (word: string, asked: ReadonlySet<string>): boolean =>
  /\p{N}/u.test(word) || NEGATIONS.has(word) || asked.has(word)

/** Words that one has more often than the other. */
const differences = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const word of left) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const word of right) counts.set(word, (counts.get(word) ?? 0) - 1)
  return [...counts].filter(([, count]) => count !== 0).map(([word]) => word)
}

/** Triples of words in common, of all there are. */
const likeness = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): number => {
  const own = triples(left)
  const other = triples(right)
  let shared = 0
  for (const triple of own) if (other.has(triple)) shared++
  return shared / (own.size + other.size - shared || 1)
}

const triples = (words: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(words.slice(2).map((_, i) => words.slice(i, i + 3).join(" ")))
