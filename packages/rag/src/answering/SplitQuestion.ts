/** Splits several questions in one, and comparisons, by their words. English, German, French, Spanish and Chinese. */
import { carrySubject, dependsOnHistory, isChinese } from "@sluice/core/text"

/** Questions that are retrieved one by one. More are retrieved together with the last. */
const MAX_PARTS = 4

/** Words of a part, or Chinese characters: fewer are no question. */
const LEAST = { words: 3, characters: 4 } as const

/** Characters of each side of a comparison. Longer ones are clauses. */
const MAX_COMPARED = 60

/** Questions of more characters are texts with a question. */
const MAX_SPLIT = 400

/** The words of a language with spaces between its words. */
interface PartWords {
  /** What stands between two questions. */
  readonly and: string
  /** Words that begin a question. */
  readonly question: string
  /** The same in the second question, where others may begin a clause: “a boat which was built in 1871 and which …”. */
  readonly next: string
  /** What a person says before a question. */
  readonly please: string
}

const LANGUAGES: ReadonlyArray<PartWords> = [
  {
    and: "and(?: also)?",
    question:
      "what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|may|must|should|has|have|will",
    // Questions with a verb before the subject, and those for the subject.
    next:
      "(?:(?:what|when|where|why|how)(?: \\S+){0,4}? (?:is|are|was|were|do|does|did|can|could|may|must|should|has|have|had|will|would)" +
      "|(?:who|what|which)|how (?:many|much|long|often|far|old|high|big|large|wide|deep|fast|heavy))(?= )" +
      "|(?:is|are|was|were|do|does|did|can|may|must|should|has|have|will) (?:the|it|they|he|she|i|we|you|there|a|an)\\b",
    please: "(?:(?:can|could) you )?(?:please )?(?:tell me|explain|say)"
  },
  {
    and: "und(?: auch)?",
    question:
      "was|welche[rsmn]?|wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso|wie|ist|sind|war|hat|haben|kann|darf|muss",
    next: "was|welche[rsmn]?|wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso|wie",
    please: "(?:bitte )?(?:sag(?:e|en Sie)? mir|erkläre?)(?: bitte)?,?"
  },
  {
    and: "et(?: aussi)?",
    question:
      "que|qu['’]est-ce|quoi|quels?|quelles?|qui|quand|où|pourquoi|comment|combien|est-ce|à quelle?|en quelle?",
    next: "qu['’]est-ce|quels?|quelles?|qui|quand|où|pourquoi|comment|combien|est-ce|à quelle?|en quelle?",
    please: "(?:s['’]il (?:te|vous) plaît,? )?(?:dis-moi|dites-moi)"
  },
  {
    and: "[ye](?: también)?",
    question:
      "qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|por qué|cómo|cuánt[oa]s?|a qué|en qué|de qué|es|son|tiene|hay",
    next: "qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|por qué|cómo|cuánt[oa]s?|a qué|en qué|de qué",
    please: "(?:por favor,? )?(?:dime|dígame)"
  }
]

const joinBefore = (and: string, next: string): RegExp =>
  new RegExp(`(?:,?\\s+(?:${and}),?\\s+|[,;]\\s+)(?=¿?(?:${next})(?!\\p{L}))`, "giu")

const JOINS = LANGUAGES.map(({ and, next, please, question }) => ({
  isQuestion: new RegExp(`^[¿¡"“«\\s]*(?:(?:${please}) )?(?:${question})(?!\\p{L})`, "iu"),
  please: new RegExp(`^(?:${please}) `, "iu"),
  opening: new RegExp(`^(?:${and}),?\\s+`, "iu"),
  join: joinBefore(and, next),
  /** After “tell me”, where the verb is behind the subject. */
  clauseJoin: joinBefore(and, question)
}))

/** Words that begin a Chinese question, or are in it. */
const CHINESE_QUESTION =
  /什么|谁|哪|多少|几(?!乎|内亚)|怎|如何|为何|何时|何地|吗|多(?:长|久|大|高|远|重|宽|深)|是否|能否|可否/u
/** “在什么情况下” is a condition of the question that follows. */
const CHINESE_CLAUSE = /^(?:在|当|如果|若|除了)|[下后时前中]$/u
const CHINESE_JOIN = /[，,；;](?:以及|还有|并且|而且|另外|同时)?|以及|还有(?=[^什])|并且/gu

/** A comparison: of what (optional), and the two sides. */
const COMPARISONS: ReadonlyArray<RegExp> = [
  /^(?:please )?compare (?<of>.+? (?:of|in|for) )?(?<a>.+?) (?:and|with|to|against|versus|vs\.?) (?<b>.+)$/i,
  /\bdifferences? (?<of>in .+? )?between (?<a>.+?) and (?<b>.+)$/i,
  /^how (?:do|does|did) (?<of>.+? (?:of|in|for) )?(?<a>.+?) (?:and (?<b>.+?) differ|(?:differ from|compare (?:to|with)) (?<c>.+))$/i,
  /^(?!(?:what|which|who|when|where|why|how|is|are|does|do|can) )(?<a>\S+(?: \S+){0,4}?) (?:vs\.?|versus) (?<b>\S+(?: \S+){0,4})$/i,
  /^(?:bitte )?vergleichen? (?:Sie )?(?<of>.+? (?:von|des|der|im|in|für) )?(?<a>.+?) (?:und|mit) (?<b>.+)$/i,
  /\bUnterschiede? zwischen (?<a>.+?) und (?<b>.+)$/i,
  /^(?:worin|wie) unterscheide(?:t|n) sich (?<of>.+? (?:von|des|der|im|in|für) )?(?<a>.+?) (?:und|von) (?<b>.+)$/i,
  /^compare[rz]? (?<of>.+? (?:de|du|des|dans|pour) )?(?<a>.+?) (?:et|à|avec) (?<b>.+)$/i,
  /\bdifférences? entre (?<a>.+?) et (?<b>.+)$/i,
  /^compar[ae]r? (?<of>.+? (?:de|del|en|para) )?(?<a>.+?) (?:y|e|con) (?<b>.+)$/i,
  /\bdiferencias? entre (?<a>.+?) [ye] (?<b>.+)$/i,
  /^请?(?:比较|对比)(?:一下)?(?<a>[^，,]+?)(?:和|与|跟|及)(?<b>[^，,]+?)(?<topic>的[^的]+)?$/u,
  /^(?<a>[^，,]+?)(?:和|与|跟)(?<b>[^，,]+?)(?<topic>的[^的]+)?(?:之间)?(?:有(?:什么|何|哪些)|的)(?:区别|不同|差异|差别)(?:是什么|在哪里?|有哪些)?$/u
]

/** A question in its parts. Without several, `parts` is empty. */
export interface SplitQuestion {
  /** Each is a question, or for comparisons a subject. */
  readonly parts: ReadonlyArray<string>
  /** The question itself is one that a passage may answer. */
  readonly isComparison: boolean
}

const trim = (text: string): string =>
  text.trim().replace(/(?<![\s?？.。!！,，;；])[\s?？.。!！,，;；]+$/u, "")

const isLongEnough = (part: string): boolean =>
  isChinese(part)
    ? (part.match(/\p{L}|\p{N}/gu) ?? []).length >= LEAST.characters
    : part.split(/\s+/).length >= LEAST.words

const compared = (question: string): ReadonlyArray<string> => {
  const groups = COMPARISONS.values()
    .map((pattern) => pattern.exec(question)?.groups)
    .find((found) => found !== undefined)
  const { a = "", of = "", topic = "" } = groups ?? {}
  const b = groups?.["b"] ?? groups?.["c"] ?? ""
  if (a === "" || b === "" || Math.max(a.length, b.length) > MAX_COMPARED) return []
  // “Compare the price of A with the price of B” has it on both sides.
  const second = / (?:of|in|for|von|des|der|de|du|del) /i.test(b) ? b : of + b
  return [of + a + topic, second + topic].map((side) => trim(side.replace(/^in /, "")))
}

/** Splits at each place where both sides are questions. */
const splitAt = (
  question: string,
  join: RegExp,
  isQuestion: (part: string) => boolean
): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let from = 0
  for (const { 0: text, index } of question.matchAll(join)) {
    const [before, after] = [trim(question.slice(from, index)), trim(question.slice(index + text.length))]
    if (![before, after].every((part) => isLongEnough(part) && isQuestion(part))) continue
    parts.push(before)
    from = index + text.length
  }
  return [...parts, trim(question.slice(from))]
}

/** A word that begins a clause in a question, so that a second one may belong to the clause. */
const CLAUSE = /.\b(?:which|who|whose|that|where|when|why|how|what|whether|if|between)\b/i

const splitOne = (question: string): ReadonlyArray<string> => {
  if (isChinese(question))
    return splitAt(
      question,
      CHINESE_JOIN,
      (part) => CHINESE_QUESTION.test(part) && !CHINESE_CLAUSE.test(part)
    )
  const splits = JOINS.filter(({ isQuestion }) => isQuestion.test(question)).map((language) => {
    const bare = question.replace(language.please, "")
    if (bare !== question) return splitAt(bare, language.clauseJoin, () => true)
    const parts = splitAt(question, language.join, (part) => language.isQuestion.test(part))
    // “Does it say when it opens and when it closes”
    return parts.slice(0, -1).some((part) => CLAUSE.test(part)) ? [question] : parts
  })
  return splits.find((parts) => parts.length > 1) ?? [question]
}

/** “What does it weigh” after “How old is pump X100”. */
const complete = (parts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const before: Array<{ readonly question: string }> = []
  let subjectless = false
  for (const part of parts) {
    const bare = JOINS.reduce((text, { opening }) => text.replace(opening, ""), part)
    const asked = bare.charAt(0).toUpperCase() + bare.slice(1) + (isChinese(bare) ? "？" : "?")
    const depends = dependsOnHistory(asked)
    // A part that itself has no subject gives none.
    if (before.length === 0 || !depends) subjectless = depends
    const carries = depends && !subjectless
    before.push({ question: carries ? carrySubject(asked, before) : asked })
  }
  return before.map(({ question }) => question)
}

/**
 * The questions in a question, each of which can be searched by itself: “What does A cost and how long does B take?”, “Compare
 * the rules of X and Y”. Where the words are in doubt, it is one question.
 */
export const splitQuestion = (text: string): SplitQuestion => {
  const question = text.normalize("NFKC").trim().replace(/\s+/g, " ")
  const none = { parts: [], isComparison: false }
  if (question.length > MAX_SPLIT) return none
  const sides = compared(trim(question))
  if (sides.length > 1) return { parts: sides, isComparison: true }
  // NFKC has made `？` a `?`, which has no space behind it in Chinese.
  const sentences = question.split(/(?<=\?)(?:\s|(?=\p{Script=Han}))/u)
  const parts = sentences.map(trim).filter(isLongEnough).flatMap(splitOne)
  if (parts.length < 2) return none
  const last = parts.slice(MAX_PARTS - 1).join(isChinese(question) ? "，" : ", ")
  return {
    parts: complete([...parts.slice(0, MAX_PARTS - 1), ...(last === "" ? [] : [last])]),
    isComparison: false
  }
}
