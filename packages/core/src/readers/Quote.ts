/** Finds the quotes of a model in a passage. */
import { contentWords } from "./ContentWords.ts"

/** Typographic marks that count as equal. */
const TYPOGRAPHIC_MARKS: ReadonlyMap<string, string> = new Map([
  ["“", '"'],
  ["”", '"'],
  ["„", '"'],
  ["‘", "'"],
  ["’", "'"],
  ["–", "-"],
  ["—", "-"]
])

/** A text normalised for comparison: spaces, case and typographic marks. `at[i]` is the original offset of `text[i]`. */
const normalise = (source: string): { readonly text: string; readonly at: ReadonlyArray<number> } => {
  let text = ""
  const at: Array<number> = []
  let position = 0
  for (const character of source) {
    const space = /\s/u.test(character)
    const normalised = space ? " " : (TYPOGRAPHIC_MARKS.get(character) ?? character.toLowerCase())
    if (!(space && text.endsWith(" "))) {
      text += normalised
      for (let i = 0; i < normalised.length; i++) at.push(position)
    }
    position += character.length
  }
  return { text, at }
}

/**
 * The passage's own words for a quote that differs only in spaces, case or typographic marks; `undefined` when the
 * passage does not have it.
 */
export const findQuote = (quote: string, passage: string): string | undefined => {
  const trimmed = quote.trim()
  if (trimmed === "") return undefined
  if (passage.includes(trimmed)) return trimmed
  const { text, at } = normalise(passage)
  const wanted = normalise(trimmed).text
  const start = text.indexOf(wanted)
  if (start === -1) return undefined
  const last = at[start + wanted.length - 1]
  const first = at[start]
  if (first === undefined || last === undefined) return undefined
  return passage.slice(first, last + String.fromCodePoint(passage.codePointAt(last) ?? 0).length)
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

const BEFORE_CELL = /(?:^|[\n\t|:：.!?。！？])[\s"'“‘(*_-]*$/
const AFTER_CELL = /^[\s"'”’)*_]*(?:$|[\n\t|.!?。！？])/

/** Characters around a quote in which its borders are looked for. */
const AROUND = 16

/**
 * Whether a quote is long enough to prove something: three content words, or a whole cell, line or sentence of its
 * passage. `delimiter`: what also separates cells.
 */
export const isProof = (quote: string, passage: string, delimiter = "\n"): boolean => {
  if (contentWords(quote).length >= MIN_QUOTE_WORDS) return true
  if (!/[\p{L}\p{N}]/u.test(quote)) return false
  for (let at = passage.indexOf(quote); at >= 0; at = passage.indexOf(quote, at + 1)) {
    const before = passage.slice(Math.max(0, at - AROUND), at).replaceAll(delimiter, "\n")
    const after = passage.slice(at + quote.length, at + quote.length + AROUND).replaceAll(delimiter, "\n")
    const endsSentence = /[.!?。！？]["'”’)]?$/.test(quote)
    if (BEFORE_CELL.test(before) && (endsSentence || AFTER_CELL.test(after))) return true
  }
  return false
}

/** Content words that a claim must share with its sentence, if it has as many. */
const MIN_SHARED_WORDS = 2

/** The sentence of a passage that shares most content words with a claim, or `undefined`. */
export const closestSentence = (claim: string, passage: string): string | undefined => {
  const claimed = new Set(contentWords(claim))
  const needed = Math.min(claimed.size, MIN_SHARED_WORDS)
  let best: string | undefined
  let most = 0
  for (const sentence of sentencesOf(passage)) {
    const found = new Set(contentWords(sentence))
    const shared = found.intersection(claimed).size
    const closeness = shared / Math.sqrt(Math.max(1, found.size))
    if (shared >= needed && closeness > most) {
      most = closeness
      best = sentence
    }
  }
  return best
}
