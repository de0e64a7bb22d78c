/** Plain text to blocks; every offset points into the file itself. */
import type { Block, Figure, Parsed } from "../../document/Document.ts"
import { delimiterOf } from "../parsing/Delimiter.ts"
import type { TextKind } from "../parsing/Format.ts"
import { blockSpan, lineStarts } from "../parsing/LineSpans.ts"

/** A first line no longer than this is taken for the title. */
const TITLE_MAX = 100

const UNDERLINE = /^([=\-~^*#])\1{2,}\s*$/
/** "Chapter 3", "PART II", "第三章": headings by their own words. */
const CHAPTER =
  /^(?:(?:chapter|part|appendix)\s+(?:\d+|[ivxlc]+)\b|第[一二三四五六七八九十百零\d]+[章节部篇回])/i

/** A heading underlined as in reStructuredText, or one that says that it is a chapter. */
const headingLevel = (lines: ReadonlyArray<string>): number | undefined => {
  const [first = "", second = ""] = lines
  if (lines.length === 2 && UNDERLINE.test(second) && second.trim().length >= first.trim().length / 2) {
    return second.startsWith("=") ? 1 : second.startsWith("-") ? 2 : 3
  }
  return lines.length === 1 && first.length <= 80 && CHAPTER.test(first) ? 1 : undefined
}

/**
 * Paragraphs at blank lines; every non-blank character belongs to one block.
 *
 * `kind` says what a paragraph is: code and tables are later split only between lines. From the first line with several
 * cells on, a table is one block and one figure.
 * `title` is the first line when it is short and stands alone; else empty.
 */
export const parsePlainText = (text: string, kind: TextKind): Parsed => {
  const starts = lineStarts(text)
  const lineAt = (line: number): string => text.slice(starts[line], starts[line + 1])
  const beginsTable = (line: number): boolean => kind === "table" && delimiterOf(lineAt(line)) !== undefined
  const blocks: Array<Block> = []
  const figures: Array<Figure> = []
  let title = ""
  const count = starts.length - 1
  for (let first = 0; first < count;) {
    if (lineAt(first).trim() === "") {
      first++
      continue
    }
    let after = first + 1
    if (beginsTable(first)) after = count
    while (after < count && lineAt(after).trim() !== "" && !beginsTable(after)) after++
    const span = blockSpan(text, starts, [first, after])!
    if (beginsTable(first)) figures.push({ ...span, kind: "table", mentions: [] })
    const lines =
      kind === "paragraph" && after - first <= 2 ? text.slice(span.start, span.end).split(/\r\n?|\n/) : []
    const level = headingLevel(lines)
    const heading = (lines[0] ?? "").trim()
    if (level === undefined) blocks.push({ ...span, kind })
    else blocks.push({ ...span, kind: "heading", level, heading })
    if (
      title === "" &&
      blocks.length === 1 &&
      heading.length <= TITLE_MAX &&
      (level !== undefined || lines.length === 1)
    ) {
      title = heading
    }
    first = after
  }
  return { format: "text", title, text, blocks, pages: [], lines: [], figures, faults: [] }
}
