/** The words that say what a question is about, and which of them stand in a text. */

/** Words that stand in every question and tell nothing of what it is about. */
const FUNCTION_WORDS = new Set(
  (
    "a an and are as at be been by can could did do does for from had has have how i if in into is it its me my of on or " +
    "our shall should so than that the their them there these they this those to was we were what when where which who " +
    "whom whose why will with would you your about 的 了 是 在 和 与 有 什么 哪 哪个 哪些 谁 何 吗 呢 怎么 如何 为什么 多少 几 这 那 被 由"
  ).split(" ")
)

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

const folded = (text: string): string => text.normalize("NFKC").replaceAll("’", "'").toLowerCase()

/** Languages without spaces are taken apart too; that takes a millisecond a kilobyte, and questions are short. */
const askedWords = (question: string): ReadonlyArray<string> =>
  [...segmenter.segment(folded(question.slice(0, QUESTION_CHARACTERS)))]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment }) => segment)

const QUESTION_CHARACTERS = 4_000

/** Written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** Forms of one word in most European languages differ in so many letters at their ends at most. */
const ENDING = 3
const STEM = 4

const DIGIT = /\p{N}/u

/** Whether two words in lower case are one, with another ending at most; a number is no other one. */
export const sameWord = (a: string, b: string): boolean => {
  if (a === b) return true
  if (DIGIT.test(a) || DIGIT.test(b)) return false
  let shared = 0
  while (shared < a.length && a[shared] === b[shared]) shared++
  return shared >= STEM && Math.max(a.length, b.length) - shared <= ENDING
}

/** Words that are written with spaces between them. */
const SPACED = /[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+/gv

const PART_OF_WORD = /[\p{L}\p{M}\p{N}]/u

/** Whether a text has a name with marks within, such as `2.9.1`, `err_1042` or `don't`, by itself. */
const hasName = (text: string, name: string): boolean => {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const around = text.charAt(at - 1) + text.charAt(at + name.length)
    if (!PART_OF_WORD.test(around)) return true
  }
  return false
}

/** A question's words, each once and in its order, by whether a text has them. */
export interface WordsShared {
  readonly shared: ReadonlyArray<string>
  readonly missing: ReadonlyArray<string>
}

/**
 * Tells of any text which of the question's words it has.
 *
 * **Gotchas.** A word is the same with another ending, and nothing more is known of languages: it explains a rank, it
 * does not make one.
 */
export const makeWordsShared = (question: string): ((text: string) => WordsShared) => {
  const asked = [...new Set(askedWords(question))].filter((word) => !FUNCTION_WORDS.has(word))
  return (text) => {
    const whole = folded(text)
    const there = new Set(whole.match(SPACED))
    const has = (word: string): boolean =>
      there.has(word) ||
      (UNSPACED.test(word)
        ? whole.includes(word)
        : hasName(whole, word) || [...there].some((other) => sameWord(word, other)))
    return { shared: asked.filter(has), missing: asked.filter((word) => !has(word)) }
  }
}
