/** A question: its terms, their weights, and the kind of answer that it asks for. */
import { questionLanguage, withoutFunctionWords } from "@sluice/core/text"
import type { Term } from "../text/Term.ts"
import { questionTypeOf } from "./QuestionType.ts"
import { ANSWER_KINDS } from "./answerKinds.ts"
import { numberedIn } from "./numbers.ts"
import { tokenize } from "../text/tokenize.ts"
import { similarityIndex } from "../text/trigrams.ts"

/** Words of asking: they tell the kind of answer, not the topic. */
const ASKING =
  "tell explain describe list say mean happen please long much old often far kind type sort name call give know many high cost hoch groß lang teuer viel kostet heißt dauert gibt appelle coûte combien cuesta llama año year date jahr année number anzahl nombre número temps fois dure dura signifie significa bedeutet"
const asking = new Set(tokenize(ASKING).map(({ key }) => key))
const askingCharacters = /[什么多少几何谁哪怎样吗呢请问为是的有]/u
/** Of words of asking and of single characters. */
const LOW_WEIGHT = 0.3

/** Capitalized words that do not begin a sentence, and identifiers. */
const NAME =
  /(?<=[\p{L}\p{N},)'’"] )\p{Lu}[\p{L}\p{N}]{1,60}|(?<!\p{L})\p{L}{1,30}\d[\p{L}\d]{0,30}|\b\p{Lu}{2,}\b/gu
const NUMBER = /(?<![\p{L}\d.,])\d{1,20}(?:[.,]\d{1,20}){0,5}(?![\p{L}\d])/gu

const PICTURE =
  /\b(?:fig(?:ure)?s?|charts?|graphs?|plots?|diagrams?|tables?|Abbildung|Diagramm|Tabelle|tableau|gráfico|tabla)\b|[图表]/iu

/** Words that are less similar are different. */
const SIMILAR = 0.55

/** Characters in which the words of asking are looked for. */
const MAX_ASKING = 300

export const allWordsOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu))

const weightOf = ({ idf, key, kind }: Term): number => {
  if (kind !== "word" && askingCharacters.test(key)) return 0
  return kind === "character" || asking.has(key) ? idf * LOW_WEIGHT : idf
}

export type AskedQuestion = ReturnType<typeof askedQuestion>

export const askedQuestion = (text: string) => {
  const all = tokenize(withoutFunctionWords(text))
  const content = all.filter((term) => !term.stop && weightOf(term) > 0)
  /** Each term once, in order, without stop words. */
  const terms: ReadonlyArray<Term> = [...new Set(content.length > 0 ? content : all)]
  const named = new Set(Array.from(text.matchAll(NAME), ([name]) => tokenize(name)).flat())
  const asking = text.slice(0, MAX_ASKING)
  const { end, type } = questionTypeOf(asking)
  const after = tokenize(withoutFunctionWords(text.slice(end)))
  const next = after.find(({ kind, stop }) => !stop && kind !== "character")
  const hasFocus = ["count", "which", "cost", "duration", "definition"].includes(type)
  return {
    language: questionLanguage(text),
    type,
    terms,
    weights: terms.map((term) => weightOf(term) || 0.1),
    /** Which of the terms are similar to a word. */
    similarTo: similarityIndex(terms, SIMILAR),
    /** All words in lower case, function words among them. */
    words: allWordsOf(text),
    names: [...terms.keys()].filter((i) => named.has(terms[i]!)),
    /** What is counted, or the kind of thing asked for: "how many *boats*", "which *school*". */
    focus: [...terms.keys()].filter((i) => hasFocus && terms[i] === next),
    numbers: numberedIn(asking),
    /** The numbers in digits, as they are written. */
    figures: [...new Set(text.match(NUMBER))],
    asksForPicture: PICTURE.test(asking),
    /** “Which year had the most …”. */
    asksMost: ANSWER_KINDS.compares.test(asking)
  }
}
