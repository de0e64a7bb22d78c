/** Splits texts into terms. */
import { limitVocabulary, type Term, termOfCjk, termsOfToken } from "./Term.ts"

/** Longer runs of letters and digits are data, not words: their first characters stand for them. */
const MAX_WORD = 64

const CJK =
  "[[\\u3001-\\ud7fe]&&[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー]]"
/** Characters beyond U+FFFF count as letters: rare Han and emoji are words. */
const LETTER = `[[\\p{L}\\p{M}\\p{N}_\\p{Cs}\\u{10000}-\\u{10FFFF}]--${CJK}]`

const SMALL_LETTER = "[[\\p{L}\\p{M}]--\\p{Lu}]"

/** A run of CJK characters, or a word with the `'s`, `’t` and the like at its end. */
const TOKEN = new RegExp(
  `${CJK}+|${LETTER}+(?:(?<!\\p{N})['’]${SMALL_LETTER}{1,2}(?!${LETTER}|${CJK}))?`,
  "gv"
)
/** No code unit of CJK is below: most tokens need no test. */
const FIRST_CJK = 0x3000
const STARTS_WITH_CJK = new RegExp(`^${CJK}`, "v")
const SUFFIX = /['’].*/

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
  const text = token.replace(SUFFIX, "")
  const word = text.toLowerCase()
  if (!IDENTIFIER.test(text)) return [word.slice(0, MAX_WORD)]
  const parts = (text.match(PART) ?? []).map((part) => part.slice(0, MAX_WORD).toLowerCase())
  return parts.length > 1 ? [...parts, word.slice(0, MAX_WORD).replaceAll("_", "")] : parts
}

const pushCjk = (terms: Array<Term>, run: string): void => {
  for (let i = 0; i < run.length; i++) {
    const unit = run.charCodeAt(i)
    terms.push(termOfCjk(unit))
    if (i + 1 < run.length) terms.push(termOfCjk(unit, run.charCodeAt(i + 1)))
  }
}

/**
 * The terms of a text in order, stop words among them.
 *
 * - Words are runs of letters and digits. Identifiers (`parseHTTPHeader`, `ERR_1042`) give their parts and the whole.
 * - Runs of Han, Kana and Hangul give each character, followed by the pair that it begins.
 *
 * They are appended to `terms`.
 */
export const tokenize = (text: string, terms: Array<Term> = []): Array<Term> => {
  for (const token of normalize(text).match(TOKEN) ?? []) {
    if (token.charCodeAt(0) > FIRST_CJK && STARTS_WITH_CJK.test(token)) pushCjk(terms, token)
    else for (const term of termsOfToken(token, wordsOfToken)) terms.push(term)
  }
  return terms
}

/** The number of words and CJK characters of a text: what the embedded models count as tokens. */
export const countTokens = (text: string): number => {
  limitVocabulary()
  return tokenize(text).reduce((count, { kind }) => count + (kind === "pair" ? 0 : 1), 0)
}
