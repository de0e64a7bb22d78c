/** Runs of a page to lines in reading order. */
import type { Box } from "../../Document.ts"
import { around, glue, type RawPage, type Run, type Turn } from "./Run.ts"

/** Runs on one line of one column. Coordinates are in the text's upright frame, as those of runs. */
export interface TextLine {
  readonly page: number
  readonly text: string
  /** The line's pieces, parted where a gap is wide: cells, if it is a table's row. */
  readonly cells: ReadonlyArray<string>
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly box: Box
  readonly size: number
  readonly bold: boolean
  readonly mono: boolean
  readonly turn: Turn
  /** Left and right edge of its column, and which column of the page it is. */
  readonly column: { readonly left: number; readonly right: number; readonly index: number }
}

type Draft = Omit<TextLine, "column">

/** A gap of this many font sizes within a line parts two cells. */
const CELL_GAP = 1.5
/** Columns have at least this many lines … */
const COLUMN_LINES = 4
/** … which fill at least this share of the column's width, unlike a table's cells. */
const COLUMN_FILL = 0.5
/** … and usually hold at least this many characters a line, Chinese ones counted twice. */
const COLUMN_CHARACTERS = 20
/** Columns within columns: four side by side at most. */
const DEPTH = 2

const WIDE = /[\u2E80-\u9FFF\uF900-\uFAFF]/g

const middle = (run: { readonly y0: number; readonly y1: number }): number => (run.y0 + run.y1) / 2

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const toLine = (page: number, unsorted: ReadonlyArray<Run>): Draft => {
  const runs = unsorted.toSorted((a, b) => a.x0 - b.x0)
  const cells: Array<string> = []
  const sizes = new Map<number, number>()
  let text = ""
  let length = 0
  let bold = 0
  let mono = 0
  let right = -Infinity
  for (const run of runs) {
    const gap = run.x0 - right
    if (text === "" || gap > CELL_GAP * run.size) cells.push(run.text)
    else cells[cells.length - 1] += (gap < run.size * 0.12 ? "" : glue(text, run.text)) + run.text
    text += (text === "" || gap < run.size * 0.12 ? "" : glue(text, run.text)) + run.text
    const own = run.text.length
    length += own
    if (run.bold) bold += own
    if (run.mono) mono += own
    sizes.set(run.size, (sizes.get(run.size) ?? 0) + own)
    right = Math.max(right, run.x1)
  }
  const size = [...sizes].reduce((best, next) => (next[1] > best[1] ? next : best))[0]
  const [x0, y0, x1, y1] = around(runs.map((run): Box => [run.x0, run.y0, run.x1, run.y1]))
  return {
    page,
    text,
    cells,
    x0,
    y0,
    x1,
    y1,
    box: around(runs.map(({ box }) => box)),
    size,
    bold: bold > length * 0.8,
    mono: mono > length * 0.8,
    turn: runs[0]!.turn
  }
}

/** Runs that stand beside each other make a line; superscripts belong to the line that they touch. */
const toLines = (page: number, runs: ReadonlyArray<Run>): ReadonlyArray<Draft> => {
  const groups: Array<{ y0: number; y1: number; runs: Array<Run> }> = []
  // Large runs first, so that small ones find the line that they belong to
  for (const run of runs.toSorted((a, b) => b.y1 - b.y0 - (a.y1 - a.y0) || a.y0 - b.y0)) {
    const height = Math.max(0.1, run.y1 - run.y0)
    const home = groups.find(
      (group) =>
        (Math.min(group.y1, run.y1) - Math.max(group.y0, run.y0)) / height > 0.5 &&
        group.runs.every((other) => run.x0 > other.x1 - run.size || run.x1 < other.x0 + run.size)
    )
    if (home === undefined) groups.push({ y0: run.y0, y1: run.y1, runs: [run] })
    else home.runs.push(run)
  }
  return groups
    .map((group) => toLine(page, group.runs))
    .toSorted((a, b) => middle(a) - middle(b) || a.x0 - b.x0)
}

/** The middle of the gutter between two columns, if this is text in columns. */
const findGutter = (page: number, runs: ReadonlyArray<Run>): number | undefined => {
  const left = Math.min(...runs.map(({ x0 }) => x0))
  const right = Math.max(...runs.map(({ x1 }) => x1))
  const width = Math.ceil(right - left)
  if (runs.length < 2 * COLUMN_LINES || width < 100 || width > 20_000) return undefined
  const crossing = new Int32Array(width + 2)
  for (const run of runs) {
    crossing[Math.max(0, Math.floor(run.x0 - left))]!++
    crossing[Math.min(width, Math.ceil(run.x1 - left)) + 1 - 1]!--
  }
  for (let x = 1; x <= width; x++) crossing[x]! += crossing[x - 1]!
  const from = Math.floor(width * 0.2)
  const to = Math.ceil(width * 0.8)
  const fewest = Math.min(...crossing.subarray(from, to))
  // Lines that cross are headlines, figures and tables: fewer than those of the columns
  const allowed = fewest + Math.floor(runs.length * 0.02)
  const least = Math.max(6, 0.6 * median(runs.map(({ size }) => size)))
  let best: { readonly x: number; readonly width: number } | undefined
  for (let x = from; x < to; x++) {
    let end = x
    while (end < to && crossing[end]! <= allowed) end++
    if (end - x >= least && (best === undefined || end - x > best.width))
      best = { x: left + (x + end) / 2, width: end - x }
    x = Math.max(x, end)
  }
  if (best === undefined) return undefined
  const gutter = best.x
  const sides = [runs.filter(({ x1 }) => x1 <= gutter), runs.filter(({ x0 }) => x0 >= gutter)]
  const crossed = runs.length - sides[0]!.length - sides[1]!.length
  const [a, b] = sides.map((side) => toLines(page, side))
  if (a!.length < COLUMN_LINES || b!.length < COLUMN_LINES || crossed > Math.min(a!.length, b!.length))
    return undefined
  const filled = (lines: ReadonlyArray<Draft>, room: number): boolean =>
    median(lines.map(({ x0, x1 }) => x1 - x0)) >= COLUMN_FILL * room &&
    median(lines.map(({ text }) => text.length + (text.match(WIDE)?.length ?? 0))) >= COLUMN_CHARACTERS
  return filled(a!, gutter - left) && filled(b!, right - gutter) ? gutter : undefined
}

/** Groups of lines, one for each column, in reading order. */
const regions = (
  page: number,
  runs: ReadonlyArray<Run>,
  depth: number
): ReadonlyArray<ReadonlyArray<Draft>> => {
  if (runs.length === 0) return []
  const gutter = depth === 0 ? undefined : findGutter(page, runs)
  if (gutter === undefined) return [toLines(page, runs)]
  // Lines that cross the gutter cut the page into bands; within a band the left column comes first
  const spanning = runs.filter(({ x0, x1 }) => x0 < gutter && x1 > gutter)
  const beside = (run: Run): boolean =>
    spanning.some(
      (other) =>
        middle(run) > other.y0 && middle(run) < other.y1 && (run.x0 >= other.x1 - 1 || run.x1 <= other.x0 + 1)
    )
  const across = toLines(
    page,
    runs.filter((run) => spanning.includes(run) || beside(run))
  )
  const rest = runs.filter((run) => !spanning.includes(run) && !beside(run))
  const found: Array<ReadonlyArray<Draft>> = []
  let taken: Array<Draft> = []
  const take = (above: number, below: number): void => {
    const band = rest.filter((run) => middle(run) >= above && middle(run) < below)
    if (band.length === 0) return
    if (taken.length > 0) found.push(taken)
    taken = []
    found.push(
      ...regions(
        page,
        band.filter(({ x1 }) => x1 <= gutter),
        depth - 1
      )
    )
    found.push(
      ...regions(
        page,
        band.filter(({ x1 }) => x1 > gutter),
        depth - 1
      )
    )
  }
  let above = -Infinity
  for (const line of across) {
    take(above, middle(line))
    taken.push(line)
    above = middle(line)
  }
  take(above, Infinity)
  if (taken.length > 0) found.push(taken)
  return found
}

/**
 * The lines of a page as a reader reads them: columns from left to right, between lines that span them. Turned text
 * comes after the text that most of the page is set in.
 */
export const readingOrder = (page: RawPage): ReadonlyArray<TextLine> => {
  const turns = ([0, 1, 2, 3] as const)
    .map((turn) => page.runs.filter((run) => run.turn === turn))
    .toSorted((a, b) => b.length - a.length)
  const lines: Array<TextLine> = []
  let index = 0
  for (const runs of turns) {
    for (const region of regions(page.number, runs, DEPTH)) {
      const left = Math.min(...region.map(({ x0 }) => x0))
      const right = Math.max(...region.map(({ x1 }) => x1))
      const column = { left, right, index: index++ }
      for (const line of region) lines.push({ ...line, column })
    }
  }
  return lines
}
