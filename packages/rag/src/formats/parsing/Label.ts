/**
 * "Figure 3:", "Table A.1.", "图 2-1": how a caption begins where paragraphs are known, as in Markdown and Word. On a page
 * of a PDF, where any line may be one, `CaptionStart.ts` has more words and more doubt.
 */
import type { Figure } from "../../document/Document.ts"

export interface Label {
  readonly kind: Figure["kind"]
  /** As it is written: `3`, `2.1`, `S4`, `IV`; undefined where the caption has none. */
  readonly number: string | undefined
  /** Characters of the label with what parts it from the caption's words. */
  readonly length: number
}

/** Words for figures and tables, longest first where one begins another. */
const FIGURE_WORDS =
  "supplementary figure|extended data fig(?:ure)?\\.?|figures?|figs?\\.?|abbildung|abb\\.|illustration|scheme|chart|plate|рисунок|рис\\.|图表|插图|附图|图片|图|圖|그림"
const TABLE_WORDS = "supplementary table|tables?|tab\\.|tabelle|tableau|tabla|таблица|табл\\.|附表|表格|表|표"

/** `3`, `3a`, `2.1`, `2-1`, `S4`, `A.1`, `IV`. */
export const NUMBER =
  "(?:[A-Z]{1,2}[.\\-–]?)?\\d{1,4}(?:[.\\-–]\\d{1,3})*[a-z]?(?![A-Za-z\\d])|[IVXLC]{1,7}(?![A-Za-z\\d])|[A-Z](?![A-Za-z\\d'’])"

const START = new RegExp(
  `^[\\s*_(（【\\[]*(?:(${FIGURE_WORDS})|(${TABLE_WORDS}))\\s*(?:no\\.?\\s*)?(${NUMBER})?`,
  "iu"
)

/** What parts a number from the caption's words. */
const DELIMITER = /^\s*[)）】\]]?[*_]{0,3}\s*(?:[:：.。．|、—–]|-\s)[*_]{0,3}\s*/u

const CJK = /^[\u2E80-\u9FFF\uAC00-\uD7AF]/

/** A caption without a delimiter is no longer than this: "Figure 3 Cross-section of the lock". */
const BARE_CAPTION = 200

/**
 * How a text begins, if it begins as a caption does.
 *
 * **Details.** "Figure 3 shows …" is a sentence, not a caption: after the number stands a delimiter, the end, or the
 * capital of a short text. `sure` texts, which their document says are captions, need none of these.
 */
export const labelOf = (text: string, sure = false): Label | undefined => {
  const match = START.exec(text.slice(0, 80))
  if (match === null) return undefined
  const [whole, figure, , raw] = match
  const kind = figure === undefined ? "table" : "figure"
  // Roman numbers and single letters are capitals
  const number = raw !== undefined && /^[a-z]+$/.test(raw) ? undefined : raw
  const head = number === undefined && raw !== undefined ? whole.slice(0, -raw.length) : whole
  const rest = text.slice(head.length)
  const delimiter = DELIMITER.exec(rest)?.[0]
  if (delimiter !== undefined) return { kind, number, length: head.length + delimiter.length }
  const space = /^\s*[)）】\]]?[*_]*\s*/.exec(rest)?.[0] ?? ""
  const label: Label = { kind, number, length: head.length + space.length }
  if (sure) return number === undefined && /^\p{L}/u.test(rest) ? undefined : label
  if (number === undefined) return undefined
  const words = rest.slice(space.length)
  if (words === "") return label
  const apart = /[\s\u3000]/.test(space)
  const bare = apart && text.length <= BARE_CAPTION && (/^\p{Lu}/u.test(words) || CJK.test(words))
  return bare && !/[.!?。！？]\s/.test(words) ? label : undefined
}

/** One form for numbers that are written in several: "2–1" and "2-1", "3A" and "3a". */
export const sameNumber = (number: string): string => number.replace(/[–‑]/g, "-").toLowerCase()
