/**
 * Recognizes the labels of captions in formats with known paragraphs, such as Markdown and Word: "Figure 3:", "Table A.1.",
 * "图 2-1". `CaptionStart.ts` does so for PDF pages, where any line may be a caption.
 */
import type { Figure } from "../../document/Document.ts"

export interface Label {
  readonly kind: Figure["kind"]
  /** As written: `3`, `2.1`, `S4`, `IV`; undefined if the caption has none. */
  readonly number: string | undefined
  /** Characters of the label and its delimiter. */
  readonly length: number
}

/** Longer words precede their prefixes. */
const FIGURE_WORDS =
  "supplementary figure|extended data fig(?:ure)?\\.?|figures?|figs?\\.?|abbildung|abb\\.|illustration|scheme|chart|plate|рисунок|рис\\.|图表|插图|附图|图片|图|圖|그림"
const TABLE_WORDS = "supplementary table|tables?|tab\\.|tabelle|tableau|tabla|таблица|табл\\.|附表|表格|表|표"

/** `3`, `3a`, `2.1`, `2-1`, `S4`, `A.1`, `IV`. */
const NUMBER =
  "(?:[A-Z]{1,2}[.\\-–]?)?\\d{1,4}(?:[.\\-–]\\d{1,3})*[a-z]?(?![A-Za-z\\d])|[IVXLC]{1,7}(?![A-Za-z\\d])|[A-Z](?![A-Za-z\\d'’])"

const START = new RegExp(
  `^[\\s*_(（【\\[]*(?:(${FIGURE_WORDS})|(${TABLE_WORDS}))\\s*(?:no\\.?\\s*)?(${NUMBER})?`,
  "iu"
)

/** Separates the number from the title. */
const DELIMITER = /^\s*[)）】\]]?[*_]{0,3}\s*(?:[:：.。．|、—–]|-\s)[*_]{0,3}\s*/u

const CJK = /^[\u2E80-\u9FFF\uAC00-\uD7AF]/

/** Characters of a caption without a delimiter: "Figure 3 Cross-section of the lock". */
const MAX_BARE_CAPTION = 200

/**
 * The label at the start of a caption.
 *
 * **Details.** The number must be followed by a delimiter, the end, or a capital in a short text: "Figure 3 shows …" is a
 * sentence. This is not required if `isCaption`, when the document marks the text as a caption.
 */
export const labelOf = (text: string, isCaption = false): Label | undefined => {
  const match = START.exec(text.slice(0, 80))
  if (match === null) return undefined
  const [whole, figure, , raw] = match
  const kind = figure === undefined ? "table" : "figure"
  // Roman numerals and single letters are upper-case
  const number = raw !== undefined && /^[a-z]+$/.test(raw) ? undefined : raw
  const head = number === undefined && raw !== undefined ? whole.slice(0, -raw.length) : whole
  const rest = text.slice(head.length, head.length + MAX_BARE_CAPTION)
  const delimiter = DELIMITER.exec(rest)?.[0]
  if (delimiter !== undefined) return { kind, number, length: head.length + delimiter.length }
  const space = /^\s*[)）】\]]?[*_]*\s*/.exec(rest)?.[0] ?? ""
  const label: Label = { kind, number, length: head.length + space.length }
  if (isCaption) return number === undefined && /^\p{L}/u.test(rest) ? undefined : label
  if (number === undefined) return undefined
  const words = text.slice(label.length)
  if (words === "") return label
  const isBare = /[\s\u3000]/.test(space) && text.length <= MAX_BARE_CAPTION
  const bare = isBare && (/^\p{Lu}/u.test(words) || CJK.test(words))
  return bare && !/[.!?。！？]\s/.test(words) ? label : undefined
}

/** Normalizes numbers: "2–1" and "2-1", "3A" and "3a". */
export const normalizeNumber = (number: string): string => number.replace(/[–‑]/g, "-").toLowerCase()
