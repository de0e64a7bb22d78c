/** What a UTF-16 code unit is to the tokenizer. */

export const OTHER = 0
export const LOWER = 1
export const UPPER = 2
export const DIGIT = 3
export const UNDERSCORE = 4
export const CJK = 5

const UNKNOWN = 255
const classes = new Uint8Array(0x10000).fill(UNKNOWN)

const classify = (unit: number): number => {
  const character = String.fromCharCode(unit)
  if (character === "_") return UNDERSCORE
  if (
    unit > 0x3000 &&
    unit < 0xd7ff &&
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u.test(character)
  )
    return CJK
  // Half of a character beyond U+FFFF counts as a letter: rare Han and emoji stay whole, as words.
  if (unit >= 0xd800 && unit <= 0xdfff) return LOWER
  if (/\p{Lu}/u.test(character)) return UPPER
  if (/[\p{L}\p{M}]/u.test(character)) return LOWER
  return /\p{N}/u.test(character) ? DIGIT : OTHER
}

/** Found out once for each code unit that is met. */
export const classOf = (unit: number): number => {
  const known = classes[unit] ?? OTHER
  return known === UNKNOWN ? (classes[unit] = classify(unit)) : known
}
