/** What of a page is running text: columns, paragraphs and headings, which figures never swallow. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, overlapX, overlapY, shared, width } from "../page/Box.ts"
import { median } from "../page/Lines.ts"
import { type Frame, type Segment } from "./Frame.ts"

/** The look of a document's running text. */
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
export interface TextBlock {
  readonly lines: ReadonlyArray<Segment>
  readonly box: Box
  readonly size: number
}

const WIDE = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/g
/** Characters as wide as Latin ones. */
export const letters = (text: string): number => text.length + (text.match(WIDE)?.length ?? 0)

/** So many lines that end early flow around something; fewer end a paragraph. */
const FLOWING = 3

/** A paragraph that begins beside a figure and ends below it, or the other way round, as two. */
const parted = (lines: ReadonlyArray<Segment>): ReadonlyArray<ReadonlyArray<Segment>> => {
  if (lines.length <= FLOWING) return [lines]
  const box = hull(lines.map((line) => line.box))
  const early = lines.map((line) => line.box[2] < box[2] - 0.2 * width(box))
  const from = early.findIndex(
    (_, i) => i + FLOWING <= lines.length && early.slice(i, i + FLOWING).every(Boolean)
  )
  if (from === -1) return [lines]
  const next = early.findIndex((one, i) => i > from && !one)
  const to = next === -1 ? lines.length : next
  return [lines.slice(0, from), lines.slice(from, to), lines.slice(to)].filter(({ length }) => length > 0)
}

/** Lines that stand below each other, alike in size and left edge (a first line may be indented). */
export const toBlocks = (segments: ReadonlyArray<Segment>, leading: number): ReadonlyArray<TextBlock> => {
  const open: Array<Array<Segment>> = []
  const done: Array<Array<Segment>> = []
  for (const segment of segments) {
    const [x0, , x1, y1] = segment.box
    for (let i = open.length - 1; i >= 0; i--) {
      if (y1 - open[i]!.at(-1)!.box[3] > 60) done.push(...open.splice(i, 1))
    }
    const home = open.find((lines) => {
      const last = lines.at(-1)!
      const step = (y1 - last.box[3]) / segment.size
      if (step < 0.6 || step > Math.max(1.45, leading * 1.2)) return false
      if (Math.abs(last.size - segment.size) > 0.08 * segment.size || last.mono !== segment.mono) return false
      const first = lines.length === 1 ? 3 * segment.size : 3
      const left = x0 - last.box[0]
      return (left > -first && left < 3) || Math.abs((x0 + x1 - last.box[0] - last.box[2]) / 2) < 1.5
    })
    if (home === undefined) open.push([segment])
    else home.push(segment)
  }
  return [...done, ...open].flatMap(parted).map((lines) => ({
    lines,
    box: hull(lines.map(({ box }) => box)),
    size: median(lines.map(({ size }) => size))
  }))
}

/** Whether the block's lines are those of prose: long, of words, filling their width. */
const isProse = ({ box, lines, size }: TextBlock): boolean => {
  if (lines.length < 2 || lines.filter(({ mono }) => mono).length > lines.length / 2) return false
  const text = lines.map((line) => line.text).join(" ")
  const full = lines.slice(0, -1)
  return (
    width(box) > 11 * size &&
    median(full.map((line) => letters(line.text))) >= 25 &&
    full.filter((line) => line.box[2] > box[2] - 0.2 * width(box)).length >= 0.6 * full.length &&
    (text.match(/\p{L}/gu)?.length ?? 0) > 0.6 * text.length
  )
}

/** Whether it is prose as large as that of the document, however narrow. */
export const isRunningText = (block: TextBlock, body: Body): boolean =>
  isProse(block) && Math.abs(block.size - body.size) < 0.1 * body.size

const SAME_EDGE = 5
/** A page has columns of its own when this many lines of text show them. */
const OWN_LINES = 25

/** The columns that blocks of prose stand in, by their edges. */
const columnsOf = (blocks: ReadonlyArray<TextBlock>): ReadonlyArray<Column> => {
  const groups: Array<{ x0: number; rights: Array<number>; lines: number }> = []
  for (const { box, lines } of blocks.toSorted((a, b) => b.lines.length - a.lines.length)) {
    const x0 = median(lines.map((line) => line.box[0]))
    const home = groups.find((group) => Math.abs(group.x0 - x0) < SAME_EDGE)
    const rights = lines.map(() => box[2])
    if (home === undefined) groups.push({ x0, rights, lines: lines.length })
    else {
      home.rights.push(...rights)
      home.lines += lines.length
    }
  }
  const all = groups.reduce((sum, { lines }) => sum + lines, 0)
  const columns = groups
    .filter(({ lines }) => lines >= Math.max(2, 0.06 * all))
    .map(({ lines, rights, x0 }) => ({
      x0,
      x1: rights.toSorted((a, b) => a - b)[Math.floor(rights.length * 0.6)]!,
      lines
    }))
    .toSorted((a, b) => b.lines - a.lines)
  // An indented list is no column of its own
  return columns.filter(
    (column, i) =>
      !columns
        .slice(0, i)
        .some(
          (other) =>
            shared(other.x0, other.x1, column.x0, column.x1) >
            0.25 * Math.min(column.x1 - column.x0, other.x1 - other.x0)
        )
  )
}

/** The running text of a document, from its frames. */
export const bodyOf = (frames: ReadonlyArray<Frame>): Body => {
  const sizes = new Map<number, number>()
  let bold = 0
  let all = 0
  for (const { segments } of frames) {
    for (const segment of segments) {
      // Labels of figures are short; running text is not
      const weight = segment.text.length > 20 ? segment.text.length : segment.text.length / 5
      const key = Math.round(segment.size * 2) / 2
      sizes.set(key, (sizes.get(key) ?? 0) + weight)
      if (segment.bold) bold += weight
      all += weight
    }
  }
  const size = [...sizes].reduce((best, next) => (next[1] > best[1] ? next : best), [10, 0] as const)[0]
  const steps: Array<number> = []
  for (const { segments } of frames.slice(0, 40)) {
    const text = segments.filter((one) => Math.abs(one.size - size) < 0.6 && letters(one.text) > 25)
    text.forEach((one, i) => {
      const next = text.slice(i + 1, i + 8).find((other) => Math.abs(other.box[0] - one.box[0]) < 3)
      const step = next === undefined ? 0 : (next.box[3] - one.box[3]) / size
      if (step > 0.7 && step < 2.2) steps.push(step)
    })
  }
  const leading = steps.length === 0 ? 1.2 : median(steps)
  const blocks = frames.flatMap(({ segments }) =>
    toBlocks(segments, leading).filter((block) => isProse(block) && Math.abs(block.size - size) < 0.1 * size)
  )
  return { size, bold: bold > all / 2, leading, columns: columnsOf(blocks) }
}

/** The columns of one page: its own, and those of other pages where it shows none. */
export const pageColumns = (blocks: ReadonlyArray<TextBlock>, body: Body): ReadonlyArray<Column> => {
  const prose = blocks.filter((block) => isRunningText(block, body))
  const own = columnsOf(prose).filter(
    ({ lines, x0, x1 }) =>
      lines >= 4 &&
      // A few indented lines do not make a column narrower
      !(lines < OWN_LINES && body.columns.some((one) => one.x0 < x0 + 3 && one.x1 > x1 - 3))
  )
  const rest = body.columns.filter((column) =>
    own.every((one) => shared(one.x0, one.x1, column.x0, column.x1) < 0)
  )
  return [...own, ...rest].toSorted((a, b) => a.x0 - b.x0)
}

/** Text that a figure cannot hold, unless a frame around both says so. */
export interface Obstacle {
  readonly box: Box
  /** Paragraphs of several lines are `strong`; single lines and headings may be parts of a drawing or rows of a table. */
  readonly strong: boolean
  readonly segments: ReadonlyArray<Segment>
}

const NUMBERED = /^(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-Z]\.|第[一二三四五六七八九十\d]+[章节])\s+\p{L}/u

/** Whether another text stands beside this one within the column: then it is a cell. */
const hasMate = (segment: Segment, column: Column, segments: ReadonlyArray<Segment>): boolean =>
  segments.some(
    (other) =>
      other !== segment &&
      overlapY(other.box, segment.box) > 0.5 * Math.min(height(other.box), height(segment.box)) &&
      overlapX(other.box, segment.box) < 1 &&
      other.box[0] > column.x0 - 8 &&
      other.box[2] < column.x1 + 8 &&
      // The number of an equation is no cell
      !/^\(?\d{1,3}(?:\.\d+)?\)$/.test(other.text)
  )

/** Paragraphs, headings and lone lines of running text of one page. */
export const obstaclesOf = (
  blocks: ReadonlyArray<TextBlock>,
  segments: ReadonlyArray<Segment>,
  columns: ReadonlyArray<Column>,
  body: Body
): ReadonlyArray<Obstacle> => {
  const homeOf = (box: Box): Column | undefined =>
    columns
      .filter(({ x0, x1 }) => shared(box[0], box[2], x0, x1) > 0.6 * width(box))
      .toSorted((a, b) => a.x1 - a.x0 - (b.x1 - b.x0))[0]
  const found: Array<Obstacle> = []
  const taken = new Set<Segment>()
  for (const block of blocks) {
    const { box, lines, size } = block
    const column = homeOf(box)
    const room = column === undefined ? 0 : column.x1 - column.x0
    const mates = column === undefined ? 0 : lines.filter((line) => hasMate(line, column, segments)).length
    const usual = size > 0.93 * body.size && size < 1.35 * body.size
    const wideEnough = column === undefined ? width(box) > 30 * size : width(box) > 0.6 * room
    const atEdge = column === undefined || box[0] - column.x0 < 4 * size
    const prose =
      isProse(block) &&
      wideEnough &&
      mates < 0.4 * lines.length &&
      (usual
        ? atEdge || lines.length > 3
        : lines.length > 2 && (column === undefined || width(box) > 0.85 * room))
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
        one.box[1] - 1 <= box[1] &&
        one.box[3] + 1 >= box[3] &&
        shared(box[0], box[2], one.box[0], one.box[2]) > 0.6 * width(box)
    )
    const column = homeOf(box)
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
    if (columns.length === 0 || hasMate(segment, left, segments)) continue
    const indent = box[0] - left.x0
    const larger = size >= 1.12 * body.size
    const numbered = NUMBERED.test(text)
    const heading =
      (larger || (segment.bold && !body.bold)) &&
      size > 0.9 * body.size &&
      ((indent > -4 && (indent < 3 || (numbered && indent < 30))) || size >= 1.3 * body.size) &&
      letters(text) < 120
    const usual = size > 0.93 * body.size && size < 1.15 * body.size
    const words = text.split(/\s+/).length
    const line =
      usual &&
      indent > -4 &&
      indent < 4.5 * size &&
      !wide &&
      (letters(text) >= 25 || (/[.:;?!。：；？！]$/u.test(text) && (words >= 3 || letters(text) > 10))) &&
      (text.match(/\p{L}/gu)?.length ?? 0) > 0.6 * text.length
    if (heading || line)
      found.push({ box, strong: heading && numbered && (larger || segment.bold), segments: [segment] })
  }
  return found
}
