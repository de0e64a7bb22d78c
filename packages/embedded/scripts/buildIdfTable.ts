/** Computes inverse document frequencies in general language from lists of frequent words. */
import { stem } from "../src/text/stem.ts"
import { isStopWord } from "../src/text/StopWords.ts"

/** The number of terms to keep. Unknown terms count as the rarest, so rarer ones are not needed. */
const ENGLISH_STEMS = 6_000
const HAN_PAIRS = 4_000
const HAN_CHARACTERS = 1_500

/** Levels of 4 bits. Terms of the highest level are left out, because it is that of unknown terms. */
const TOP_LEVEL = 15

/** The size of a model document. Two characters are about a word. */
const DOCUMENT_WORDS = 50
const DOCUMENT_CHARACTERS = 100

/** Pairs across word borders are estimated from this many frequent last and first characters. */
const BORDER_CHARACTERS = 1_500

const MANDELBROT = 2.7

type Counts = Map<string, number>

const add = (counts: Counts, key: string, count: number) => counts.set(key, (counts.get(key) ?? 0) + count)

const most = (counts: Counts, size: number): ReadonlyArray<readonly [string, number]> =>
  [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, size)

/** Inverse document frequency of a term with `share` of all words, if words are independent. */
const idf = (share: number, documentSize: number): number => -Math.log(-Math.expm1(-share * documentSize))

function* entries(list: string): Generator<readonly [word: string, count: number]> {
  for (const line of list.split("\n")) {
    const [word, count] = line.trim().split(" ")
    if (word && Number(count) > 0) yield [word, Number(count)]
  }
}

/** Estimates the shares of words from their ranks by the Zipf-Mandelbrot law. */
const zipf = (words: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const weights = words.map((_, rank) => 1 / (rank + 1 + MANDELBROT))
  const sum = weights.reduce((a, b) => a + b, 0)
  return new Map(words.map((word, rank) => [word, (weights[rank] ?? 0) / sum]))
}

const englishIdf = (
  lists: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<readonly [string, number]> => {
  const shares = lists.map(zipf)
  const stems: Counts = new Map()
  for (const word of new Set(lists.flat())) {
    if (!/^[a-z]{2,}$/.test(word) || isStopWord(word)) continue
    const known = shares.flatMap((share) => share.get(word) ?? [])
    add(stems, stem(word), known.reduce((a, b) => a + b, 0) / known.length)
  }
  return most(stems, ENGLISH_STEMS).map(([key, share]) => [key, idf(share, DOCUMENT_WORDS)])
}

const chineseIdf = (list: string): ReadonlyArray<readonly [string, number]> => {
  const characters: Counts = new Map()
  const pairs: Counts = new Map()
  const firsts: Counts = new Map()
  const lasts: Counts = new Map()
  let total = 0
  let words = 0
  for (const [word, count] of entries(list)) {
    if (!/^\p{Script=Han}+$/u.test(word)) continue
    const han = [...word]
    total += count * han.length
    words += count
    han.forEach((character, i) => {
      add(characters, character, count)
      const next = han[i + 1]
      if (next !== undefined) add(pairs, character + next, count)
    })
    add(firsts, han[0] ?? "", count)
    add(lasts, han.at(-1) ?? "", count)
  }
  // Neighbouring words are taken as independent, because a list does not tell which words follow each other.
  const starts = most(firsts, BORDER_CHARACTERS)
  for (const [last, ending] of most(lasts, BORDER_CHARACTERS)) {
    for (const [first, starting] of starts) add(pairs, last + first, (ending * starting) / words)
  }
  return [...most(pairs, HAN_PAIRS), ...most(characters, HAN_CHARACTERS)].map(([key, count]) => [
    key,
    idf(count / total, DOCUMENT_CHARACTERS)
  ])
}

/**
 * Terms by level: `levels[i]` are the terms, joined by spaces, whose idf is (i + 1) / 15 of the highest.
 *
 * `english` are lists of words, most frequent first: a word's share is the mean over the lists that have it.
 * Each line of `chinese` is a word and its count; further columns are ignored.
 */
export const buildIdfTable = (
  english: ReadonlyArray<ReadonlyArray<string>>,
  chinese: string
): ReadonlyArray<string> => {
  const known = [...englishIdf(english), ...chineseIdf(chinese)]
  const highest = Math.max(...known.map(([, value]) => value))
  const levels = Array.from({ length: TOP_LEVEL - 1 }, (): Array<string> => [])
  for (const [term, value] of known) {
    const level = Math.max(1, Math.round((value / highest) * TOP_LEVEL))
    levels[level - 1]?.push(term)
  }
  return levels.map((terms) => terms.join(" "))
}
