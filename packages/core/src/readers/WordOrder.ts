/** Whether a sentence only repeats words of its quotes, in their order. */
import { isSameWord } from "./ContentWords.ts"
import { numbersOf } from "./Support.ts"

/** Words that may be added: they hardly change what a sentence states. */
const LIGHT_WORDS = new Set(
  (
    "the a an is are was were be been being it its this that these those he she they them his her their there of to in on " +
    "at by for with and or as which who whom whose if when where than then so do does did has have had can may must will " +
    "would should could"
  ).split(" ")
)

/** A word, with its apostrophe, or a number; or a character of Chinese. */
const WORD = /\p{Script=Han}|[[\p{L}\p{N}]--[\p{Script=Han}]]+(?:['’.:,][[\p{L}\p{N}]--[\p{Script=Han}]]+)*/gv

interface Word {
  readonly text: string
  readonly number: string | undefined
}

const wordsOf = (text: string): ReadonlyArray<Word> =>
  (text.toLowerCase().match(WORD) ?? []).map((word) => ({ text: word, number: [...numbersOf(word)][0] }))

const isSame = (a: Word, b: Word): boolean =>
  a.number === undefined ? isSameWord(a.text, b.text) : a.number === b.number

/** Comparisons of words at most. Longer sentences and quotes are not compared. */
const MAX_COMPARISONS = 200_000

/** True if the longest common subsequence with the quotes has all words but the light ones. */
export const followsQuotes = (sentence: string, quotes: string): boolean => {
  const words = wordsOf(sentence).filter(({ text }) => !LIGHT_WORDS.has(text))
  const quoted = wordsOf(quotes)
  if (words.length * quoted.length > MAX_COMPARISONS) return false
  let lengths = Array.from({ length: quoted.length + 1 }, () => 0)
  for (const word of words) {
    const next = [0]
    quoted.forEach((other, i) =>
      next.push(isSame(word, other) ? lengths[i]! + 1 : Math.max(lengths[i + 1]!, next[i]!))
    )
    lengths = next
  }
  return lengths.at(-1) === words.length
}
