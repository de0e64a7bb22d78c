/** Finds in a passage the words that a model says it quotes. */

/** Where the model's copy and the passage may differ without being different words. */
const LOOSE: ReadonlyMap<string, string> = new Map([
  ["“", '"'],
  ["”", '"'],
  ["„", '"'],
  ["‘", "'"],
  ["’", "'"],
  ["–", "-"],
  ["—", "-"]
])

/** A text for comparison: spaces collapsed, case and typographic marks levelled; `at[i]` is where `text[i]` stood. */
const level = (source: string): { readonly text: string; readonly at: ReadonlyArray<number> } => {
  let text = ""
  const at: Array<number> = []
  let position = 0
  for (const character of source) {
    const space = /\s/u.test(character)
    const levelled = space ? " " : (LOOSE.get(character) ?? character.toLowerCase())
    if (!(space && text.endsWith(" "))) {
      text += levelled
      for (let i = 0; i < levelled.length; i++) at.push(position)
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
  const { text, at } = level(passage)
  const wanted = level(trimmed).text
  const start = text.indexOf(wanted)
  if (start === -1) return undefined
  const last = at[start + wanted.length - 1]
  const first = at[start]
  if (first === undefined || last === undefined) return undefined
  return passage.slice(first, last + String.fromCodePoint(passage.codePointAt(last) ?? 0).length)
}

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" })

/** A line break that ends no paragraph ends no sentence either, though Unicode says it does. */
const WRAP = /(?<!\n)\n(?!\s*\n)/g

/** The sentences of a text, to the letter, without the space around them. */
export const sentencesOf = (text: string): ReadonlyArray<string> =>
  [...sentences.segment(text.replace(WRAP, " "))]
    .map(({ index, segment }) => text.slice(index, index + segment.length).trim())
    .filter((sentence) => sentence !== "")

/** Words, and each Han character by itself. */
const words = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu))

/** The sentence of a passage that shares most words with a claim; `undefined` when none shares any. */
export const closest = (claim: string, passage: string): string | undefined => {
  const claimed = words(claim)
  let best: string | undefined
  let most = 0
  for (const sentence of sentencesOf(passage)) {
    const own = words(sentence)
    const shared = own.intersection(claimed).size / Math.sqrt(Math.max(1, own.size))
    if (shared > most) {
      most = shared
      best = sentence
    }
  }
  return best
}
