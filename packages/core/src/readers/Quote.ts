/** Finds the quotes of a model in a passage. */
import { comparableText } from "./ComparableText.ts"
import { contentWords, UNSPACED } from "./ContentWords.ts"

/** Marks at the ends of a quote, which do not count. */
const ENDS = /^[\s.,;:!?…。，；：！？'-]+|(?<![\s.,;:!?…。，；：！？'-])[\s.,;:!?…。，；：！？'-]+$/g

/** Left out words in a quote. */
const ELLIPSIS = /(?<!\s)\s*(?:\[\s*(?:…|\.{3})\s*\]|\(\s*(?:…|\.{3})\s*\)|…+|\.{3,})\s*/

/** The longest text of a passage between the words of a quote with an ellipsis, in characters. */
const MAX_ELLIPSIS = 400

/** Words of a part of a quote with an ellipsis. A single word is found everywhere. */
const MIN_PART_WORDS = 2

/**
 * The passage's own words for a quote that a reader sees as the same: without regard to spaces, case, typographic marks,
 * marks of Markdown, addresses of links, forms of characters, and stops at its ends. For a quote with an ellipsis, they are
 * the words from its first part to its last. `undefined` if the passage does not have them.
 */
export const findQuote = (quote: string, passage: string): string | undefined => {
  const trimmed = quote.trim()
  if (trimmed === "") return undefined
  if (passage.includes(trimmed)) return trimmed
  const { ends, starts, text } = comparableText(passage)
  const parts = trimmed
    .split(ELLIPSIS)
    .map((part) => comparableText(part).text.replace(ENDS, ""))
    .filter((part) => part !== "")
  if (
    parts.length > 1 &&
    parts.some((part) => part.split(" ").length < MIN_PART_WORDS && !UNSPACED.test(part))
  )
    return undefined
  const [first] = parts
  if (first === undefined) return undefined
  for (let from = text.indexOf(first); from >= 0; from = text.indexOf(first, from + 1)) {
    let to = from + first.length
    const isFound = parts.slice(1).every((part) => {
      const at = text.indexOf(part, to)
      if (at < 0 || at - to > MAX_ELLIPSIS) return false
      to = at + part.length
      return true
    })
    if (isFound && isWhole(text, from, to)) return withStop(passage, starts[from]!, ends[to - 1]!, trimmed)
  }
  return undefined
}

/** Two characters of one word or number. Scripts without spaces have no borders to see. */
const WITHIN_WORD =
  /^[[\p{L}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]{2}$/v

/** Whether a place is not a part of a longer word or number. */
const isWhole = (text: string, from: number, to: number): boolean =>
  !WITHIN_WORD.test(text.slice(Math.max(0, from - 1), from + 1)) &&
  !WITHIN_WORD.test(text.slice(to - 1, to + 1))

/** The words with the stop after them, if the quote has one there too. */
const withStop = (passage: string, start: number, end: number, quote: string): string => {
  const stop = /[.!?。！？]$/.test(quote) ? (/^[.!?。！？]/.exec(passage.slice(end))?.[0] ?? "") : ""
  return passage.slice(start, end) + stop
}

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" })

/** A single line break, which Unicode counts as the end of a sentence. */
const WRAP = /(?<!\n)\n(?![^\S\n]*\n)/g

/** The sentences of a text, verbatim and trimmed. */
export const sentencesOf = (text: string): ReadonlyArray<string> =>
  [...sentences.segment(text.replace(WRAP, " "))]
    .map(({ index, segment }) => text.slice(index, index + segment.length).trim())
    .filter((sentence) => sentence !== "")

/** Content words of a quote from the middle of a sentence. */
const MIN_QUOTE_WORDS = 3

const BEFORE_CELL = /(?:^|[\n\t|：。！？]|(?<!\d):|[.!?]\s)[\s"'“‘(*_-]*$/
const AFTER_CELL = /^[\s"'”’)*_]*(?:$|[\n\t|。！？]|[.!?](?![\p{L}\p{N}]))/u

/** "J. Smith": its full stop ends no sentence. */
const INITIAL = /^[\p{L}--\p{scx=Han}]\.?$/v

/** Characters around a quote in which its borders are looked for. */
const AROUND = 16

/**
 * Whether a quote is long enough to prove something: three content words, or a whole cell, line or sentence of its
 * passage. `delimiter`: what also separates cells.
 */
export const isProof = (quote: string, passage: string, delimiter = "\n"): boolean => {
  if (contentWords(quote).length >= MIN_QUOTE_WORDS) return true
  if (!/[\p{L}\p{N}]/u.test(quote)) return false
  const isInitial = INITIAL.test(quote)
  const endsSentence = !isInitial && /[.!?。！？]["'”’)]?$/.test(quote)
  for (let at = passage.indexOf(quote); at >= 0; at = passage.indexOf(quote, at + 1)) {
    const before = passage.slice(Math.max(0, at - AROUND), at).replaceAll(delimiter, "\n")
    const after = passage.slice(at + quote.length, at + quote.length + AROUND).replaceAll(delimiter, "\n")
    if (isInitial && after.startsWith(".")) continue
    if (BEFORE_CELL.test(before) && (endsSentence || AFTER_CELL.test(after))) return true
  }
  return false
}
