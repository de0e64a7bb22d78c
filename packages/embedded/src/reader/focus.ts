/** What a question asks for, and its verb. */
import { isStopWord } from "../text/StopWords.ts"

/** Kinds of answers that an answer need not name: “1974” does not say that it is a year. */
export const IMPLIED_WORDS: ReadonlySet<string> = new Set(
  (
    "year date day time times month century season weekday period person people place city country town room street " +
    "number percentage share fraction price cost size speed temperature amount unit currency result value name word " +
    "reason cause purpose role goal aim meaning definition difference benefit advantage effect origin source " +
    "language material fuel metal animal colour color kind kinds type types sort part thing things way method " +
    "technique tool format happen happens"
  ).split(" ")
)

const AUXILIARY = "do|does|did|can|could|will|would|should|must|may|might|shall"
const BE_OR_HAVE = "is|are|was|were|has|have|had|been|be|being"
const WORD = "[\\p{L}\\p{N}'’-]+"
const OTHER_WORD = `(?!(?:${AUXILIARY}|${BE_OR_HAVE})\\b)${WORD}`

/** “Which *bakery school* did …”, “what *fuel* heats …”. */
const ONE_OF = new RegExp(
  `\\b(?:how many|how much|which|what)\\s+((?:${OTHER_WORD}\\s+){1,4}?)(?:${AUXILIARY}|${BE_OR_HAVE}|\\p{Ll}+(?:s|ed))\\b`,
  "iu"
)
/** “What is the *battery life* of …”. */
const OF_IT = new RegExp(
  `\\bwhat\\s+(?:${BE_OR_HAVE})\\s+(?:the|an?|its|their|his|her)\\s+((?:(?!(?:of|in|for|on|at|to|between|that|which)\\b)${WORD}\\s+){1,4}?)(?:of|in|for|on|at|to|between)\\b`,
  "iu"
)

/** The words for what is asked for, without the implied ones. Empty if there are none. */
export const focusWords = (question: string): string =>
  (OF_IT.exec(question)?.[1] ?? ONE_OF.exec(question)?.[1] ?? "")
    .split(/\s+/)
    .filter((word) => !IMPLIED_WORDS.has(word.toLowerCase()))
    .join(" ")

const AFTER_AUXILIARY = new RegExp(`\\b(?:${AUXILIARY})\\b(.*)`, "iu")
const PASSIVE = new RegExp(`\\b(?:${BE_OR_HAVE})\\b(.*)`, "iu")
const PARTICIPLE = /(?:ed|[dkwt]en|own|ung|ilt|ght|ade|old|ept|eft|ent|aid)$/
const PRONOUN = /^(?:i|you|he|she|it|we|they|one|there|this|that|these|those|to|not)$/

const isStopOrMissing = (word: string | undefined): boolean =>
  word === undefined || isStopWord(word.toLowerCase())

/**
 * The verb: “what does the crane *cost*”, “when was the lock *opened*”. Undefined if the word order does not show it.
 *
 * **Details.** After an auxiliary verb it is the last word that is followed by a stop word, a name or nothing, and not
 * preceded by an article or preposition.
 */
export const predicateWord = (question: string): string | undefined => {
  const afterAuxiliary = AFTER_AUXILIARY.exec(question)?.[1]
  if (afterAuxiliary === undefined) {
    const words = PASSIVE.exec(question)?.[1]?.match(/\p{L}{3,}/gu) ?? []
    return words.findLast((word) => PARTICIPLE.test(word) && /^\p{Ll}/u.test(word) && !isStopWord(word))
  }
  const words = afterAuxiliary.match(/[\p{L}\p{N}'’-]+/gu) ?? []
  return words.findLast((word, i) => {
    const before = words[i - 1]
    const after = words[i + 1]
    if (!/^\p{Ll}{2,}$/u.test(word) || isStopWord(word) || after === "of") return false
    if (before === undefined ? !isStopOrMissing(after) : isStopOrMissing(before) && !PRONOUN.test(before))
      return false
    return isStopOrMissing(after) || /^[\p{Lu}\d]/u.test(after ?? "")
  })
}
