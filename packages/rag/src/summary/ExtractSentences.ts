/** Sentences of passages for an extractive summary. */
import type { CitedSentence } from "@sluice/core/models"
import { isChinese } from "@sluice/core/text"
import { centralTexts } from "./CentralTexts.ts"

/** Characters of a sentence. Shorter ones say little; longer ones are lists. */
const LENGTH = { least: 40, most: 400, leastChinese: 12 } as const

/** Sentences that are compared: 2 s. Beyond, they are taken at equal distances. */
const MAX_COMPARED = 5_000

const segmenter = new Intl.Segmenter(undefined, { granularity: "sentence" })

/** Headings, tables, code, quotations and formulas are no prose. */
const NO_PROSE = /^\s*(?:#|\||```|~~~|<|\$\$|>)/

const LIST = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/

const ENDED = /[.!?。！？…]["”’'」』)\]*_]*$/u

/** A question or a reference to something else says nothing by itself. */
const DEPENDENT =
  /[?？]["”’'」』)\]*_]*$|^\(|^(?:this|these|that|those|it|they|however|but|also|therefore|thus|hence|moreover|furthermore|similarly|for example|figure|table)\b/i

/** The verbatim sentences of a text. */
const sentencesOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:[^\n]+(?:\n|$))+/g)].flatMap(({ 0: block, index }) => {
    if (NO_PROSE.test(block)) return []
    // The lines of a paragraph are one text; the items of a list are not.
    const flat = LIST.test(block) ? block : block.replaceAll("\n", " ")
    return [...segmenter.segment(flat)]
      .map(({ index: at, segment }) => text.slice(index + at, index + at + segment.length).trim())
      .map((sentence) => sentence.replace(LIST, ""))
      .filter((sentence) => {
        const least = isChinese(sentence) ? LENGTH.leastChinese : LENGTH.least
        return (
          sentence.length >= least &&
          sentence.length <= LENGTH.most &&
          ENDED.test(sentence) &&
          !DEPENDENT.test(sentence)
        )
      })
  })

/** A sentence on one line, without the marks of Markdown. */
const plain = (sentence: string): string =>
  sentence
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|__|`/g, "")
    .replace(/\s+/g, " ")

/** The most central sentences of some passages, in their order, each with itself as its quote. */
export const extractSentences = (
  texts: ReadonlyArray<string>,
  limit: number
): ReadonlyArray<CitedSentence> => {
  const all = texts.flatMap((text, passage) => sentencesOf(text).map((quote) => ({ passage, quote })))
  const step = Math.ceil(all.length / MAX_COMPARED)
  const compared = step > 1 ? all.filter((_, i) => i % step === 0) : all
  const chosen = centralTexts(
    compared.map(({ quote }) => quote),
    limit
  )
  return chosen
    .toSorted((a, b) => a - b)
    .map((i) => compared[i]!)
    .map((evidence) => ({ text: plain(evidence.quote), evidence: [evidence] }))
}
