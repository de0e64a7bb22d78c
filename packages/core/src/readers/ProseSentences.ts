/** Splits prose with `[n]` markers into sentences. */
import { sentencesOf } from "./Quote.ts"
import type { WrittenSentence } from "./WrittenSentence.ts"

/** `[1]`, `[1, 2]`. The lookbehind prevents quadratic matching of long runs of spaces. */
const MARKERS = /(?<!\s)\s*\[\d[\d\s,]*\]/g

/** Markers behind sentences. Others in an object's text may be part of it: `list[0]`. */
const END_MARKERS = /(?<!\s)\s*\[\d[\d\s,]*\](?=\s?(?:[.!?。！？[]|$))|(?<=[.!?。！？])\s?\[\d[\d\s,]*\]/g

const LABEL = "passages?|sources?|documents?|docs?|refs?|citations?|段落|来源|文档|资料|textstellen?|quellen?"
const NUMBERS = String.raw`\d{1,3}(?:\s?[,，、;–-]\s?\d{1,3})*`

/** What models write in place of `[1]`: `【1†source】`, `[^1]`, `[[1]]`, `[citation:1]`, `(Passage 1)`, and `¹` after a stop. */
const OTHER_MARKERS = new RegExp(
  String.raw`[[【［]{1,2}(?:\^|(?:${LABEL})\s?[:：#]?\s?)?${NUMBERS}(?:(?::\d{1,3})?†[^[\]【】［］\n]{0,40})?[\]】］]{1,2}` +
    String.raw`|[(（](?:${LABEL})\s?[:：#]?\s?${NUMBERS}[)）]|(?<=[.!?。！？])[¹²³⁴-⁹]{1,3}`,
  "gi"
)

const numbersIn = (marker: string): ReadonlyArray<string> => marker.normalize("NFKC").match(/\d+/g) ?? []

const WRAPPING_TAGS = /<\/?(?:answer|response|output|final|result)>/gi

const withMarkers = (line: string): string =>
  line
    .replace(WRAPPING_TAGS, "")
    .replace(OTHER_MARKERS, (marker) => `[${numbersIn(marker.replace(/(?::\d+)?†.*/, "")).join(", ")}]`)

/** A marker or an object that has only begun. */
const UNFINISHED = /(?<!\s)\s*(?:[[【［][^\]】］\n]{0,24}|[(（]\p{L}{0,12}\s?\d{0,3}|\{\s*["'“]?\w*)$/u

/** The heading of a list of sources, which ends the answer, and an item of such a list. */
const SOURCES =
  /^[#*\s]{0,8}(?:sources?|references?|citations?|footnotes?|quellen(?:angaben)?|références|fuentes|referencias|来源|参考(?:资料|文献)?|引用|出典)(?:[:：*\s,;]|\[\d[\d, ]*\])*$/i
const SOURCE = /^\s{0,4}\[[\d, ]+\]\s?[:：]/

/** The sign of an item of a list, which is part of its first sentence. */
export const LIST_SIGN = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/
const TABLE_ROW = /^\s*\|/

const markedSentence = (cited: string, markers = MARKERS): WrittenSentence => {
  const numbers = (cited.match(markers) ?? []).flatMap(numbersIn)
  return {
    text: cited.replace(markers, "").trim(),
    citations: [...new Set(numbers)].map((passage) => ({ passage: Number(passage) }))
  }
}

/** The text of an object without the markers behind its sentences, and what they cite. */
export const objectSentence = (text: string): WrittenSentence =>
  markedSentence(withMarkers(text), END_MARKERS)

/** A marker belongs to the sentence before it, on either side of the full stop. */
const proseSentences = (line: string): ReadonlyArray<WrittenSentence> => {
  const sign = LIST_SIGN.exec(line)?.[0] ?? ""
  return (
    sentencesOf(line.slice(sign.length).replace(/([.!?。！？])((?:\s*\[[\d\s,]+\])+)/g, "$2$1"))
      .map((cited, i) => markedSentence(i === 0 ? sign + cited : cited))
      // Headings and lines that introduce others state nothing.
      .filter(
        ({ citations, text }) =>
          /[\p{L}\p{N}]/u.test(text) && (citations.length > 0 || !/^#|[:：]\**$/.test(text))
      )
  )
}

/** A line as far as it is written, without its markers. */
export const withoutMarkers = (line: string): string =>
  withMarkers(line).replace(MARKERS, "").replace(UNFINISHED, "")

/** Reads lines one after another. An empty line ends a table. */
export const makeProseReader = () => {
  /** The head of a table until its first row with markers, then empty. Undefined outside of tables. */
  let table: string | undefined
  let isOver = false

  /** A row of a table is a sentence. The first one has the head with it. */
  const line = (written: string): ReadonlyArray<WrittenSentence> => {
    const text = withMarkers(written)
    isOver ||= SOURCES.test(text)
    if (isOver || SOURCE.test(text)) return []
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
