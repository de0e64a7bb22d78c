/** Splits a passage into blocks: paragraphs, headings, items, rows, lines of code. */
import { labelledRows, PIPED, pipedRows } from "./tables.ts"
import type { PassageBlock } from "./Sentence.ts"

const FENCE = /^\s*(```|~~~)/
const HEADING = /^ {0,3}#{1,6}\s+/
const ITEM = /^\s*(?:[-*+•‣◦–]|\d{1,3}[.)]|[（(]?[一二三四五六七八九十]{1,3}[）)、])\s*(?:\[[ xX]\]\s)?(?=\S)/
const ITEM_MARK_WITHOUT_SPACE = /^\s*[-*+]\S|^\s*\d{1,3}[.)]\S/
const ROW = /^\s*\|.*\|\s*$/
const RULE = /^[\s|:=*_+-]*$/
const TABLE_RULE = /^\s*(?:\|\s*)?:?--[\s|:-]*$/
const MAX_HEAD = 100
/** “Q:” and “A:” of questions and answers. */
const QUESTION_MARK =
  /^\s*[*_]{0,3}(?:Q|A|Question|Answer|[问問答])\s?\d{0,3}[*_]{0,3}\s?(?::|：)[*_]{0,3}\s*(?=\S)/
const QUOTE = /^\s*(?:>\s?)+/

/** The beginning of a caption of a figure or table. */
export const NUMBERED_CAPTION = /^(?:Table|Figure|Fig\.)\s*\d|^[图表]\s*\d/

/**
 * The blocks of Markdown or plain text, in order, without blank lines and rules. A line break does not end a paragraph or
 * item.
 */
export const blocksOf = (text: string): ReadonlyArray<PassageBlock> => {
  const blocks: Array<PassageBlock> = []
  let open: { kind: "paragraph" | "item"; start: number; end: number; first: number } | undefined
  let fenced = false
  let inside = false
  const close = () => {
    if (open !== undefined) blocks.push({ kind: open.kind, start: open.start, end: open.end })
    open = undefined
  }
  for (let from = 0; from < text.length;) {
    const newline = text.indexOf("\n", from)
    const lineEnd = newline < 0 ? text.length : newline
    const line = text.slice(from, lineEnd)
    const end = from + line.trimEnd().length
    const from0 = from
    from = lineEnd + 1
    if (line.trim() === "") inside = false
    // The text inside a figure follows its caption.
    if (
      open !== undefined &&
      open.first === open.end &&
      endsCaption(text.slice(open.start, open.end), line)
    ) {
      close()
      inside = true
    }
    const rows = fenced ? undefined : rowsAt(text, from0, line, inside)
    if (rows !== undefined) {
      // A line directly above may be a header that spans columns.
      const above = open
      open = undefined
      if (above !== undefined) {
        const one = above.first === above.end && !NUMBERED_CAPTION.test(text.slice(above.start, above.end))
        const head = one && above.end - above.start <= MAX_HEAD
        blocks.push({ kind: head ? "header" : above.kind, start: above.start, end: above.end })
      }
      blocks.push(...rows.blocks)
      from = rows.end
      continue
    }
    if (FENCE.test(line)) {
      close()
      fenced = !fenced
    } else if (fenced) {
      if (line.trim() !== "") blocks.push({ kind: "code", start: from0 + indent(line), end })
    } else if (RULE.test(line)) {
      close()
    } else if (HEADING.test(line)) {
      close()
      const start = from0 + (HEADING.exec(line)?.[0].length ?? 0)
      blocks.push({
        kind: "heading",
        start,
        end: start + text.slice(start, end).replace(/(?<!\s)\s+#+$/, "").length
      })
    } else if (ROW.test(line)) {
      close()
      const inner = line.trim().slice(1, -1).trim()
      if (inner !== "") {
        const start = from0 + line.indexOf(inner)
        const header = TABLE_RULE.test(text.slice(from, text.indexOf("\n", from) >>> 0))
        blocks.push({ kind: header ? "header" : "row", start, end: start + inner.length })
      }
    } else {
      const quoted = QUOTE.exec(line)?.[0].length ?? 0
      const rest = line.slice(quoted)
      const mark = ITEM_MARK_WITHOUT_SPACE.test(rest) ? undefined : ITEM.exec(rest)?.[0]
      const turn = QUESTION_MARK.exec(rest)?.[0]
      if (turn !== undefined) {
        close()
        open = { kind: "paragraph", start: from0 + quoted + turn.length, end, first: end }
      } else if (mark !== undefined) {
        close()
        open = { kind: "item", start: from0 + quoted + mark.length, end, first: end }
      } else if (open === undefined) {
        open = { kind: "paragraph", start: from0 + quoted + indent(rest), end, first: end }
      } else open.end = end
    }
  }
  close()
  return blocks.filter(({ end, start }) => end > start)
}

const indent = (line: string): number => line.length - line.trimStart().length

const endsCaption = (caption: string, next: string): boolean =>
  NUMBERED_CAPTION.test(caption) && (/[.!?。]\s*$/.test(caption) || next.length < caption.length / 2)

/** The rows of a table that begins with this line. */
const rowsAt = (text: string, from: number, line: string, inside: boolean) => {
  if (ROW.test(line)) return undefined
  return PIPED.test(line) ? pipedRows(text, from) : labelledRows(text, from, inside)
}
