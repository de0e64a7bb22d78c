/** The words that a question and a text share. */

const STOP_WORDS = new Set(
  (
    "a an and are as at be been by can could did do does for from had has have how i if in into is it its me my of on or " +
    "our shall should so than that the their them there these they this those to was we were what when where which who " +
    "whom whose why will with would you your about 的 了 是 在 和 与 有 什么 哪 哪个 哪些 谁 何 吗 呢 怎么 如何 为什么 多少 几 这 那 被 由"
  ).split(" ")
)

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

const normalize = (text: string): string => text.normalize("NFKC").replaceAll("’", "'").toLowerCase()

/** Also splits languages without spaces. Only used for questions, because it takes 1 ms per kilobyte. */
const questionWords = (question: string): ReadonlyArray<string> =>
  [...segmenter.segment(normalize(question.slice(0, QUESTION_CHARACTERS)))]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment }) => segment)

const QUESTION_CHARACTERS = 4_000

/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** In letters. In most European languages, forms of one word share a stem and differ in a short ending. */
const MAX_ENDING = 3
const MIN_STEM = 4

const DIGIT = /\p{N}/u

/** Whether two words in lower case are forms of one word. Numbers must be equal. */
export const sameWord = (a: string, b: string): boolean => {
  if (a === b) return true
  if (DIGIT.test(a) || DIGIT.test(b)) return false
  let shared = 0
  while (shared < a.length && a[shared] === b[shared]) shared++
  return shared >= MIN_STEM && Math.max(a.length, b.length) - shared <= MAX_ENDING
}

/** Words of scripts with spaces. */
const SPACED = /[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]]+/gv

const PART_OF_WORD = /[\p{L}\p{M}\p{N}]/u

/** Whether a text has a word with punctuation inside, such as `2.9.1`, `err_1042` or `don't`, as a whole word. */
const hasWholeWord = (text: string, word: string): boolean => {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = text.charAt(at - 1) + text.charAt(at + word.length)
    if (!PART_OF_WORD.test(around)) return true
  }
  return false
}

/** The different words of a question, in its order, by whether a text has them. */
export interface SharedWords {
  readonly shared: ReadonlyArray<string>
  readonly missing: ReadonlyArray<string>
}

/**
 * Finds the question's words in texts.
 *
 * **Gotchas.** Compares word forms only by stem and ending. It explains ranks and does not change them.
 */
export const sharedWordsOf = (question: string): ((text: string) => SharedWords) => {
  const words = [...new Set(questionWords(question))].filter((word) => !STOP_WORDS.has(word))
  return (text) => {
    const lower = normalize(text)
    const present = new Set(lower.match(SPACED))
    const has = (word: string): boolean =>
      present.has(word) ||
      (UNSPACED.test(word)
        ? lower.includes(word)
        : hasWholeWord(lower, word) || [...present].some((other) => sameWord(word, other)))
    return { shared: words.filter(has), missing: words.filter((word) => !has(word)) }
  }
}
