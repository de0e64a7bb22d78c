/** Groups lines into paragraphs, list items, tables and code. */
import { median, type TextLine } from "../page/Lines.ts"

/** Lines that belong together. Headings are found later. */
export interface Paragraph {
  kind: "paragraph" | "list" | "table" | "code"
  readonly lines: Array<TextLine>
}

const MARKER = /^(?:[•◦▪‣·●○■□➢✓–—*-]\s*(?=\S)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s|\[\d{1,3}\]\s)/
const SUBSECTION = /^\d{1,2}(?:\.\d{1,2})+\.?\s+\p{L}/u
const FINISHED = /[.!?:;。！？：；…]["'”’)\]」』]*$/
export const CAPTION = /^(?:fig(?:ure)?\.?|table|algorithm|listing|图|表)\s*\d+/i

/** Rows of a table are at most this many line steps apart. */
const MAX_ROW_STEP = 2.5

const typicalLeading = (lines: ReadonlyArray<TextLine>): number => {
  const steps = lines.slice(1).flatMap(({ column, size, y1 }, i) => {
    const step = (y1 - lines[i]!.y1) / size
    return lines[i]!.column === column && step > 0.5 && step < 3 ? [step] : []
  })
  return median(steps) || 1.2
}

const isRow = (line: TextLine): boolean => line.cells.length > 1 && !MARKER.test(line.text)

/** Whether `line` continues `paragraph`, whose last line is `last`. */
const continues = (paragraph: Paragraph, last: TextLine, line: TextLine, leading: number): boolean => {
  const first = paragraph.lines[0]!
  const size = Math.max(last.size, line.size)
  const step = (line.y1 - last.y1) / size
  // Table rows are further apart than lines
  if (paragraph.kind === "table")
    return isRow(line) && step > 0 && step < leading * MAX_ROW_STEP && last.turn === line.turn
  if (step > leading * 1.35 || step <= 0 || last.heading !== line.heading) return false
  if (Math.abs(last.size - line.size) > 0.12 * size || last.turn !== line.turn) return false
  if (paragraph.kind === "code") return line.mono
  // A monospaced line may end a sentence
  if (line.mono) return !FINISHED.test(last.text) && last.x1 > line.column.right - 2 * size
  if (last.bold !== line.bold || (line.bold && SUBSECTION.test(line.text))) return false
  if (MARKER.test(line.text) && (MARKER.test(first.text) || FINISHED.test(last.text))) return false
  if (CAPTION.test(line.text)) return false
  const { left, right } = line.column
  const hanging = MARKER.test(first.text) || first.text.startsWith("[")
  const indented = line.x0 - left > 0.8 * size && line.x0 - last.x0 > 0.8 * size
  if (indented && !hanging && line.x0 - last.x0 < 6 * size && FINISHED.test(last.text)) return false
  const room = right - last.x1
  const firstWord = line.text.split(" ", 1)[0]!.length * size * 0.5
  return !(FINISHED.test(last.text) && room > firstWord + 2 * size && room > 0.12 * (right - left))
}

/** Where a paragraph may continue. */
interface Breaks {
  /** Lines that follow a removed figure. */
  readonly afterFigure: ReadonlySet<TextLine>
  /** Numbers of the pages that are full. On others the text ends, unless a lower-case letter follows. */
  readonly full: ReadonlySet<number>
}

/** Whether a paragraph continues in the next column, on the next page, or below a figure. */
const continuesBeyond = (before: Paragraph, after: Paragraph, { afterFigure, full }: Breaks): boolean => {
  const last = before.lines.at(-1)!
  const first = after.lines[0]!
  return (
    (last.page === first.page || full.has(last.page) || /^\p{Ll}/u.test(first.text)) &&
    before.kind !== "table" &&
    before.kind !== "code" &&
    after.kind === "paragraph" &&
    (last.column !== first.column || afterFigure.has(first)) &&
    Math.abs(last.size - first.size) <= 0.05 * last.size &&
    last.bold === first.bold &&
    last.heading === first.heading &&
    !CAPTION.test(before.lines[0]!.text) &&
    !FINISHED.test(last.text) &&
    /^[\p{Ll}\p{Lo}(]/u.test(first.text) &&
    last.x1 > last.column.right - 0.15 * (last.column.right - last.column.left)
  )
}

/** Asides between two parts of a paragraph. */
const MAX_ASIDES = 200

/** Whether a paragraph is a caption or label of a figure between two parts of another one. */
const isAside = (paragraph: Paragraph, later: Paragraph): boolean => {
  const [first, next] = [paragraph.lines[0]!, later.lines[0]!]
  if (first.page !== next.page || (first.column === next.column && paragraph.lines.length > 6)) return false
  return CAPTION.test(first.text) || paragraph.lines.every(({ text }) => text.length < 30)
}

/** Paragraphs in reading order. They may continue in the next column, on the next page, or below a figure. */
export const toParagraphs = (
  pages: ReadonlyArray<ReadonlyArray<TextLine>>,
  breaks: Breaks
): ReadonlyArray<Paragraph> => {
  const lines = pages.flat()
  const leading = typicalLeading(lines)
  const paragraphs: Array<Paragraph> = []
  lines.forEach((line, index) => {
    const paragraph = paragraphs.at(-1)
    const last = paragraph?.lines.at(-1)
    if (paragraph && last && last.column === line.column && continues(paragraph, last, line, leading)) {
      paragraph.lines.push(line)
      return
    }
    const next = lines[index + 1]
    const table = isRow(line) && next !== undefined && next.column === line.column && isRow(next)
    paragraphs.push({
      kind: line.mono ? "code" : MARKER.test(line.text) ? "list" : table ? "table" : "paragraph",
      lines: [line]
    })
  })
  const joined: Array<Paragraph> = []
  for (const paragraph of paragraphs) {
    const before = joined.slice(-MAX_ASIDES).findLast((earlier) => !isAside(earlier, paragraph))
    if (before !== undefined && continuesBeyond(before, paragraph, breaks))
      before.lines.push(...paragraph.lines)
    else joined.push(paragraph)
  }
  return joined
}
