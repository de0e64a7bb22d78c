/** The words of a text that have a topic, and those that a question and a text share. */

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
export const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[[\p{L}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+/gv

/** A character of a script without spaces. */
export const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u

/** The words with a topic: numbers, characters of scripts without spaces, and others from three letters. */
export const contentWords = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(WORD) ?? []).filter(
    (word) => !FUNCTION_WORDS.has(word) && !/^[a-z]{1,2}$/.test(word)
  )

/** Shorter words have no other forms. */
const MIN_STEM = 4

/** Characters of a question whose words are marked. */
const MAX_ASKED = 2_000
/** Words of a question with the same beginning whose other forms are looked for. Questions rarely have more. */
const MAX_ALIKE = 8

/** True if one word is the other, or differs in its ending: `pumps`, `pump`; not `pumpkin`. */
export const isSameWord = (a: string, b: string): boolean => {
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

/** In letters: of a compound, of the part that it shares, and of the rest. Shorter ones are mostly chance (`understand`, `under`). */
const MIN_COMPOUND = 11
const MIN_PART = 5
const MIN_REST = 4

/** True if a compound begins or ends with the other word: `Kündigungsfrist`, `Frist`. */
const isPartOf = (part: string, compound: string): boolean =>
  compound.length >= MIN_COMPOUND &&
  part.length >= MIN_PART &&
  compound.length - part.length >= MIN_REST &&
  (compound.startsWith(part) || compound.endsWith(part))

/**
 * The places in a text of the question's content words, in order. Words match in other forms (`pump`, `pumps`) and as parts
 * of compounds too; characters of scripts without spaces match in pairs.
 */
export const sharedWords = (
  question: string,
  text: string
): ReadonlyArray<{ readonly start: number; readonly end: number }> => {
  const asked = question.toLowerCase().slice(0, MAX_ASKED)
  const words = contentWords(asked).filter((word) => !UNSPACED.test(word))
  const different = new Set(words)
  const byStart = Map.groupBy(different, (word) => word.slice(0, MIN_STEM))
  const hasForm = (word: string): boolean =>
    byStart
      .get(word.slice(0, MIN_STEM))
      ?.slice(0, MAX_ALIKE)
      .some((other) => isSameWord(word, other)) === true
  const compounds = [...different].filter((word) => word.length >= MIN_COMPOUND)
  const sharesPart = (word: string): boolean =>
    compounds.some((compound) => isPartOf(word, compound)) ||
    (word.length >= MIN_COMPOUND && different.values().some((part) => isPartOf(part, word)))
  const found: Array<{ start: number; end: number }> = []
  for (const { 0: match, index: start } of text.matchAll(WORD)) {
    const end = start + match.length
    const word = match.toLowerCase()
    const isShared = UNSPACED.test(word)
      ? [start - 1, start].some(
          (at) => /^\S{2}$/u.test(text.slice(at, at + 2)) && asked.includes(text.slice(at, at + 2))
        )
      : different.has(word) || hasForm(word) || sharesPart(word)
    const last = found.at(-1)
    if (isShared && last?.end === start) last.end = end
    else if (isShared) found.push({ start, end })
  }
  return found
}
