/** The pieces of a passage that a sentence never crosses: paragraphs, headings, items, rows, lines of code. */

export interface TextBlock {
  readonly kind: "paragraph" | "heading" | "item" | "header" | "row" | "code"
  /** Character offsets of what it says, without the marks that introduce it. */
  readonly start: number
  readonly end: number
}

const FENCE = /^\s*(```|~~~)/
const HEADING = /^ {0,3}#{1,6}\s+/
const ITEM = /^\s*(?:[-*+•‣◦–]|\d{1,3}[.)]|[（(]?[一二三四五六七八九十]{1,3}[）)、])\s*(?:\[[ xX]\]\s)?(?=\S)/
const ITEM_MARK_WITHOUT_SPACE = /^\s*[-*+]\S|^\s*\d{1,3}[.)]\S/
const ROW = /^\s*\|.*\|\s*$/
const RULE = /^[\s|:=*_+-]*$/
const TABLE_RULE = /^\s*(?:\|\s*)?:?-{2,}[\s|:-]*$/
const QUOTE = /^\s*(?:>\s?)+/

/**
 * The blocks of Markdown source or plain text, in order; blank lines, rules and the rules of tables are none.
 *
 * A line break alone ends nothing: lines of a paragraph or an item belong together.
 */
export const blocksOf = (text: string): ReadonlyArray<TextBlock> => {
  const blocks: Array<TextBlock> = []
  let open: { kind: "paragraph" | "item"; start: number; end: number } | undefined
  let fenced = false
  const close = () => {
    if (open !== undefined) blocks.push(open)
    open = undefined
  }
  for (let from = 0; from < text.length;) {
    const newline = text.indexOf("\n", from)
    const lineEnd = newline < 0 ? text.length : newline
    const line = text.slice(from, lineEnd)
    const end = from + line.trimEnd().length
    const from0 = from
    from = lineEnd + 1
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
      if (mark !== undefined) {
        close()
        open = { kind: "item", start: from0 + quoted + mark.length, end }
      } else if (open === undefined) {
        open = { kind: "paragraph", start: from0 + quoted + indent(rest), end }
      } else open.end = end
    }
  }
  close()
  return blocks.filter(({ end, start }) => end > start)
}

const indent = (line: string): number => line.length - line.trimStart().length
