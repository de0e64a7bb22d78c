/** Splits a passage into blocks: paragraphs, headings, items, rows, lines of code. */
import { labelledRows, lineAt, PIPED, pipedRows } from "./Tables.ts"
import type { PassageBlock } from "./Sentence.ts"

const FENCE = /^\s*(```|~~~)/
const HEADING = /^ {0,3}#{1,6}\s+/
/** A line that only numbers and names a section, as in contracts and laws: “§ 4 Kaution”, “第四条 押金”. It ends no sentence. */
const SECTION =
  /^[*_]{0,3}(?:(?:§{1,2}|Art\.|Artikel|Article|Artículo|Section|Abschnitt)\s?\d[\d.]{0,8}[a-z]?|第[一二三四五六七八九十百\d]{1,5}[条章节])(?:\s[^.!?。！？:：,;，；]{1,80})?$/u
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
    if (open !== undefined) {
      const { end, first, start } = open
      const kind = first === end && SECTION.test(text.slice(start, end)) ? "heading" : open.kind
      blocks.push({ kind, start, end })
    }
    open = undefined
  }
  for (let at = 0; at < text.length;) {
    const from = at
    const { end, line, next, start } = lineAt(text, from)
    at = next
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
    const isPlain = !fenced && !ROW.test(line)
    const rowsAt = PIPED.test(line) ? pipedRows : labelledRows
    const rows = isPlain ? rowsAt(text, from, inside) : undefined
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
      at = rows.end
      continue
    }
    if (FENCE.test(line)) {
      close()
      fenced = !fenced
    } else if (fenced) {
      if (line.trim() !== "") blocks.push({ kind: "code", start, end })
    } else if (RULE.test(line)) {
      close()
    } else if (HEADING.test(line)) {
      close()
      const title = from + (HEADING.exec(line)?.[0].length ?? 0)
      const closed = text.slice(title, end).replace(/(?<!\s)\s+#+$/, "")
      blocks.push({ kind: "heading", start: title, end: title + closed.length })
    } else if (ROW.test(line)) {
      close()
      const inner = line.trim().slice(1, -1).trim()
      if (inner !== "") {
        const cells = from + line.indexOf(inner)
        const header = TABLE_RULE.test(lineAt(text, next).line)
        blocks.push({ kind: header ? "header" : "row", start: cells, end: cells + inner.length })
      }
    } else {
      const quoted = QUOTE.exec(line)?.[0].length ?? 0
      const rest = line.slice(quoted)
      const turn = QUESTION_MARK.exec(rest)?.[0]
      const item = ITEM_MARK_WITHOUT_SPACE.test(rest) ? undefined : ITEM.exec(rest)?.[0]
      const mark = turn ?? item
      if (mark === undefined && open !== undefined) open.end = end
      else {
        close()
        const kind = mark === undefined || mark === turn ? "paragraph" : "item"
        const indent = rest.length - rest.trimStart().length
        open = { kind, start: from + quoted + (mark?.length ?? indent), end, first: end }
      }
    }
  }
  close()
  return blocks.filter(({ end, start }) => end > start)
}

const endsCaption = (caption: string, next: string): boolean =>
  NUMBERED_CAPTION.test(caption) && (/[.!?。]\s*$/.test(caption) || next.length < caption.length / 2)
