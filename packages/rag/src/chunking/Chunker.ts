/** Cuts documents into passages: at headings, and between blocks if possible. */
import type { Figure, Line, Parsed, Passage, Span } from "../document/Document.ts"
import { locatorLabel, locatorsIn } from "../document/Locator.ts"
import { hasWide, MAX_SIZE, splitBlock, TARGET_SIZE, textSize } from "./Splitting.ts"
import { passageFigure, type Unit, unitsOf } from "./Units.ts"

/** The chunker's name in a collection's manifest. It must change if the passages of any file change. */
export const CHUNKER = "headings-5"

/** A smaller piece is merged with its neighbour if both fit into one passage. */
const SMALL_SIZE = 200

/** Smaller sections, heading included, are merged with small siblings under their parent's heading, … */
const TINY_SECTION = 160
/** … up to this size. */
const MERGED_SIZE = 500

interface Section {
  readonly headings: ReadonlyArray<string>
  readonly blocks: ReadonlyArray<Unit>
}

interface Chunk {
  readonly passage: Passage
  readonly figure: Figure | undefined
}

interface Piece extends Span {
  readonly size: number
  readonly heading: boolean
  readonly figure?: Figure | undefined
}

/** The sections of a document. Successive headings without text between them begin one section, the innermost one. */
const sectionsOf = (blocks: ReadonlyArray<Unit>): ReadonlyArray<Section> => {
  const sections: Array<{ headings: ReadonlyArray<string>; blocks: Array<Unit> }> = []
  const path: Array<{ readonly level: number; readonly heading: string }> = []
  let current: { headings: ReadonlyArray<string>; blocks: Array<Unit> } | undefined
  let level = 0
  for (const block of blocks) {
    if (block.kind === "heading") {
      const next = block.level ?? 1
      while (path.length > 0 && path.at(-1)!.level >= next) path.pop()
      if (block.heading !== undefined && block.heading !== "")
        path.push({ level: next, heading: block.heading })
      const headings = path.map(({ heading }) => heading)
      const bare = current !== undefined && current.blocks.every(({ kind }) => kind === "heading")
      if (current === undefined || !bare || next <= level) {
        current = { headings, blocks: [] }
        sections.push(current)
      }
      current.headings = headings
      level = next
    } else if (current === undefined) {
      current = { headings: [], blocks: [] }
      sections.push(current)
    }
    current.blocks.push(block)
  }
  return sections
}

const commonPath = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): ReadonlyArray<string> => {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return a.slice(0, length)
}

/** Merges small sibling sections, such as the entries of a glossary, but not across top-level headings. */
const mergeSmallSections = (
  sections: ReadonlyArray<Section>,
  sizeOf: (span: Span) => number
): ReadonlyArray<Section> => {
  const merged: Array<Section> = []
  let size = 0
  let open = false
  for (const section of sections) {
    const own = sizeOf({ start: section.blocks[0]!.start, end: section.blocks.at(-1)!.end })
    const last = merged.at(-1)
    const shared = last === undefined ? [] : commonPath(last.headings, section.headings)
    const tiny = own < TINY_SECTION && section.blocks.every(({ figure }) => figure === undefined)
    if (open && tiny && last !== undefined && shared.length > 0 && size + own <= MERGED_SIZE) {
      merged[merged.length - 1] = { headings: shared, blocks: [...last.blocks, ...section.blocks] }
      size += own
    } else {
      merged.push(section)
      size = own
      open = tiny
    }
  }
  return merged
}

/** The index of the last span that starts at or before `offset`; -1 if there is none. */
const lastBefore = (spans: ReadonlyArray<Span>, offset: number): number => {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.start <= offset) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * The passages of a document, in reading order.
 *
 * - `parsed.text.slice(start, end) === text`, and passages do not overlap.
 * - Every character of every block, except white space, belongs to exactly one passage.
 * - A passage is part of one section, but tiny sibling sections are merged under their parent's heading. A heading begins
 *   its section's first passage.
 * - Whole blocks are merged towards `TARGET_SIZE`. A block above `MAX_SIZE` is split: prose after sentences, lists, code and
 *   tables after lines.
 * - A figure or table with its caption is one passage, with the headings directly before it. It is split only above
 *   `MAX_SIZE`. The text before and after it is merged separately.
 * - In paged documents a passage continues on the next page only with a paragraph that does.
 */
export const chunk = (parsed: Parsed): ReadonlyArray<Passage> =>
  chunkUnits(parsed).map(({ passage }) => passage)

/** Makes passages of parts of a document: with their page, lines and locators. */
const passageCutter = (parsed: Parsed) => {
  const { lines, pages, text } = parsed
  return (
    ordinal: number,
    start: number,
    end: number,
    headings: ReadonlyArray<string>,
    figure?: Figure
  ): Passage => {
    const page = pages[lastBefore(pages, start)]?.number
    const inside: Array<Line> = []
    for (let i = Math.max(0, lastBefore(lines, start)); i < lines.length && lines[i]!.start < end; i++) {
      if (lines[i]!.end > start) inside.push(lines[i]!)
    }
    const locators = locatorsIn(parsed.locators ?? [], start, end)
    const locator = locatorLabel(locators)
    return {
      ordinal,
      start,
      end,
      text: text.slice(start, end),
      headings,
      ...(page === undefined ? {} : { page }),
      ...(locator === undefined ? {} : { locator }),
      ...(locators.length < 2 ? {} : { locators }),
      lines: inside,
      ...(parsed.about === undefined || ordinal > 0 ? {} : { about: parsed.about }),
      ...(figure === undefined ? {} : { figure: passageFigure(parsed, figure, start) })
    }
  }
}

/** The same passages, with the figure that each was cut from. */
export const chunkUnits = (parsed: Parsed): ReadonlyArray<Chunk> => {
  const { pages, text } = parsed
  const cut = passageCutter(parsed)
  if (parsed.passages !== undefined)
    return parsed.passages.map(({ end, headings, start }, i) => ({
      passage: cut(i, start, end, headings),
      figure: undefined
    }))
  const passages: Array<Chunk> = []
  const sizeOf = hasWide(text)
    ? (span: Span): number => textSize(text, span.start, span.end)
    : (span: Span): number => span.end - span.start
  const pageIndex = (offset: number): number => lastBefore(pages, offset)

  const emit = (start: number, end: number, headings: ReadonlyArray<string>, figure?: Figure): void =>
    void passages.push({ passage: cut(passages.length, start, end, headings, figure), figure })

  const pack = ({ blocks, headings }: Section): void => {
    const pieces: Array<Piece> = []
    for (const block of blocks) {
      const size = sizeOf(block)
      const heading = block.kind === "heading"
      const { end, figure, start } = block
      if (size <= MAX_SIZE) pieces.push({ start, end, size, heading, figure })
      else
        for (const span of splitBlock(text, block))
          pieces.push({ ...span, size: sizeOf(span), heading, figure })
    }
    let start = -1
    let end = -1
    let size = 0
    let onlyHeadings = true
    let figure: Figure | undefined
    for (const piece of pieces) {
      const samePage = pages.length === 0 || pageIndex(end - 1) === pageIndex(piece.start)
      const fits =
        size + piece.size <= TARGET_SIZE ||
        ((size < SMALL_SIZE || piece.size < SMALL_SIZE) && size + piece.size <= MAX_SIZE)
      const alone = figure !== undefined || piece.figure !== undefined
      if (start !== -1 && (onlyHeadings ? size + piece.size <= MAX_SIZE : !alone && samePage && fits)) {
        end = piece.end
        size += piece.size
        onlyHeadings &&= piece.heading
      } else {
        if (start !== -1) emit(start, end, headings, figure)
        ;({ start, end, size } = piece)
        onlyHeadings = piece.heading
      }
      figure = piece.figure
    }
    if (start !== -1) emit(start, end, headings, figure)
  }

  for (const section of mergeSmallSections(sectionsOf(unitsOf(parsed)), sizeOf)) pack(section)
  return passages
}
