/** Splits prose with `[n]` markers into sentences. */
import { sentencesOf } from "./Quote.ts"
import type { WrittenSentence } from "./SentenceObjects.ts"

/** `[1]`, `[1, 2]`. The lookbehind prevents quadratic matching of long runs of spaces. */
const MARKERS = /(?<!\s)\s*\[(\d+(?:\s*,\s*\d+)*)\]|^\s*\[(\d+(?:\s*,\s*\d+)*)\]/g

/** A marker or an object that has only begun. */
const UNFINISHED = /(?<!\s)\s*(?:\[[\d\s,]*|\{\s*["'“]?\w*)$/

/** The sign of an item of a list, which is part of its first sentence. */
export const LIST_SIGN = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/
const TABLE_ROW = /^\s*\|/

const markedSentence = (cited: string): WrittenSentence => {
  const numbers = [...cited.matchAll(MARKERS)].flatMap(([, list = "", first = ""]) =>
    (list || first).split(",").map(Number)
  )
  return {
    text: cited.replace(MARKERS, "").trim(),
    citations: [...new Set(numbers)].map((passage) => ({ passage }))
  }
}

/** A marker belongs to the sentence before it, on either side of the full stop. */
const proseSentences = (line: string): ReadonlyArray<WrittenSentence> => {
  const sign = LIST_SIGN.exec(line)?.[0] ?? ""
  return (
    sentencesOf(line.slice(sign.length).replace(/([.!?。！？])((?:\s*\[[\d\s,]+\])+)/g, "$2$1"))
      .map((cited, i) => markedSentence(i === 0 ? sign + cited : cited))
      // Headings and lines that introduce others state nothing.
      .filter(
        ({ citations, text }) =>
          /[\p{L}\p{N}]/u.test(text) && (citations.length > 0 || !/^#|[:：]$/.test(text))
      )
  )
}

/** A line as far as it is written, without its markers. */
export const withoutMarkers = (line: string): string => line.replace(MARKERS, "").replace(UNFINISHED, "")

/** Reads lines one after another. An empty line ends a table. */
export const makeProseReader = () => {
  /** The head of a table until its first row with markers, then empty. Undefined outside of tables. */
  let table: string | undefined

  /** A row of a table is a sentence. The first one has the head with it. */
  const line = (text: string): ReadonlyArray<WrittenSentence> => {
    const row = TABLE_ROW.test(text) ? markedSentence(text) : undefined
    const head = table ?? ""
    if (row === undefined) {
      table = undefined
      return [...(head === "" ? [] : [{ text: head.trim(), citations: [] }]), ...proseSentences(text)]
    }
    if (row.citations.length === 0 && table !== "") {
      table = `${head}${row.text}\n`
      return []
    }
    table = ""
    return [{ ...row, text: head + row.text }]
  }
  return { line }
}
