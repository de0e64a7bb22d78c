/** Whether a question depends on what was said before: a test by its words, without a model. */
import { CHINESE, type FollowUpLanguage, LANGUAGES } from "./FollowUpWords.ts"

export const FOLLOW_UP = {
  /** Words of a question that begins with a preposition and has no verb: “And in winter?” without “and”. */
  fragmentWords: 6,
  /** Words with a topic, beside which “the paper” still refers to something. */
  genericWords: 2,
  /** Characters of a Chinese question without a subject. Longer ones have their subject later. */
  predicateCharacters: 13,
  /** Characters with a topic of such a question. */
  topicCharacters: 6,
  /** The same, of a question for a reason or a way. */
  whyCharacters: 2
} as const

/** Characters of a question that are tested. Longer ones say what they are about. */
const MAX_TESTED = 400

const WORD = /[\p{L}\p{N}]+(?:[._+#]*[\p{L}\p{N}+#]+)*/gu

export const wordsOf = (text: string): ReadonlyArray<string> => text.match(WORD) ?? []

/** Whether a text has Chinese characters. */
export const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)

/** The language with most of the words. */
export const languageOf = (question: string): FollowUpLanguage => {
  const words = wordsOf(question.toLowerCase())
  const count = (language: FollowUpLanguage) => words.filter((word) => language.function.has(word)).length
  return LANGUAGES.reduce((best, next) => (count(next) > count(best) ? next : best))
}

/** A name: a capital after the first word, or a digit among letters. */
export const isName = (word: string): boolean => /^\p{Lu}|\p{L}\d|\d\p{L}/u.test(word)

const topicWords = (text: string, language: FollowUpLanguage): ReadonlyArray<string> =>
  wordsOf(text).filter((word) => !language.function.has(word.toLowerCase()))

/** A pronoun that nothing before it in the question explains, with its place. */
export const findReference = (question: string, language: FollowUpLanguage): RegExpExecArray | undefined => {
  // Blanks keep the places.
  const text = question.replace(language.expletive, (found) => " ".repeat(found.length))
  for (const found of [...text.matchAll(language.pronoun), ...text.matchAll(language.possessive)]) {
    const before = text.slice(0, found.index)
    const named = topicWords(before, language)
    if (named.length === 0) return found
    const isPossessive = new RegExp(language.possessive.source, "iu").exec(found[0])?.[0] === found[0]
    const last = wordsOf(before).at(-1)?.toLowerCase() ?? ""
    // “How many members does its crew have”: the subject. “How does Raft elect its leader” has one before.
    const isExplained =
      hasClauseBetween(before, language) ||
      (isPossessive && !language.auxiliary.has(last) && hasSubject(before, language))
    if (!isExplained) return found
  }
  return undefined
}

/** Whether a clause ends between a noun and the end of a text: “a boat that is late when …”. */
const hasClauseBetween = (before: string, language: FollowUpLanguage): boolean => {
  const boundaries = [...before.matchAll(new RegExp(language.clause.source, "giu"))]
  return boundaries.some(({ index }) => topicWords(before.slice(0, index), language).length > 0)
}

/** “The weir” of “how long is the weir?” names its thing. */
const isDefinite = (text: string, noun: string | undefined, language: FollowUpLanguage): boolean => {
  const words = wordsOf(text.toLowerCase())
  const before = words[words.indexOf(noun?.toLowerCase() ?? "") - 1] ?? ""
  return language.article.has(before) && !language.generic.test(text)
}

/** Whether a text has a noun that a possessive may refer to: after an article, a name, or the subject after an auxiliary. */
const hasSubject = (before: string, language: FollowUpLanguage): boolean => {
  const words = wordsOf(before)
  return words.some((word, i) => {
    const previous = words[i - 1]?.toLowerCase() ?? ""
    if (language.function.has(word.toLowerCase()) || i === 0) return false
    return (
      isName(word) ||
      language.article.has(previous) ||
      language.question.has(previous) ||
      (language.auxiliary.has(previous) && !/(?:ed|t|en|é|do)$/.test(word))
    )
  })
}

/** How the words of a question show that it depends on others. */
export type FollowUpCue =
  | "opening"
  | "bare"
  | "reference"
  | "fragment"
  | "choice"
  | "reason"
  | "degree"
  | "generic"

const cueInWords = (question: string): FollowUpCue | undefined => {
  const language = languageOf(question)
  const bare = question.replace(/^[¿¡\s]+/, "")
  if (language.opening.test(bare)) return "opening"
  const words = wordsOf(bare)
  const [first = "", second = ""] = words.map((word) => word.toLowerCase())
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word.toLowerCase()))
  const topic = topicWords(bare.replace(language.expletive, " "), language)
  const hasName = words.some((word, i) => i > 0 && isName(word))
  if (topic.length === 0) return words.length > 0 ? "bare" : undefined
  if (
    topic.length === 1 &&
    !hasName &&
    !language.definition.test(bare) &&
    !isDefinite(bare, topic[0], language)
  )
    return "bare"
  if (findReference(bare, language) !== undefined) return "reference"
  if (!language.question.has(first) && language.preposition.has(first) && !has(language.question))
    return words.length <= FOLLOW_UP.fragmentWords && !has(language.auxiliary) ? "fragment" : undefined
  if (/^which (?:is|was|are|were) (?:more|less|\w+er)\b(?!.* than)/i.test(bare) && !hasName) return "choice"
  // “Why two kinds?”
  if (/^(?:why|warum|pourquoi|¿?por qué)$/.test(first) && !language.auxiliary.has(second) && !hasName)
    return topic.length <= FOLLOW_UP.genericWords ? "reason" : undefined
  // “How much longer without backup tasks?”
  if (/^(?:how|wie|combien|cuánt[oa]s?)$/.test(first) && !has(language.auxiliary) && !hasName) {
    const at = words.findIndex((word) => language.preposition.has(word.toLowerCase()))
    if (at > 0 && topicWords(words.slice(0, at).join(" "), language).length <= 1 && at <= 3) return "degree"
  }
  return language.generic.test(bare) && !hasName && topic.length <= FOLLOW_UP.genericWords
    ? "generic"
    : undefined
}

const cueInChinese = (question: string): FollowUpCue | undefined => {
  if (CHINESE.opening.test(question) || CHINESE.other.test(question)) return "opening"
  if (/《/.test(question)) return undefined
  const reference = CHINESE.pronoun.exec(question)
  if (reference !== null) {
    const before = question.slice(0, reference.index).replace(CHINESE.function, "")
    if (before.replace(/[^\p{L}\p{N}]/gu, "").length < 2) return "reference"
  }
  if (CHINESE.place.test(question)) return "reference"
  const bare = question.replace(/[？?。！!\s]+$/u, "")
  const topic = bare.replace(CHINESE.function, "").replace(/[^\p{L}\p{N}]/gu, "")
  if (topic.length <= 1) return "bare"
  if (CHINESE.attribute.test(bare)) return "generic"
  const isFragment =
    CHINESE.predicate.test(bare) &&
    !CHINESE.withObject.test(bare) &&
    (!CHINESE.why.test(bare) || topic.length <= FOLLOW_UP.whyCharacters) &&
    bare.length <= FOLLOW_UP.predicateCharacters &&
    topic.length <= FOLLOW_UP.topicCharacters
  return isFragment ? "fragment" : undefined
}

/** What shows that a question cannot be understood without the ones before it, if its words show it. */
export const followUpCue = (question: string): FollowUpCue | undefined => {
  const text = question.normalize("NFKC").trim()
  if (text.length > MAX_TESTED) return undefined
  return isChinese(text) ? cueInChinese(text) : cueInWords(text)
}

/** What follows “and …” or “what about …”. */
export const withoutOpening = (question: string): string => {
  const { opening } = isChinese(question) ? CHINESE : languageOf(question)
  return question.replace(/^[¿¡\s]+/, "").replace(opening, "")
}

/**
 * Whether a question cannot be understood without the ones before it, as far as its words show: by a pronoun without its
 * noun, “and …”, “what about …”, or a missing subject. English, German, French, Spanish and Chinese.
 */
export const dependsOnHistory = (question: string): boolean => followUpCue(question) !== undefined
