/** From a text to its terms. */
import { CJK, classOf, DIGIT, LOWER, OTHER, UNDERSCORE, UPPER } from "./CharacterClass.ts"
import { type Term, termAt, termOfCjk, termOfWord } from "./Term.ts"
import { hashed, NO_LETTER } from "./WordTable.ts"

/** Longer runs of letters and digits are data, not words: their beginning stands for them. */
const MAX_WORD = 64

const APOSTROPHE = 0x27
const TYPOGRAPHIC_APOSTROPHE = 0x2019

const MAX_ASCII = 0x7f

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > MAX_ASCII) return false
  return true
}

/** Compatibility forms unified (full width, ligatures), marks of Latin letters dropped: `ﬁancée` is `fiancee`. */
const normalize = (text: string): string =>
  isAscii(text)
    ? text
    : text
        .normalize("NFKD")
        .replace(/[\u0300-\u036f]+/g, "")
        .normalize("NFC")

/** Where a part of an identifier ends: `parse|HTTP|Header`, `ERR|_1042`, `utf8` stays whole. */
const partEnd = (text: string, from: number, end: number): number => {
  for (let i = from + 1; i < end; i++) {
    const before = classOf(text.charCodeAt(i - 1))
    const here = classOf(text.charCodeAt(i))
    if (here === UNDERSCORE || before === UNDERSCORE) return i
    if (here === UPPER && before !== UPPER) return i
    if (here === LOWER && before === UPPER && i - 1 > from) return i - 1
  }
  return end
}

/** An identifier is a term as a whole, and so is each of its parts. */
const pushIdentifier = (terms: Array<Term>, text: string, start: number, end: number): void => {
  const whole = text
    .slice(start, Math.min(end, start + MAX_WORD))
    .toLowerCase()
    .replaceAll("_", "")
  let parts = 0
  for (let from = start, to = 0; from < end; from = to) {
    to = partEnd(text, from, end)
    if (classOf(text.charCodeAt(from)) === UNDERSCORE) continue
    const part = text.slice(from, Math.min(to, from + MAX_WORD)).toLowerCase()
    if (part === whole) break
    terms.push(termOfWord(part))
    parts++
  }
  if (whole !== "" && parts !== 1) terms.push(termOfWord(whole))
}

/** The end of `'s`, `’t` and the like at `i`, or `i` itself. */
const suffixEnd = (text: string, i: number): number => {
  const mark = text.charCodeAt(i)
  if (mark !== APOSTROPHE && mark !== TYPOGRAPHIC_APOSTROPHE) return i
  let end = i + 1
  while (end - i <= 2 && classOf(text.charCodeAt(end)) === LOWER) end++
  return end > i + 1 && classOf(text.charCodeAt(end)) === OTHER ? end : i
}

/**
 * The terms of a text in order, stop words among them.
 *
 * - Words are runs of letters and digits; identifiers (`parseHTTPHeader`, `ERR_1042`) give their parts and the whole.
 * - Runs of Han, Kana and Hangul give each character, followed by the pair that it begins.
 *
 * Given an array, it appends to it. Terms are shared: see `forgetIfFull`.
 */
export const termsOf = (source: string, terms: Array<Term> = []): Array<Term> => {
  const text = normalize(source)
  const length = text.length
  let i = 0
  while (i < length) {
    const unit = text.charCodeAt(i)
    const kind = classOf(unit)
    if (kind === OTHER) {
      i++
    } else if (kind === CJK) {
      i++
      terms.push(termOfCjk(unit, 0))
      const next = i < length ? text.charCodeAt(i) : 0
      if (next !== 0 && classOf(next) === CJK) terms.push(termOfCjk(unit, next))
    } else {
      const start = i
      let capitals = kind === UPPER ? 1 : 0
      let identifier = kind === UNDERSCORE
      let previous = kind
      let hash = hashed(NO_LETTER, unit)
      let bits = unit
      for (i++; i < length; i++) {
        const unit = text.charCodeAt(i)
        const here = classOf(unit)
        if (here === OTHER || here === CJK) break
        hash = hashed(hash, unit)
        bits |= unit
        if (here === UPPER) {
          capitals++
          if (previous !== UPPER) identifier = true
        } else if (here === UNDERSCORE) identifier = true
        else if (here === LOWER && previous === UPPER && capitals > 1) identifier = true
        previous = here
      }
      if (identifier) pushIdentifier(terms, text, start, i)
      else {
        const plain = i - start <= MAX_WORD && (capitals === 0 || bits <= MAX_ASCII)
        terms.push(
          plain
            ? termAt(text, start, i, hash)
            : termOfWord(text.slice(start, Math.min(i, start + MAX_WORD)).toLowerCase())
        )
        if (previous !== DIGIT) i = suffixEnd(text, i)
      }
    }
  }
  return terms
}
