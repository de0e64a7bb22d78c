/** Makes a follow-up complete with the subject of the question before it, by words alone. */
import type { ConversationTurn } from "../models/QuestionRewriter.ts"
import { findReference, isChinese, isName, languageOf, wordsOf } from "./FollowUp.ts"
import { isFollowUp, unusualIn } from "./FollowUpScore.ts"
import { CHINESE, type FollowUpLanguage } from "./FollowUpWords.ts"

/** Turns that are followed back. */
const MAX_TURNS = 6

/** Characters of a question whose subject is carried. */
const MAX_CHARACTERS = 400

const ENDS = /[\s?？.。!！]+$/u
const HE_OR_SHE = /^(?:he|him|she|hers?|his|er|ihm|ihn|il|elle|lui|él|ella)$/i

/** Names of two words or more. The first word of a sentence may be one. */
const FULL_NAME = /\p{Lu}[\p{Ll}’'-]+(?: \p{Lu}[\p{Ll}’'-]+)+/u

const trimEnds = (text: string): string => text.trim().replace(ENDS, "")

/** A participle or an adjective at the end of a question is no part of its subject: “was the lock built”. */
const PREDICATE =
  /(?:ed|ing)$|^(?:built|made|written|known|open|closed|kept|found|held|sent|set|taken|born|worn|run|hung|located|gebaut|gegründet|geöffnet|offen)$/i

/** The noun phrase from a word on, with its “of …” and the names behind other prepositions. */
const phraseFrom = (
  words: ReadonlyArray<string>,
  from: number,
  language: FollowUpLanguage
): ReadonlyArray<string> => {
  const phrase: Array<string> = []
  for (let i = from; i < words.length; i++) {
    const word = words[i]!
    const low = word.toLowerCase()
    const [next = "", later = ""] = [words[i + 1], words[i + 2]]
    const leadsToName =
      language.preposition.has(low) &&
      (isName(next) || (language.article.has(next.toLowerCase()) && isName(later)))
    const isPart =
      !language.function.has(low) || language.article.has(low) || language.of.has(low) || leadsToName
    if (!isPart) break
    phrase.push(word)
  }
  while (phrase.length > 0 && language.function.has(phrase.at(-1)!.toLowerCase())) phrase.pop()
  return phrase
}

/** Characters at the start by which a question is known to be made from the one before. */
const SAME_START = 8

/** “The lowest” has the noun of the question before it. */
const SUPERLATIVE = /^\S+ \S+(?:est|one|ones)\W*$/i

const DO = /^(?:do|does|did|can|could|may|might|must|shall|should|will|would)$/i

/** The subject of a question: the phrase after its auxiliary, else its first phrase with an article or a name. */
const subjectInWords = (question: string, language: FollowUpLanguage): string | undefined => {
  const quoted = /[“"«„]([^”"»“]{2,80})[”"»“]/u.exec(question)?.[1]
  if (quoted !== undefined) return quoted
  const text = trimEnds(question).replace(language.expletive, (found) => ` ${found.replace(/\S/g, ",")} `)
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}._+#'’-]*/gu) ?? []
  const found = words.findIndex((word) => language.auxiliary.has(word.toLowerCase()))
  const [asked = "", follows = ""] = [words[found + 1], words[found + 2]?.toLowerCase()]
  // “Who is responsible for the pumps”: no subject.
  const isPredicate =
    !isName(asked) &&
    !language.function.has(asked.toLowerCase()) &&
    language.preposition.has(follows) &&
    language.question.has(words[found - 1]?.toLowerCase() ?? "")
  const auxiliary = isPredicate ? -1 : found
  const starts = [
    ...(auxiliary < 0 ? [] : [auxiliary + 1]),
    ...words.keys().filter((i) => i > 0 && language.article.has(words[i]!.toLowerCase())),
    ...words.keys().filter((i) => i > 0 && isName(words[i]!)),
    ...words.keys().filter((i) => i > 0 && !language.function.has(words[i]!.toLowerCase()))
  ]
  for (const from of starts) {
    const phrase = [...phraseFrom(words, from, language)]
    // “Does Raft elect a leader”: the name alone.
    const other = phrase.findIndex((word) => !isName(word))
    if (from === auxiliary + 1 && other > 0) phrase.splice(other)
    const reachesEnd = from + phrase.length === words.length
    const next = words[from + phrase.length]?.toLowerCase() ?? ""
    const isAsked = from === auxiliary + 1 && DO.test(words[auxiliary] ?? "") && !language.auxiliary.has(next)
    const last = phrase.at(-1) ?? ""
    // “Does the lock hold”: the verb.
    if (phrase.length > 1 && !isName(last) && (isAsked || (reachesEnd && PREDICATE.test(last)))) phrase.pop()
    while (phrase.length > 0 && language.function.has(phrase.at(-1)!.toLowerCase())) phrase.pop()
    if (phrase.some((word) => !language.function.has(word.toLowerCase()))) return phrase.join(" ")
  }
  return undefined
}

/** Puts `added` before the end of a question. */
const append = (question: string, added: string): string => {
  const end = /[?？]\s*$/.exec(question)?.[0].trim() ?? ""
  return `${trimEnds(question)} ${added}${end}`
}

/** Replaces the part of a question that begins with the same preposition: “in summer” by “in winter”. */
const replacePart = (question: string, part: string): string => {
  const words = wordsOf(part)
  const preposition = words[0]?.toLowerCase() ?? ""
  const before = trimEnds(question)
  const at = new RegExp(`(?<!\\p{L})${preposition}(?!\\p{L})`, "iu").exec(before)
  const rest = at === null ? [] : wordsOf(before.slice(at.index))
  // What follows an article and a noun may belong to the question.
  return at === null || at.index === 0 || rest.length > words.length + 2
    ? append(question, trimEnds(part))
    : `${before.slice(0, at.index)}${trimEnds(part)}?`
}

const carryWords = (question: string, last: ConversationTurn & { readonly standalone: string }): string => {
  const language = languageOf(question)
  const previous = last.standalone
  const subject = subjectInWords(previous, languageOf(previous))
  const bare = question.replace(/^[¿¡\s]+/, "")
  const hasOpening = language.opening.test(bare)
  const rest = bare.replace(language.opening, "").replace(/^[\s,]+/, "")
  const words = wordsOf(rest.toLowerCase())
  const isWhole = words.some((word) => language.auxiliary.has(word) || language.question.has(word))
  if (!isWhole && words[0] === "to" && / to /.test(previous))
    return replaceReference(
      previous.replace(/ to .*$/s, () => ` ${rest}`),
      subject,
      last
    )
  if (!isWhole && language.preposition.has(words[0] ?? "")) return replacePart(previous, rest)
  if (hasOpening && !isWhole && words.length > 0) {
    // “How long did the grep take?”, “What about the sort?”. The name behind it stays: “… property of Raft”.
    const other = `${trimEnds(rest)}${/ (?:of|in|at|for|von|in|de|en) \p{Lu}\S*$/u.exec(subject ?? "")?.[0] ?? ""}`
    return subject !== undefined && previous.includes(subject) && !SUPERLATIVE.test(rest)
      ? previous.replace(subject, () => other)
      : `${trimEnds(previous)}, ${rest}`
  }
  // “Und wann?”
  if (words.length > 0 && words.every((word) => language.question.has(word)))
    return `${trimEnds(previous)}, ${rest}`
  const asked = rest.charAt(0).toUpperCase() + rest.slice(1)
  return words.length === 0 ? previous : replaceReference(asked, subject, last)
}

const replaceReference = (question: string, subject: string | undefined, last: ConversationTurn): string => {
  const language = languageOf(question)
  const reference = findReference(question, language)
  const [pronoun = ""] = reference ?? []
  const person = HE_OR_SHE.test(pronoun) ? FULL_NAME.exec(last.answer ?? "")?.[0] : undefined
  const isOfPerson = person !== undefined && !FULL_NAME.test(subject ?? "")
  const carried = isOfPerson ? person : subject
  if (reference === undefined && question.startsWith(last.standalone?.slice(0, SAME_START) ?? "?"))
    return question
  if (carried === undefined) return `${trimEnds(last.standalone ?? last.question)}: ${question}`
  // Words of the question may say it all.
  if (question.toLowerCase().includes(carried.toLowerCase())) return question
  const isEnglish = language.question.has("what")
  if (
    reference === undefined ||
    !isEnglish ||
    !/^(?:it|they|them|he|him|she|its|their|his|her)$/i.test(pronoun)
  )
    return append(question, `(${carried})`)
  const before = question.slice(0, reference.index)
  const after = question.slice(reference.index + pronoun.length)
  const isPossessive = /^(?:its|their|his|her)$/i.test(pronoun) && !/^\s*[?.]?$/.test(after)
  return `${before}${carried}${isPossessive ? "’s" : ""}${after}`
}

/** The longest part of a chatty question that no follow-up has: “恋恋笔记本” of “知道恋恋笔记本这部电影吗”. */
const namesIn = (question: string): string | undefined => {
  const [name] = unusualIn(question).toSorted((a, b) => b.length - a.length)
  const end = CHINESE.afterSubject.exec(name?.slice(1) ?? "")?.index
  return name === undefined || end === undefined ? name : name.slice(0, end + 1)
}

const chineseSubject = (question: string): string | undefined => {
  const title = /《[^》]+》/u.exec(question)?.[0] ?? namesIn(question)
  if (title !== undefined) return title
  const clause = /^(?:根据|在|从|当|按)[^，,]*[，,](.+)$/u.exec(question)?.[1] ?? question
  const end = CHINESE.afterSubject.exec(clause.slice(1))?.index ?? clause.length - 1
  const subject = trimEnds(clause.slice(0, end + 1))
  if (!/^(?:谁|什么|哪|为|怎|如何|何|几|多)/.test(subject) && subject.length > 0) return subject
  return /[了过着](.{2,20})$/u.exec(trimEnds(clause))?.[1]
}

const carryChinese = (question: string, previous: string): string => {
  const rest = question.replace(CHINESE.opening, "")
  const subject = chineseSubject(previous)
  if (subject === undefined || /^[^，,]*呢[？?]?$/.test(rest)) return `${trimEnds(previous)}，${rest}`
  if (rest.includes(subject)) return rest
  const reference = CHINESE.pronoun.exec(rest) ?? CHINESE.place.exec(rest)
  if (reference !== null) {
    const of = CHINESE.possessive.test(reference[0]) ? "的" : ""
    return `${rest.slice(0, reference.index)}${subject}${of}${rest.slice(reference.index + reference[0].length)}`
  }
  return CHINESE.predicate.test(rest) ? subject + rest : `${subject}的${rest}`
}

/**
 * A follow-up with the subject of the turn before it: “How high is it?” after “Who maintains the weir?” is “How high is the
 * weir?”. Without a model, it replaces a pronoun, adds the subject in parentheses, or joins the two questions.
 *
 * **Gotchas.** It knows no grammar: the result is made to be searched, and shown to the person who asked.
 */
export const carrySubject = (question: string, history: ReadonlyArray<ConversationTurn>): string => {
  let last: (ConversationTurn & { readonly standalone: string }) | undefined
  const turns = history.slice(-MAX_TURNS)
  for (const [i, turn] of turns.entries()) {
    const asked = turn.question.slice(0, MAX_CHARACTERS)
    const standalone =
      turn.standalone ??
      (last === undefined || !isFollowUp(asked, turns.slice(0, i)) ? asked : carry(asked, last))
    last = { ...turn, standalone: standalone.slice(0, MAX_CHARACTERS) }
  }
  return last === undefined ? question : carry(question.trim(), last)
}

const carry = (question: string, last: ConversationTurn & { readonly standalone: string }): string =>
  isChinese(question) ? carryChinese(question, last.standalone) : carryWords(question, last)
