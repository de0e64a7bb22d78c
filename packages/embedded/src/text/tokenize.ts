/** Splits texts into terms. */
import { type Term, termOfCjk, termsOfToken } from "./Term.ts"

/** Longer runs of letters and digits are data, not words: their first characters stand for them. */
const MAX_WORD = 64

const CJK =
  "[[\\u3001-\\ud7fe]&&[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー]]"
/** Characters beyond U+FFFF count as letters: rare Han and emoji are words. */
const LETTER = `[[\\p{L}\\p{M}\\p{N}_\\p{Cs}\\u{10000}-\\u{10FFFF}]--${CJK}]`

const SMALL_LETTER = "[[\\p{L}\\p{M}]--\\p{Lu}]"

/** The `'s`, `’t` and the like at the end of a word. */
const SUFFIX = new RegExp(`(?<!\\p{N})['’]${SMALL_LETTER}{1,2}(?!${LETTER}|${CJK})`, "vy")

const UNKNOWN = 0
const SEPARATOR = 1
const IN_WORD = 2
const IN_CJK = 3

/** The class of each UTF-16 code unit, found when it is first seen. */
const classes = new Uint8Array(1 << 16)

const isCjk = new RegExp(CJK, "v")
const isLetter = new RegExp(LETTER, "v")

const classify = (unit: number): number => {
  const character = String.fromCharCode(unit)
  return (classes[unit] = isCjk.test(character) ? IN_CJK : isLetter.test(character) ? IN_WORD : SEPARATOR)
}

/** `at` is below the length of the text. */
const classAt = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  const known = classes[unit] as number
  return known === UNKNOWN ? classify(unit) : known
}

/** An underscore, a capital after another character, or a small letter after two capitals. */
const IDENTIFIER = new RegExp(`_|[^\\p{Lu}]\\p{Lu}|\\p{Lu}{2}${SMALL_LETTER}`, "v")
/** The parts of an identifier: `parse|HTTP|Header`, `ERR|1042`; `utf8` is one part. */
const PART = new RegExp(`\\p{Lu}+(?=\\p{Lu}${SMALL_LETTER})|\\p{Lu}+[^\\p{Lu}_]*|[^\\p{Lu}_]+`, "gv")

/** Unifies compatibility forms (full width, ligatures) and drops the accents of Latin letters: `ﬁancée` is `fiancee`. */
const normalize = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- ASCII
  /^[\x00-\x7f]*$/.test(text)
    ? text
    : text
        .normalize("NFKD")
        .replace(/[\u0300-\u036f]+/g, "")
        .normalize("NFC")

/** The words of a token: one, or the parts of an identifier and the whole. */
const wordsOfToken = (token: string): ReadonlyArray<string> => {
  const word = token.toLowerCase()
  if (!IDENTIFIER.test(token)) return [word.slice(0, MAX_WORD)]
  const parts = (token.match(PART) ?? []).map((part) => part.slice(0, MAX_WORD).toLowerCase())
  return parts.length > 1 ? [...parts, word.slice(0, MAX_WORD).replaceAll("_", "")] : parts
}

const wordEnd = (text: string, start: number): number => {
  let end = start + 1
  while (end < text.length && classAt(text, end) === IN_WORD) end++
  return end
}

/** After the `'s`, `’t` and the like at the end of a word. */
const suffixEnd = (text: string, end: number): number => {
  if (text[end] !== "'" && text[end] !== "’") return end
  SUFFIX.lastIndex = end
  return SUFFIX.test(text) ? SUFFIX.lastIndex : end
}

/**
 * The terms of a text in order, stop words among them.
 *
 * - Words are runs of letters and digits. Identifiers (`parseHTTPHeader`, `ERR_1042`) give their parts and the whole.
 * - Runs of Han, Kana and Hangul give each character, followed by the pair that it begins.
 *
 * They are appended to `terms`.
 */
export const tokenize = (written: string, terms: Array<Term> = []): Array<Term> => {
  const text = normalize(written)
  for (let at = 0; at < text.length;) {
    const kind = classAt(text, at)
    let end = at + 1
    if (kind === IN_WORD) {
      end = wordEnd(text, at)
      for (const term of termsOfToken(text.slice(at, end), wordsOfToken)) terms.push(term)
      end = suffixEnd(text, end)
    } else if (kind === IN_CJK) {
      terms.push(termOfCjk(text.charCodeAt(at)))
      const hasPair = end < text.length && classAt(text, end) === IN_CJK
      if (hasPair) terms.push(termOfCjk(text.charCodeAt(at), text.charCodeAt(end)))
    }
    at = end
  }
  return terms
}

/** The number of words and CJK characters of a text: what the embedded models count as tokens. */
export const countTokens = (written: string): number => {
  const text = normalize(written)
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const kind = classAt(text, at)
    if (kind === IN_CJK) count++
    else if (kind === IN_WORD) {
      const start = at
      at = wordEnd(text, start)
      count += wordsOfToken(text.slice(start, at)).length
      at = suffixEnd(text, at) - 1
    }
  }
  return count
}
