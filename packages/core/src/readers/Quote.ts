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

/** Words without a topic. Those of one or two letters are not listed. */
const FUNCTION_WORDS = new Set(
  (
    "the and for are was were has have had this that these those with from not but you your its their they will can could " +
    "may should would which what when who where how all any also than then there been into our his her she him " +
    "der die das und ist nicht ein eine den dem des mit von les une est que qui dans pour los las del una por con " +
    "的 了 是 在 和 与 有 不"
  ).split(" ")
)

/** A word, or a character of a script without spaces. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[[\p{L}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+/gv

const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u

/** The words with a topic: numbers, characters of scripts without spaces, and others from three letters. */
const contentWords = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(WORD) ?? []).filter(
    (word) => !FUNCTION_WORDS.has(word) && !/^[a-z]{1,2}$/.test(word)
  )

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

/** Shorter words have no other forms. */
const MIN_STEM = 4

/** Characters of a question whose words are marked. */
const MAX_ASKED = 2_000

/** True if one word is the other, or differs in its ending: `pumps`, `pump`; not `pumpkin`. */
const isSameWord = (a: string, b: string): boolean => {
  const [short = "", long = ""] = [a, b].toSorted((one, other) => one.length - other.length)
  if (short === long) return true
  const stem = short.slice(0, Math.max(MIN_STEM, short.length - 1))
  return (
    /\p{L}/u.test(short) &&
    long.startsWith(stem) &&
    stem.length >= MIN_STEM &&
    long.length <= short.length * 1.5
  )
}

/**
 * The places in a text of the question's content words, in order. Words match in other forms too (`pump`, `pumps`);
 * characters of scripts without spaces match in pairs.
 */
export const sharedWords = (
  question: string,
  text: string
): ReadonlyArray<{ readonly start: number; readonly end: number }> => {
  const asked = question.toLowerCase().slice(0, MAX_ASKED)
  const words = contentWords(asked).filter((word) => !UNSPACED.test(word))
  const byStart = Map.groupBy(new Set(words), (word) => word.slice(0, MIN_STEM))
  const found: Array<{ start: number; end: number }> = []
  for (const { 0: match, index: start } of text.matchAll(WORD)) {
    const end = start + match.length
    const word = match.toLowerCase()
    const isShared = UNSPACED.test(word)
      ? [start - 1, start].some(
          (at) => /^\S{2}$/u.test(text.slice(at, at + 2)) && asked.includes(text.slice(at, at + 2))
        )
      : byStart.get(word.slice(0, MIN_STEM))?.some((other) => isSameWord(word, other)) === true
    const last = found.at(-1)
    if (isShared && last?.end === start) last.end = end
    else if (isShared) found.push({ start, end })
  }
  return found
}
