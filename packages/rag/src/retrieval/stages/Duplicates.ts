/** Compares the texts of passages: repeated pages, versions of a document and boilerplate are duplicates. */
import type { StoredPassage } from "../../document/Document.ts"
import { PART_END, titleOf } from "../../document/SearchText.ts"
import { sameWord } from "./SharedWords.ts"
import type { Duplicates } from "./RetrievalStage.ts"

/** Share of word triples, 0 to 1. Texts with fewer in common are different. */
const SHARED = 0.85

/** Words. Shorter texts are equal only if all words are, and those of their headings: "None." depends on its heading. */
const SHORT = 20

/** Words that change what a text states: negations, exceptions, permissions, numbers, units of time. */
const DECISIVE = new Set(
  (
    "not no never without none nor neither cannot only except unless can may must should shall " +
    "nicht kein keine keinen keiner nie ohne nur ne pas jamais sans aucun aucune nunca sin ningún ninguna nem não sem non " +
    "不 没 無 无 非 未 别 勿 禁 莫 仅 只 可 必 须 应 " +
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred thousand " +
    "million half twice second seconds minute minutes hour hours day days week weeks month months year years " +
    "零 一 二 两 三 四 五 六 七 八 九 十 百 千 万 亿 半 双 秒 分 时 天 日 周 月 年"
  ).split(" ")
)

/** In these scripts a negation is an ending, which is not analysed here. */
const UNKNOWN_ENDINGS = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** The words in lower case: each part of a name, each Han character. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .normalize("NFKC")
    .replace(/n['’]t\b/gi, " not")
    .replace(PART_END, "$& ")
    .toLowerCase()
    .match(/\p{Script=Han}|[\p{L}\p{M}\p{N}]+/gu) ?? []

/** Words that do not change what a text states, in English, Chinese, German, French and Spanish. */
const FILLERS = new Set(
  (
    "a an the that which who whom this these those is are was were be been being am has have had do does did and also then " +
    "there it its of so 的 了 是 也 就 而 着 之 所 其 并 这 那 der die das den dem des ein eine einen einem einer eines und " +
    "le la les un une du de el los las una y"
  ).split(" ")
)

export type CompareTexts = Pick<Duplicates, "alike" | "same">

/** Compares passages for one question. Each text is analysed once. */
export const compareTexts = (question: string): CompareTexts => {
  const questionWords = [...new Set(wordsOf(question))]
  const isQuestionWord = (word: string): boolean => questionWords.some((one) => sameWord(one, word))
  const words = perPassage(({ text }) => wordsOf(text))
  const headingWords = perPassage(
    ({ document, headings }) => new Set(wordsOf(titleOf(document.title, headings)))
  )
  const names = perPassage(({ text }) => new Set((text.match(NAME) ?? []).flatMap(wordsOf)))
  // 100 passages are 5,000 pairs. Strings take 300 ms to compare, numbers 15.
  const numberOf = new Map<string, number>()
  const triples = perPassage((passage) => triplesOf(words(passage), numberOf))
  const statement = perPassage(({ headings, text }) => {
    const body = text.split("\n").filter((line) => !headings.includes(line.replace(/^#+/, "").trim()))
    return wordsOf(body.join("\n")).filter((word) => !FILLERS.has(word))
  })
  /**
   * All words are equal, or nearly all, in the same order.
   *
   * **Details.** Texts that differ in a number, a negation, a name, or a form of a question's word are not alike: the
   * difference may be the answer. Nor are texts whose headings differ in a word of the question.
   */
  const alike = (a: StoredPassage, b: StoredPassage): boolean => {
    const longer = Math.max(a.text.length, b.text.length)
    if (Math.abs(a.text.length - b.text.length) > longer * (1 - SHARED)) return false
    if (a.figure?.kind !== b.figure?.kind || a.figure?.crop !== b.figure?.crop) return false
    const left = words(a)
    const right = a.text === b.text ? left : words(b)
    const short = Math.min(left.length, right.length) < SHORT
    const equal =
      a.text === b.text || (left.length === right.length && left.every((word, i) => word === right[i]))
    if (!equal) {
      if (short || !shareTriples(triples(a), triples(b))) return false
      const isName = (word: string) => names(a).has(word) || names(b).has(word)
      if (differences(left, right).some((word) => isDecisive(word) || isName(word) || isQuestionWord(word)))
        return false
    }
    const elsewhere = headingWords(a).symmetricDifference(headingWords(b))
    return short ? elsewhere.size === 0 : ![...elsewhere].some(isQuestionWord)
  }
  return {
    alike,
    same: (a, b) => alike(a, b) && (a.text === b.text || isSameStatement(statement(a), statement(b)))
  }
}

/** The same words, forms aside, in the same order: "6 for children, 12 for adults" is not "12 for children, 6 for adults". */
const isSameStatement = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  (left.length === right.length && left.every((word, i) => isForm(word, right[i]!))) ||
  left.join("") === right.join("")

/** The same word, or one with another ending. */
const isForm = (a: string, b: string): boolean => {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return a === b || (sameWord(a, b) && long.startsWith(short.slice(0, -1)))
}

const isDecisive = (word: string): boolean =>
  /\p{N}/u.test(word) || DECISIVE.has(word) || UNKNOWN_ENDINGS.test(word)

/** Capitalized words inside a sentence: names; in German, nouns. */
const NAME = /(?<=[\p{Ll}\p{N},;]\s)\p{Lu}[\p{L}\p{M}]*/gu

/** Words that one text has more often than the other. */
const differences = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const word of left) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const word of right) counts.set(word, (counts.get(word) ?? 0) - 1)
  return [...counts].filter(([, count]) => count !== 0).map(([word]) => word)
}

const perPassage = <A>(make: (passage: StoredPassage) => A) => {
  const known = new Map<string, A>()
  return (passage: StoredPassage): A => {
    const own = known.get(passage.id) ?? make(passage)
    known.set(passage.id, own)
    return own
  }
}

/** Whether `SHARED` of all triples of both are in common. Ends as soon as too many are missing: usually after a few. */
const shareTriples = (own: Uint32Array, other: Uint32Array): boolean => {
  let most = own.length
  for (let i = 0, j = 0; i < own.length; i++) {
    while (j < other.length && other[j]! < own[i]!) j++
    if (other[j] !== own[i] && --most < SHARED * (own.length + other.length - most)) return false
  }
  return most > 0
}

/** The numbers of a text's triples, in order. */
const triplesOf = (words: ReadonlyArray<string>, numberOf: Map<string, number>): Uint32Array => {
  const triples = new Set<number>()
  for (let i = 0; i + 2 < words.length; i++) {
    const triple = `${words[i]} ${words[i + 1]} ${words[i + 2]}`
    const number = numberOf.get(triple) ?? numberOf.size
    numberOf.set(triple, number)
    triples.add(number)
  }
  return Uint32Array.from(triples).toSorted()
}
