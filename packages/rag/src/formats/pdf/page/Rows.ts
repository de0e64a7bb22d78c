/** Rows of runs, and their text. */
import { shared } from "./Box.ts"
import { type Run, separatorOf } from "./Run.ts"

/** Points: height of a bucket in the index of rows. Very tall pages have at most `MAX_BUCKETS`. */
const BUCKET = 20
const MAX_BUCKETS = 1_000
/** Points: height assumed for runs without one. */
const MIN_HEIGHT = 0.1
/** Share of a run's height that must overlap its row. With less, exponents leave their line: see docs/decisions/0020. */
const SAME_ROW = 0.55
/** Font sizes: a smaller gap is within a word. */
const NO_SPACE = 0.12

/** Pages with more runs are maps: their labels overlap, and form no columns. */
export const RUNS_AT_MOST = 6_000

interface Row {
  readonly y0: number
  readonly y1: number
  /** From left to right. */
  readonly runs: Array<Run>
}

/** The index at which a run belongs in a row. Files write most rows from left to right. */
const placeOf = (run: Run, row: ReadonlyArray<Run>): number => row.findLastIndex(({ x0 }) => x0 <= run.x0) + 1

/**
 * Groups runs that are beside each other, each group from left to right. Superscripts belong to the row that they touch.
 * The groups are in no order.
 */
export const toRows = (runs: ReadonlyArray<Run>): ReadonlyArray<ReadonlyArray<Run>> => {
  const rows: Array<Row> = []
  const step = Math.max(BUCKET, runs.reduce((most, { y1 }) => Math.max(most, y1), 0) / MAX_BUCKETS)
  const isMap = runs.length > RUNS_AT_MOST
  // An index by position: a page may have ten thousand rows
  const buckets = new Map<number, Array<Row>>()
  // Tall runs first, so that small ones join existing rows
  for (const run of runs.toSorted((a, b) => b.y1 - b.y0 - (a.y1 - a.y0) || a.y0 - b.y0)) {
    const height = Math.max(MIN_HEIGHT, run.y1 - run.y0)
    const end = run.y0 + height
    const keys = [Math.floor(run.y0 / step), Math.floor(end / step)]
    const isFree = (other: Run | undefined): boolean =>
      other === undefined || run.x0 > other.x1 - run.size || run.x1 < other.x0 + run.size
    const hasRoom = ({ runs: others, y0, y1 }: Row): boolean => {
      if (shared(y0, y1, run.y0, end) <= SAME_ROW * height) return false
      if (isMap) return true
      const at = placeOf(run, others)
      return isFree(others[at - 1]) && isFree(others[at])
    }
    let row: Row | undefined
    for (let key = keys[0]!; key <= keys[1]! && row === undefined; key++)
      row = buckets.get(key)?.find(hasRoom)
    if (row !== undefined) {
      row.runs.splice(isMap ? row.runs.length : placeOf(run, row.runs), 0, run)
      continue
    }
    row = { y0: run.y0, y1: end, runs: [run] }
    rows.push(row)
    for (let key = keys[0]!; key <= keys[1]!; key++) {
      const bucket = buckets.get(key)
      if (bucket === undefined) buckets.set(key, [row])
      else bucket.push(row)
    }
  }
  return rows.map((row) => row.runs.toSorted((a, b) => a.x0 - b.x0))
}

/** Splits a row at gaps of more than `gap` font sizes. */
export const splitAtGaps = (row: ReadonlyArray<Run>, gap: number): ReadonlyArray<ReadonlyArray<Run>> => {
  const parts: Array<Array<Run>> = []
  let right = -Infinity
  for (const run of row) {
    if (run.x0 - right > gap * run.size || parts.length === 0) parts.push([run])
    else parts.at(-1)!.push(run)
    right = Math.max(right, run.x1)
  }
  return parts
}

/** The text of runs on one row, with spaces at gaps. */
export const textOfRow = (row: ReadonlyArray<Run>): string => {
  let text = ""
  let right = 0
  // Reading the end of `text` would flatten the rope string for each run
  let before = ""
  for (const run of row) {
    const isWithinWord = before === "" || run.x0 - right < NO_SPACE * run.size
    text += (isWithinWord ? "" : separatorOf(before, run.text)) + run.text
    before = run.text
    right = Math.max(right, run.x1)
  }
  return text
}
