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

const wordsOf = (text: string): ReadonlyArray<string> =>
  [...segmenter.segment(text.normalize("NFKC").toLowerCase())]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment }) => segment)

/** Forms of one word in most European languages differ in so many letters at their ends at most. */
const ENDING = 3
const STEM = 4

const sameWord = (a: string, b: string): boolean => {
  if (a === b) return true
  let shared = 0
  while (shared < a.length && a[shared] === b[shared]) shared++
  return shared >= STEM && Math.max(a.length, b.length) - shared <= ENDING
}

/**
 * The question's words, each once and in its order, by whether the text has them.
 *
 * **Gotchas.** A word is the same with another ending, and nothing more is known of languages: it explains a rank, it
 * does not make one.
 */
export const wordsShared = (
  question: string,
  text: string
): { readonly shared: ReadonlyArray<string>; readonly missing: ReadonlyArray<string> } => {
  const there = new Set(wordsOf(text))
  const asked = [...new Set(wordsOf(question))].filter((word) => !FUNCTION_WORDS.has(word))
  const has = (word: string): boolean => there.has(word) || [...there].some((other) => sameWord(word, other))
  return { shared: asked.filter(has), missing: asked.filter((word) => !has(word)) }
}
