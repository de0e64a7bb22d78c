/** The running text of a page: columns, paragraphs and headings. Figures do not contain it. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, overlapX, overlapY, shared, width } from "../page/Box.ts"
import { bodyStyle, letters, median } from "../page/Lines.ts"
import { type UprightPage, type Segment } from "./UprightPage.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.bodyText

/** Font and spacing of a document's running text. */
export interface Body {
  readonly size: number
  readonly bold: boolean
  /** From one line to the next, in font sizes. */
  readonly leading: number
  readonly columns: ReadonlyArray<Column>
}

export interface Column {
  readonly x0: number
  readonly x1: number
  readonly lines: number
}

/** Lines below each other that look alike. */
interface TextBlock {
  readonly lines: ReadonlyArray<Segment>
  readonly box: Box
  readonly size: number
}

/** Splits a paragraph where it begins or ends to flow around a figure. */
const splitAtWraps = (lines: ReadonlyArray<Segment>): ReadonlyArray<ReadonlyArray<Segment>> => {
  if (lines.length <= limits.flowingLines) return [lines]
  const box = hull(lines.map((line) => line.box))
  const early = lines.map((line) => line.box[2] < box[2] - limits.earlyEnd * width(box))
  const from = early.findIndex(
    (_, i) =>
      i + limits.flowingLines <= lines.length && early.slice(i, i + limits.flowingLines).every(Boolean)
  )
  if (from === -1) return [lines]
  const next = early.findIndex((one, i) => i > from && !one)
  const to = next === -1 ? lines.length : next
  return [lines.slice(0, from), lines.slice(from, to), lines.slice(to)].filter(({ length }) => length > 0)
}

/** Lines below each other, alike in size and left edge (a first line may be indented). */
export const toBlocks = (segments: ReadonlyArray<Segment>, leading: number): ReadonlyArray<TextBlock> => {
  const open: Array<Array<Segment>> = []
  const done: Array<Array<Segment>> = []
  for (const segment of segments) {
    const [x0, , , y1] = segment.box
    for (let i = open.length - 1; i >= 0; i--) {
      if (y1 - open[i]!.at(-1)!.box[3] > limits.maxLineStep) done.push(...open.splice(i, 1))
    }
    const match = open.find((lines) => {
      const last = lines.at(-1)!
      const step = (y1 - last.box[3]) / segment.size
      if (step < limits.minLeading || step > Math.max(limits.maxLeading, leading * limits.leadingSlack))
        return false
      if (Math.abs(last.size - segment.size) > limits.sameSize * segment.size) return false
      const first = lines.length === 1 ? limits.maxIndent * segment.size : limits.sameLeft
      const left = x0 - last.box[0]
      return left > -first && left < limits.sameLeft
    })
    if (match === undefined) open.push([segment])
    else match.push(segment)
  }
  return [...done, ...open].flatMap(splitAtWraps).map((lines) => ({
    lines,
    box: hull(lines.map(({ box }) => box)),
    size: median(lines.map(({ size }) => size))
  }))
}

/** Whether the block is prose: long lines of words that fill its width. */
const isProse = ({ box, lines }: TextBlock): boolean => {
  if (lines.length < 2 || lines.filter(({ mono }) => mono).length > lines.length / 2) return false
  const text = lines.map((line) => line.text).join(" ")
  const full = lines.slice(0, -1)
  return (
    median(full.map((line) => letters(line.text))) >= limits.proseLineLetters &&
    full.filter((line) => line.box[2] > box[2] - limits.earlyEnd * width(box)).length >=
      limits.fullLines * full.length &&
    (text.match(/\p{L}/gu)?.length ?? 0) > limits.letterShare * text.length
  )
}

/** Whether the block is prose in the body's font size, of any width. */
export const isRunningText = (block: TextBlock, body: Pick<Body, "size">): boolean =>
  isProse(block) && Math.abs(block.size - body.size) < limits.bodySize * body.size

/** The columns of prose blocks, by their edges. */
const columnsOf = (blocks: ReadonlyArray<TextBlock>): ReadonlyArray<Column> => {
  const groups: Array<{ readonly x0: number; readonly rights: Array<number> }> = []
  for (const { box, lines } of blocks.toSorted((a, b) => b.lines.length - a.lines.length)) {
    const x0 = median(lines.map((line) => line.box[0]))
    const match = groups.find((group) => Math.abs(group.x0 - x0) < limits.sameColumn)
    const rights = lines.map(() => box[2])
    if (match === undefined) groups.push({ x0, rights })
    else match.rights.push(...rights)
  }
  const columns = groups
    .map(({ rights, x0 }) => ({
      x0,
      x1: rights.toSorted((a, b) => a - b)[Math.floor(rights.length * limits.rightEdgeRank)]!,
      lines: rights.length
    }))
    .toSorted((a, b) => b.lines - a.lines)
  const overlap = (a: Column, b: Column): boolean =>
    shared(a.x0, a.x1, b.x0, b.x1) > limits.columnOverlap * Math.min(a.x1 - a.x0, b.x1 - b.x0)
  // An indented list is not a column
  return columns.filter((column, i) => !columns.slice(0, i).some((other) => overlap(column, other)))
}

/** Measures the running text of a document. */
export const bodyOf = (frames: ReadonlyArray<UprightPage>): Body => {
  const { bold, size } = bodyStyle(frames.flatMap(({ segments }) => segments))
  const steps: Array<number> = []
  for (const { segments } of frames.slice(0, limits.leadingPages)) {
    const text = segments.filter(
      (one) => Math.abs(one.size - size) < limits.leadingSize && letters(one.text) > limits.proseLineLetters
    )
    text.forEach((one, i) => {
      const next = text
        .slice(i + 1, i + limits.leadingReach)
        .find((other) => Math.abs(other.box[0] - one.box[0]) < limits.sameLeft)
      const step = next === undefined ? 0 : (next.box[3] - one.box[3]) / size
      if (step > limits.leastLeading && step < limits.mostLeading) steps.push(step)
    })
  }
  const leading = steps.length === 0 ? limits.defaultLeading : median(steps)
  const blocks = frames.flatMap(({ segments }) =>
    toBlocks(segments, leading).filter((block) => isRunningText(block, { size }))
  )
  return { size, bold, leading, columns: columnsOf(blocks) }
}

/** The columns of one page. Columns of the document fill in where the page shows none. */
export const pageColumns = (blocks: ReadonlyArray<TextBlock>, body: Body): ReadonlyArray<Column> => {
  const prose = blocks.filter((block) => isRunningText(block, body))
  const own = columnsOf(prose).filter(
    ({ lines, x0, x1 }) =>
      lines >= limits.minColumnLines &&
      // A few indented lines do not make a column narrower
      !(
        lines < limits.ownColumnLines &&
        body.columns.some((one) => one.x0 < x0 + limits.sameLeft && one.x1 > x1 - limits.sameLeft)
      )
  )
  const rest = body.columns.filter((column) =>
    own.every((one) => shared(one.x0, one.x1, column.x0, column.x1) < 0)
  )
  return [...own, ...rest].toSorted((a, b) => a.x0 - b.x0)
}

/** Text that is not part of a figure, unless a frame encloses both. */
export interface Obstacle {
  readonly box: Box
  /** Set for paragraphs of several lines. Single lines and headings may be parts of a drawing or rows of a table. */
  readonly strong: boolean
  readonly segments: ReadonlyArray<Segment>
}

const NUMBERED = /^(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-Z]\.|第[一二三四五六七八九十\d]+[章节])\s+\p{L}/u

/** Whether the column has other text on the same line: then both are cells. */
const hasTextBeside = (segment: Segment, column: Column, segments: ReadonlyArray<Segment>): boolean =>
  segments.some(
    (other) =>
      other !== segment &&
      overlapY(other.box, segment.box) > 0.5 * Math.min(height(other.box), height(segment.box)) &&
      overlapX(other.box, segment.box) < limits.cellOverlap &&
      other.box[0] > column.x0 - limits.columnSlack &&
      other.box[2] < column.x1 + limits.columnSlack
  )

/** The paragraphs, headings and single lines of running text on a page. */
export const obstaclesOf = (
  blocks: ReadonlyArray<TextBlock>,
  segments: ReadonlyArray<Segment>,
  columns: ReadonlyArray<Column>,
  body: Body
): ReadonlyArray<Obstacle> => {
  const columnOf = (box: Box): Column | undefined =>
    columns
      .filter(({ x0, x1 }) => shared(box[0], box[2], x0, x1) > limits.inColumn * width(box))
      .toSorted((a, b) => a.x1 - a.x0 - (b.x1 - b.x0))[0]
  const found: Array<Obstacle> = []
  const taken = new Set<Segment>()
  for (const block of blocks) {
    const { box, lines, size } = block
    const column = columnOf(box)
    const room = column === undefined ? 0 : column.x1 - column.x0
    const cells =
      column === undefined ? 0 : lines.filter((line) => hasTextBeside(line, column, segments)).length
    const usual = size > limits.minBodySize * body.size && size < limits.maxParagraphSize * body.size
    const wideEnough =
      column === undefined ? width(box) > limits.wideParagraph * size : width(box) > limits.inColumn * room
    const atEdge = column === undefined || box[0] - column.x0 < limits.edgeIndent * size
    const prose =
      isProse(block) &&
      wideEnough &&
      cells < limits.cellLines * lines.length &&
      (usual
        ? atEdge || lines.length > limits.shortParagraph
        : lines.length > 2 && (column === undefined || width(box) > limits.fullWidth * room))
    if (prose) {
      found.push({ box, strong: usual, segments: lines })
      for (const line of lines) taken.add(line)
    }
  }
  const paragraphs = found.slice()
  for (const segment of segments) {
    if (taken.has(segment)) continue
    const { box, size, text } = segment
    // A justified line with a wide gap in the middle of a paragraph
    const inside = paragraphs.find(
      (one) =>
        one.box[1] - limits.insideSlack <= box[1] &&
        one.box[3] + limits.insideSlack >= box[3] &&
        shared(box[0], box[2], one.box[0], one.box[2]) > limits.inColumn * width(box)
    )
    const column = columnOf(box)
    if (inside !== undefined) {
      found.push({ box, strong: inside.strong, segments: [segment] })
      continue
    }
    if (segment.mono || !/\p{L}{2}|[\u3400-\u9FFF]{2}/u.test(text)) continue
    const wide = columns.length > 0 && column === undefined
    const left = column ?? {
      x0: Math.min(...columns.map(({ x0 }) => x0)),
      x1: Math.max(...columns.map(({ x1 }) => x1)),
      lines: 0
    }
    if (columns.length === 0 || hasTextBeside(segment, left, segments)) continue
    const indent = box[0] - left.x0
    const larger = size >= limits.largerSize * body.size
    const numbered = NUMBERED.test(text)
    const heading =
      (larger || (segment.bold && !body.bold)) &&
      size > limits.minHeadingSize * body.size &&
      ((indent > -limits.outdent && indent < limits.sameLeft) || size >= limits.titleSize * body.size)
    const usual = size > limits.minBodySize * body.size && size < limits.maxLineSize * body.size
    const words = text.split(/\s+/).length
    const line =
      usual &&
      indent > -limits.outdent &&
      indent < limits.lineIndent * size &&
      !wide &&
      (letters(text) >= limits.proseLineLetters ||
        (/[.:;?!。：；？！]$/u.test(text) &&
          (words >= limits.sentenceWords || letters(text) > limits.sentenceLetters))) &&
      (text.match(/\p{L}/gu)?.length ?? 0) > limits.letterShare * text.length
    if (heading || line)
      found.push({ box, strong: heading && numbered && (larger || segment.bold), segments: [segment] })
  }
  return found
}
