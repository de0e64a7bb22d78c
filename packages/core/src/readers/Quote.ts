/** Finds the quotes of a model in a passage. */

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

/** Words, and each Han character by itself. */
const words = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu))

/** The sentence of a passage that shares most words with a claim, or `undefined`. */
export const closestSentence = (claim: string, passage: string): string | undefined => {
  const claimed = words(claim)
  let best: string | undefined
  let most = 0
  for (const sentence of sentencesOf(passage)) {
    const found = words(sentence)
    const shared = found.intersection(claimed).size / Math.sqrt(Math.max(1, found.size))
    if (shared > most) {
      most = shared
      best = sentence
    }
  }
  return best
}
