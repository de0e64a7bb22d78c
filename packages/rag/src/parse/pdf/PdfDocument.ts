/** A PDF's pages to one text with its blocks, pages and lines. */
import type { Block, Line, Page, Parsed } from "../../Document.ts"
import { commonGutter, readingOrder } from "./Columns.ts"
import { withoutFurniture } from "./Furniture.ts"
import { headingLevels } from "./Headings.ts"
import type { TextLine } from "./Lines.ts"
import { type Paragraph, toParagraphs } from "./Paragraphs.ts"
import { glue, type RawPdf } from "./Run.ts"

const HYPHENATED = /\p{L}[-\u2010\u2011]$/u

/** Title fields that programs fill by themselves. */
const NO_TITLE =
  /^(?:untitled|microsoft word|powerpoint|slide \d|document\d*$)|\.(?:docx?|dvi|tex|pdf|indd|ps|html?)$/i

/** How a line goes on: words that were parted at the line's end are put together again. */
const joint = (
  before: string,
  after: string,
  words: ReadonlySet<string>
): { readonly cut: number; readonly gap: string } => {
  if (!HYPHENATED.test(before) || !/^\p{Ll}/u.test(after)) return { cut: 0, gap: glue(before, after) }
  const head = /[\p{L}\p{M}-]+$/u.exec(before)?.[0] ?? ""
  const tail = /^[\p{L}\p{M}]+/u.exec(after)?.[0] ?? ""
  const whole = (head.slice(0, -1) + tail).toLowerCase()
  const compound = (head + tail).toLowerCase()
  // "well-known" keeps its hyphen when the document writes it so elsewhere, and never the other form
  return words.has(compound) && !words.has(whole) ? { cut: 0, gap: "" } : { cut: 1, gap: "" }
}

/** Words that stand within lines, so that nothing was parted in them. */
const vocabulary = (lines: ReadonlyArray<TextLine>): ReadonlySet<string> => {
  const words = new Set<string>()
  for (const { text } of lines) {
    for (const word of text.match(/[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*/gu) ?? []) words.add(word.toLowerCase())
  }
  return words
}

/** Code keeps its indentation, as far as the place of a line tells it. */
const indentation = (paragraph: Paragraph, line: TextLine): string => {
  const left = Math.min(...paragraph.lines.map(({ x0 }) => x0))
  return " ".repeat(Math.max(0, Math.min(40, Math.round((line.x0 - left) / (0.6 * line.size)))))
}

/** The text of a PDF in reading order: one line of text for a paragraph, lines kept in tables and code. */
export const toParsed = (pdf: RawPdf): Parsed => {
  const plain = withoutFurniture(pdf.pages)
  const gutter = commonGutter(plain)
  const ordered = plain.map((page) => readingOrder(page, gutter))
  const paragraphs = toParagraphs(ordered)
  const levels = headingLevels(paragraphs)
  const words = vocabulary(ordered.flat())
  const blocks: Array<Block> = []
  const lines: Array<Line> = []
  let text = ""
  for (const paragraph of paragraphs) {
    if (text !== "") text += "\n\n"
    const start = text.length
    paragraph.lines.forEach((line, index) => {
      if (index > 0) {
        if (paragraph.kind === "table") text += "\n"
        else if (paragraph.kind === "code") text += `\n${indentation(paragraph, line)}`
        else {
          const { cut, gap } = joint(paragraph.lines[index - 1]!.text, line.text, words)
          if (cut > 0) {
            text = text.slice(0, -cut)
            const before = lines.pop()!
            lines.push({ ...before, end: before.end - cut })
          }
          text += gap
        }
      }
      const from = text.length
      text += paragraph.kind === "table" ? line.cells.join(" | ") : line.text
      lines.push({ start: from, end: text.length, page: line.page, box: line.box })
    })
    const level = levels.get(paragraph)
    const end = text.length
    if (level === undefined) blocks.push({ kind: paragraph.kind, start, end })
    else blocks.push({ kind: "heading", level, heading: text.slice(start, end), start, end })
  }
  const pages: Array<Page> = []
  for (const { height, number, width } of pdf.pages) {
    const own = lines.filter(({ page }) => page === number)
    const at = pages.at(-1)?.end ?? 0
    pages.push({ number, width, height, start: own[0]?.start ?? at, end: own.at(-1)?.end ?? at })
  }
  return {
    format: "pdf",
    title: titleOf(pdf, blocks, pages),
    text,
    blocks,
    pages,
    lines,
    figures: [],
    faults: []
  }
}

/** The first page's topmost heading; else what the file says. */
const titleOf = (pdf: RawPdf, blocks: ReadonlyArray<Block>, pages: ReadonlyArray<Page>): string => {
  const first = pages.find(({ end, start }) => end > start)
  const headings = blocks.filter(
    ({ kind, start }) => kind === "heading" && first !== undefined && start < first.end
  )
  const top = headings.toSorted((a, b) => a.level! - b.level!)[0]?.heading
  return top ?? (NO_TITLE.test(pdf.title) ? "" : pdf.title)
}
