/** Groups the runs of a page into lines. */
import { hull } from "./Box.ts"
import { boxOf, glue, isMostly, type PlacedText, type Run } from "./Run.ts"

/** A line before columns are known. */
export interface LineDraft extends PlacedText {
  readonly page: number
  /** The text, split at wide gaps: cells, if it is a table's row. */
  readonly cells: ReadonlyArray<string>
  /** Heading level of the first run in the file's structure, 1 to 6. */
  readonly heading: number | undefined
  readonly runs: ReadonlyArray<Run>
}

/** The runs on one line of one column. */
export interface TextLine extends LineDraft {
  /** Left and right edge of the column, and its index on the page. */
  readonly column: { readonly left: number; readonly right: number; readonly index: number }
}

/** A gap of this many font sizes separates two cells. */
const CELL_GAP = 1.5
/** Share of the characters by which a line is bold or monospaced. */
const STYLE_SHARE = 0.8
export const middle = (run: { readonly y0: number; readonly y1: number }): number => (run.y0 + run.y1) / 2

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The key with the largest weight; the first one of equals. */
export const heaviest = (weights: ReadonlyMap<number, number>): number | undefined =>
  [...weights].toSorted((a, b) => b[1] - a[1])[0]?.[0]

const WIDE = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/g
/** Length in Latin characters: a wide character counts as two. */
export const letters = (text: string): number => text.length + (text.match(WIDE)?.length ?? 0)

const toLine = (page: number, unsorted: ReadonlyArray<Run>): LineDraft => {
  const runs = unsorted.toSorted((a, b) => a.x0 - b.x0)
  const cells: Array<string> = []
  const sizes = new Map<number, number>()
  let text = ""
  let right = -Infinity
  // Reading the end of `text` would flatten the rope string for each run
  let before = ""
  for (const run of runs) {
    const gap = run.x0 - right
    const joint = before === "" || gap < run.size * 0.12 ? "" : glue(before, run.text)
    if (text === "" || gap > CELL_GAP * run.size) cells.push(run.text)
    else cells[cells.length - 1] += joint + run.text
    text += joint + run.text
    before = run.text
    sizes.set(run.size, (sizes.get(run.size) ?? 0) + run.text.length)
    right = Math.max(right, run.x1)
  }
  const [x0, y0, x1, y1] = hull(runs.map(boxOf))
  return {
    page,
    text,
    cells,
    x0,
    y0,
    x1,
    y1,
    box: hull(runs.map(({ box }) => box)),
    size: heaviest(sizes) ?? 0,
    bold: isMostly(runs, "bold", STYLE_SHARE),
    mono: isMostly(runs, "mono", STYLE_SHARE),
    turn: runs[0]!.turn,
    heading: runs[0]!.heading,
    runs
  }
}

/** Pages with more runs are maps: their labels form no lines or columns. */
export const RUNS_AT_MOST = 6_000

/** One line for the runs at each height. */
const toLevels = (page: number, runs: ReadonlyArray<Run>): ReadonlyArray<LineDraft> => {
  const step = Math.max(1, median(runs.map(({ size }) => size)))
  return [...Map.groupBy(runs, (run) => Math.round(middle(run) / step))]
    .toSorted(([a], [b]) => a - b)
    .map(([, own]) => toLine(page, own))
}

/** Joins runs that are beside each other. Superscripts belong to the line that they touch. */
export const toLines = (page: number, runs: ReadonlyArray<Run>): ReadonlyArray<LineDraft> => {
  if (runs.length > RUNS_AT_MOST) return toLevels(page, runs)
  const groups: Array<{ y0: number; y1: number; runs: Array<Run> }> = []
  // Large runs first, so that small ones join existing lines
  for (const run of runs.toSorted((a, b) => b.y1 - b.y0 - (a.y1 - a.y0) || a.y0 - b.y0)) {
    const height = Math.max(0.1, run.y1 - run.y0)
    const match = groups.find(
      (group) =>
        (Math.min(group.y1, run.y1) - Math.max(group.y0, run.y0)) / height > 0.5 &&
        group.runs.every((other) => run.x0 > other.x1 - run.size || run.x1 < other.x0 + run.size)
    )
    if (match === undefined) groups.push({ y0: run.y0, y1: run.y1, runs: [run] })
    else match.runs.push(run)
  }
  return groups
    .map((group) => toLine(page, group.runs))
    .toSorted((a, b) => middle(a) - middle(b) || a.x0 - b.x0)
}
