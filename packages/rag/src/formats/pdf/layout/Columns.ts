/** Finds the columns of a page, and its reading order. */
import { type LineDraft, median, middle, type TextLine, toLines } from "../page/Lines.ts"
import { RUNS_AT_MOST } from "../page/Rows.ts"
import { byTurn, type RawPage, type Run } from "../page/Run.ts"

/** Least lines of a column. */
const MIN_LINES = 4
/** Least share of the column's width that the median line fills; the cells of a table fill less. */
const MIN_FILL = 0.5
/** Least characters of the median line. Chinese characters count twice. */
const MIN_CHARACTERS = 20
/** Columns are split into columns this often: at most four are side by side. */
const MAX_DEPTH = 2

/** Without fullwidth punctuation, unlike `letters`: with it, rows of numbers in Chinese reports count as columns. */
const WIDE = /[\u2E80-\u9FFF\uF900-\uFAFF]/g

/** Whether runs are a column of text, not cells of a table. `room` is the width available. */
const isColumn = (page: number, runs: ReadonlyArray<Run>, room: number): boolean => {
  const lines = toLines(page, runs)
  return (
    median(lines.map(({ x0, x1 }) => x1 - x0)) >= MIN_FILL * room &&
    median(lines.map(({ text }) => text.length + (text.match(WIDE)?.length ?? 0))) >= MIN_CHARACTERS
  )
}

/** The edges of lines. A page may have more lines than a call may have arguments. */
const edgesOf = (lines: ReadonlyArray<Pick<Run, "x0" | "x1">>) => ({
  left: lines.reduce((least, { x0 }) => Math.min(least, x0), Infinity),
  right: lines.reduce((most, { x1 }) => Math.max(most, x1), -Infinity)
})

/** The middle of the gutter between two columns; undefined for text in one column. */
const findGutter = (page: number, runs: ReadonlyArray<Run>): number | undefined => {
  if (runs.length < 2 * MIN_LINES || runs.length > RUNS_AT_MOST) return undefined
  const { left, right } = edgesOf(runs)
  const width = Math.ceil(right - left)
  if (width < 100 || width > 20_000) return undefined
  const crossing = new Int32Array(width + 2)
  for (const run of runs) {
    crossing[Math.max(0, Math.floor(run.x0 - left))]!++
    crossing[Math.min(width, Math.ceil(run.x1 - left))]!--
  }
  for (let x = 1; x <= width; x++) crossing[x]! += crossing[x - 1]!
  const from = Math.floor(width * 0.2)
  const to = Math.ceil(width * 0.8)
  const fewest = Math.min(...crossing.subarray(from, to))
  // Headlines, figures and tables cross the gutter: fewer lines than those of the columns
  const allowed = fewest + Math.floor(runs.length * 0.02)
  const narrowest = Math.max(6, 0.6 * median(runs.map(({ size }) => size)))
  let best: { readonly x: number; readonly width: number } | undefined
  for (let x = from; x < to; x++) {
    let end = x
    while (end < to && crossing[end]! <= allowed) end++
    if (end - x >= narrowest && (best === undefined || end - x > best.width))
      best = { x: left + (x + end) / 2, width: end - x }
    x = Math.max(x, end)
  }
  if (best === undefined) return undefined
  const gutter = best.x
  const sides = [runs.filter(({ x1 }) => x1 <= gutter), runs.filter(({ x0 }) => x0 >= gutter)]
  const crossed = runs.length - sides[0]!.length - sides[1]!.length
  const least = Math.min(...sides.map((side) => toLines(page, side).length))
  if (least < MIN_LINES || crossed > least) return undefined
  return isColumn(page, sides[0]!, gutter - left) && isColumn(page, sides[1]!, right - gutter)
    ? gutter
    : undefined
}

/** Groups of lines, one for each column, in reading order. */
const regions = (
  page: number,
  runs: ReadonlyArray<Run>,
  depth: number,
  elsewhere?: number
): ReadonlyArray<ReadonlyArray<LineDraft>> => {
  if (runs.length === 0) return []
  if (runs.length > RUNS_AT_MOST) return [toLines(page, runs)]
  const found = depth === 0 ? undefined : findGutter(page, runs)
  const gutter = found ?? elsewhere
  if (gutter === undefined) return [toLines(page, runs)]
  // Lines across the gutter divide the page into bands. Within a band the left column comes first
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
  const all: Array<ReadonlyArray<LineDraft>> = []
  let taken: Array<LineDraft> = []
  const take = (above: number, below: number): void => {
    const band = rest.filter((run) => middle(run) >= above && middle(run) < below)
    if (band.length === 0) return
    const left = band.filter(({ x1 }) => x1 <= gutter)
    const right = band.filter(({ x1 }) => x1 > gutter)
    // The gutter of other pages counts only between two columns of text
    const apart =
      found !== undefined ||
      [left, right].every((side) => {
        const edges = edgesOf(side)
        return toLines(page, side).length > 1 && isColumn(page, side, edges.right - edges.left)
      })
    if (!apart) {
      taken.push(...toLines(page, band))
      return
    }
    if (taken.length > 0) all.push(taken)
    taken = []
    all.push(...regions(page, left, depth - 1), ...regions(page, right, depth - 1))
  }
  let above = -Infinity
  for (const line of across) {
    take(above, middle(line))
    taken.push(line)
    above = middle(line)
  }
  take(above, Infinity)
  if (taken.length > 0) all.push(taken)
  return all
}

/**
 * The lines of a page in reading order: columns from left to right, between lines that span them. Text in the main direction
 * comes first. `elsewhere` is the gutter of other pages, for columns that are too short to show it.
 */
export const readingOrder = (page: RawPage, elsewhere?: number): ReadonlyArray<TextLine> => {
  const lines: Array<TextLine> = []
  let index = 0
  for (const runs of byTurn(page.runs)) {
    for (const region of regions(page.number, runs, MAX_DEPTH, elsewhere)) {
      const column = { ...edgesOf(region), index: index++ }
      for (const line of region) lines.push({ ...line, column })
    }
  }
  return lines
}

/** The median gutter of a document's pages. */
export const commonGutter = (pages: ReadonlyArray<RawPage>): number | undefined => {
  const gutters = pages.flatMap(
    ({ number, runs }) =>
      findGutter(
        number,
        runs.filter(({ turn }) => turn === 0)
      ) ?? []
  )
  return gutters.length === 0 ? undefined : median(gutters)
}
