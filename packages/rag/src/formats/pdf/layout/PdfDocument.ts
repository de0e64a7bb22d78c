/** Converts the pages of a PDF to one text with blocks, pages and lines. */
import type { Block, Figure, Line, Page, Parsed, Span } from "../../../document/Document.ts"
import type { PdfFigure } from "../figures/PdfFigure.ts"
import { onPage, toUprightPage } from "../figures/UprightPage.ts"
import { topHeading } from "../../parsing/DraftBlock.ts"
import { withMentions } from "../../parsing/Mentions.ts"
import { rowsOf, type TableRow } from "../figures/TableRows.ts"
import { commonGutter, readingOrder } from "./Columns.ts"
import { headingLevels } from "./Headings.ts"
import { type LineDraft, type TextLine, toLines } from "../page/Lines.ts"
import { type Paragraph, toParagraphs } from "./Paragraphs.ts"
import { byTurn, separatorOf, type RawPage, type Run } from "../page/Run.ts"

const HYPHENATED = /\p{L}[-\u2010\u2011]$/u

/** Titles that programs fill in automatically. */
const NO_TITLE =
  /^(?:untitled|microsoft word|powerpoint|slide \d|document\d*$)|\.(?:docx?|dvi|tex|pdf|indd|ps|html?)$/i

const HAS_TEXT = /[\p{L}\p{N}]/u

/** Least letters of each part of a compound word. */
const MIN_PART = 4

/** Joins two lines: words hyphenated at the line's end are restored. */
const joint = (
  before: string,
  after: string,
  words: ReadonlySet<string>
): { readonly cut: number; readonly gap: string } => {
  if (!HYPHENATED.test(before) || !/^\p{Ll}/u.test(after)) return { cut: 0, gap: separatorOf(before, after) }
  const head = /(?<![\p{L}\p{M}-])[\p{L}\p{M}-]+$/u.exec(before.slice(0, -1))?.[0] ?? ""
  const tail = /^[\p{L}\p{M}-]+/u.exec(after)?.[0] ?? ""
  const isKnown = (word: string): boolean => words.has(word.toLowerCase())
  const [left = "", right = ""] = [head.split("-").at(-1), tail.split("-", 1)[0]]
  // Short words are parts of many others: "in-form"
  const isClear = `${head}${tail}`.includes("-") || Math.min(left.length, right.length) >= MIN_PART
  // "well-known" keeps its hyphen if the document has it elsewhere, or both parts, but not the form without hyphen
  const compound =
    !isKnown(head + tail) && (isKnown(`${head}-${tail}`) || (isClear && isKnown(left) && isKnown(right)))
  return { cut: compound ? 0 : 1, gap: "" }
}

/** Words within lines, not at their ends. */
const vocabulary = (lines: ReadonlyArray<TextLine>): ReadonlySet<string> => {
  const words = new Set<string>()
  for (const [index, { text }] of lines.entries()) {
    const isContinued = HYPHENATED.test(lines[index - 1]?.text ?? "")
    const complete = text.split(" ").slice(isContinued ? 1 : 0, HYPHENATED.test(text) ? -1 : undefined)
    for (const word of complete.join(" ").match(/[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*/gu) ?? [])
      words.add(word.toLowerCase())
  }
  return words
}

/** Restores the indentation of code from the positions of its lines. */
const indentation = (left: number, line: TextLine): string =>
  " ".repeat(Math.max(0, Math.min(40, Math.round((line.x0 - left) / (0.6 * line.size)) || 0)))

/**
 * Collects the text and its lines.
 *
 * Blocks are joined at the end: each slice of a long text, such as a heading, would keep all of it in memory.
 */
class Writer {
  readonly lines: Array<Line> = []
  readonly #words: ReadonlySet<string>
  readonly #blocks: Array<string> = []
  #before = 0
  #block = ""

  constructor(words: ReadonlySet<string>) {
    this.#words = words
  }

  /** Starts a block; returns its offset. */
  block(): number {
    if (this.at > 0) {
      this.#blocks.push(this.#block, "\n\n")
      this.#before += this.#block.length + 2
      this.#block = ""
    }
    return this.#before
  }

  /** The current end of the text. */
  get at(): number {
    return this.#before + this.#block.length
  }

  /** The text of the current block. */
  get blockText(): string {
    return this.#block
  }

  /** The whole text. */
  get text(): string {
    return [...this.#blocks, this.#block].join("")
  }

  add(text: string): void {
    this.#block += text
  }

  line(line: Pick<LineDraft, "page" | "box">, text: string): void {
    const start = this.at
    this.add(text)
    this.lines.push({ start, end: this.at, page: line.page, box: line.box })
  }

  /** Lines of prose as one line of text. */
  prose(lines: ReadonlyArray<LineDraft>): void {
    for (const [index, line] of lines.entries()) {
      const next = lines[index + 1]
      const { cut, gap } = next === undefined ? { cut: 0, gap: "" } : joint(line.text, next.text, this.#words)
      this.line(line, line.text.slice(0, line.text.length - cut))
      this.add(gap)
    }
  }
}

const writeParagraph = (writer: Writer, paragraph: Paragraph): void => {
  const { kind, lines } = paragraph
  if (kind !== "table" && kind !== "code") return writer.prose(lines)
  const left = lines.reduce((least, { x0 }) => Math.min(least, x0), Infinity)
  lines.forEach((line, index) => {
    if (index > 0) writer.add(kind === "table" ? "\n" : `\n${indentation(left, line)}`)
    writer.line(line, kind === "table" ? line.cells.join(" | ") : line.text)
  })
}

/** Groups runs into lines, those of the main direction first. */
const linesOf = (page: number, runs: ReadonlyArray<Run>): ReadonlyArray<LineDraft> =>
  byTurn(runs).flatMap((own) => toLines(page, own))

/**
 * The caption and text of a figure; the text of a table by rows, if it has some. The alternative text comes last, as a
 * line with the box of the whole figure.
 */
const writeFigure = (writer: Writer, found: PdfFigure, page: RawPage): Omit<Figure, "mentions" | "crop"> => {
  const { alternative, box, kind, number, tagged, turn } = found
  const start = writer.block()
  writer.prose(linesOf(found.page, found.caption))
  const caption = { start, end: writer.at }
  const line = (place: Pick<LineDraft, "page" | "box">, text: string): void => {
    if (writer.at > start) writer.add("\n")
    writer.line(place, text)
  }
  const rows = kind === "table" ? (tagged?.rows ?? tableRows(found, page)) : undefined
  for (const row of rows ?? []) line({ page: found.page, box: onPage(row.box, { ...page, turn }) }, row.text)
  const inRows = (run: Run): boolean => (tagged === undefined ? run.turn === turn : tagged.runs.has(run))
  // The points of a plot and the arrows of a drawing may be characters.
  const rest = found.inside.filter(
    (run) => !(rows !== undefined && inRows(run)) && (kind === "table" || HAS_TEXT.test(run.text))
  )
  for (const own of linesOf(found.page, rest)) line(own, kind === "table" ? own.cells.join(" | ") : own.text)
  if (alternative !== undefined) line(found, alternative)
  return {
    start,
    end: writer.at,
    kind,
    ...(number === undefined ? {} : { number }),
    ...(caption.end > start ? { caption } : {}),
    page: found.page,
    box,
    ...(rows === undefined ? {} : { rows: rows.map((row) => row.cells) }),
    ...(alternative === undefined ? {} : { alternative })
  }
}

/** Share of a page's height. A page with text below it is full: notes, a footer and the margin follow. */
const FULL_SHARE = 2 / 3

/** The reading order without figures. */
interface Flow {
  readonly pages: ReadonlyArray<ReadonlyArray<TextLine>>
  /** The line that follows each figure; undefined at the end. */
  readonly next: ReadonlyMap<PdfFigure, TextLine | undefined>
}

const flowOf = (pages: ReadonlyArray<RawPage>, figures: ReadonlyArray<PdfFigure>): Flow => {
  const taken = new Set(figures.flatMap(({ caption, inside }) => [...caption, ...inside]))
  const anchors = new Map(figures.map((figure) => [figure.anchor, figure]))
  const withoutText = figures.filter(({ anchor }) => anchor.text === "")
  const plain = pages.map((page) => ({
    ...page,
    runs: [
      ...page.runs.filter((run) => !taken.has(run) || anchors.has(run)),
      ...withoutText.filter((figure) => figure.page === page.number).map(({ anchor }) => anchor)
    ]
  }))
  const gutter = commonGutter(plain)
  const next = new Map<PdfFigure, TextLine | undefined>()
  let waiting: Array<PdfFigure> = []
  const ordered = plain.map((page) => {
    const lines: Array<TextLine> = []
    for (const line of readingOrder(page, gutter)) {
      const own = line.runs.flatMap((run) => anchors.get(run) ?? [])
      const rest = own.length === 0 ? line.runs : line.runs.filter((run) => !anchors.has(run))
      if (rest.length > 0) {
        const kept = own.length === 0 ? line : { ...toLines(page.number, rest)[0]!, column: line.column }
        for (const figure of waiting) next.set(figure, kept)
        waiting = []
        lines.push(kept)
      }
      waiting.push(...own)
    }
    return lines
  })
  for (const figure of waiting) next.set(figure, undefined)
  return { pages: ordered, next }
}

/** A PDF with its pages and figures. */
interface PdfFindings {
  /** The title field of the file. */
  readonly title: string
  /** Without headers and footers. Has at least the graphics of the figures. */
  readonly pages: ReadonlyArray<RawPage>
  readonly figures: ReadonlyArray<PdfFigure>
}

/**
 * The text of a PDF in reading order. A paragraph becomes one line; tables, code and figures keep their lines. `order` has the
 * figures in the order of `parsed.figures`.
 */
export const toParsed = ({
  figures: found,
  pages: plain,
  title
}: PdfFindings): { readonly parsed: Parsed; readonly order: ReadonlyArray<PdfFigure> } => {
  const flow = flowOf(plain, found)
  const afterFigure = new Set([...flow.next.values()].flatMap((line) => line ?? []))
  const byNumber = new Map(plain.map((page) => [page.number, page]))
  const figuresOn = Map.groupBy(found, ({ page }) => page)
  const full = plain.filter(({ height, number, runs }) =>
    [...runs, ...(figuresOn.get(number) ?? [])].some(({ box }) => box[3] > FULL_SHARE * height)
  )
  const paragraphs = toParagraphs(flow.pages, {
    afterFigure,
    full: new Set(full.map(({ number }) => number))
  })
  const levels = headingLevels(paragraphs)
  const writer = new Writer(vocabulary(flow.pages.flat()))
  const blocks: Array<Block> = []
  const figures: Array<Omit<Figure, "mentions" | "crop">> = []
  const order: Array<PdfFigure> = []
  // A figure precedes the paragraph of the line after it, unless that line is within the paragraph
  const paragraphOf = new Map(
    paragraphs.flatMap((paragraph) => paragraph.lines.map((line) => [line, paragraph] as const))
  )
  const places = Array.from(flow.next, ([figure, line]) => {
    const paragraph = line && paragraphOf.get(line)
    const first = paragraph?.lines[0]
    const isAcrossPages = first?.page === figure.page && paragraph?.lines.at(-1)?.page !== figure.page
    return { figure, paragraph, isBefore: first === line || isAcrossPages }
  })
  const around = Map.groupBy(places, ({ paragraph }) => paragraph)
  const put = (at: Paragraph | undefined, before: boolean): void => {
    for (const { figure, isBefore } of around.get(at) ?? []) {
      if (isBefore !== before) continue
      const written = writeFigure(writer, figure, byNumber.get(figure.page)!)
      figures.push(written)
      order.push(figure)
      blocks.push({ kind: figure.kind, start: written.start, end: written.end })
    }
  }
  for (const paragraph of paragraphs) {
    put(paragraph, true)
    const start = writer.block()
    writeParagraph(writer, paragraph)
    const level = levels.get(paragraph)
    const end = writer.at
    if (level === undefined) blocks.push({ kind: paragraph.kind, start, end })
    else blocks.push({ kind: "heading", level, heading: writer.blockText, start, end })
    put(paragraph, false)
  }
  put(undefined, true)
  const { lines, text } = writer
  const pages = pagesOf(plain, lines)
  const parsed: Parsed = {
    format: "pdf",
    title: titleOf(title, blocks, pages),
    text,
    blocks,
    pages,
    lines,
    figures: withMentions(text, blocks, figures),
    faults: plain
      .filter(({ failed }) => failed)
      .map(({ number }) => ({ page: number, message: "this page cannot be read and is left out" }))
  }
  return { parsed, order }
}

const tableRows = ({ inside, turn }: PdfFigure, page: RawPage): ReadonlyArray<TableRow> | undefined => {
  const { graphics } = toUprightPage({ ...page, runs: [] }, turn, () => false)
  return rowsOf(
    inside.filter((run) => run.turn === turn),
    graphics
  )
}

/**
 * The span of each page's text. A paragraph across pages belongs to the page where it begins, a caption on another page to the
 * page of its figure.
 */
const pagesOf = (raw: ReadonlyArray<RawPage>, lines: ReadonlyArray<Line>): ReadonlyArray<Page> => {
  const spans = new Map<number, Span>()
  let least = Infinity
  for (const { end, page, start } of lines.toReversed()) {
    if (page > least) continue
    least = page
    spans.set(page, { start, end: spans.get(page)?.end ?? end })
  }
  const pages: Array<Page> = []
  for (const { height, number, width } of raw) {
    const at = pages.at(-1)?.end ?? 0
    const { end, start } = spans.get(number) ?? { start: at, end: at }
    pages.push({ number, width, height, start, end })
  }
  return pages
}

/** The topmost heading of the first page; otherwise the title field of the file. */
const titleOf = (field: string, blocks: ReadonlyArray<Block>, pages: ReadonlyArray<Page>): string => {
  const first = pages.find(({ end, start }) => end > start)
  const top = topHeading(blocks.filter(({ start }) => start < (first?.end ?? 0)))
  return top || (NO_TITLE.test(field) ? "" : field)
}
