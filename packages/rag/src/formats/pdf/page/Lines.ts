/** Groups the runs of a page into lines. */
import { hull } from "./Box.ts"
import { splitAtGaps, textOfRow, toRows } from "./Rows.ts"
import { boxOf, isMostly, type PlacedText, type Run } from "./Run.ts"

/** A line before columns are known. */
export interface LineDraft extends PlacedText {
  readonly page: number
  /** The text, split at wide gaps: cells, if it is a table's row. */
  readonly cells: ReadonlyArray<string>
  /** Heading level of the longest run in the file's structure, 1 to 6. */
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
/** Points: font size of a document without text. */
const DEFAULT_SIZE = 10

export const middle = (run: { readonly y0: number; readonly y1: number }): number => (run.y0 + run.y1) / 2

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The font size of most characters, the first one of equals; undefined without text. */
const mainSize = (texts: ReadonlyArray<Pick<Run, "size" | "text">>): number | undefined => {
  const weights = new Map<number, number>()
  for (const { size, text } of texts) weights.set(size, (weights.get(size) ?? 0) + text.length)
  return [...weights].toSorted((a, b) => b[1] - a[1])[0]?.[0]
}

/** A font size, to half points. */
export const roundedSize = (size: number): number => Math.round(size * 2) / 2

/** The rounded size and the weight of most characters of a document. */
export const bodyStyle = (
  lines: ReadonlyArray<Pick<PlacedText, "text" | "size" | "bold" | "mono">>
): { readonly size: number; readonly bold: boolean } => ({
  size: mainSize(lines.map(({ size, text }) => ({ text, size: roundedSize(size) }))) ?? DEFAULT_SIZE,
  bold: isMostly(lines, "bold", 0.5)
})

const WIDE = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/g
/** Length in Latin characters: a wide character counts as two. */
export const letters = (text: string): number => text.length + (text.match(WIDE)?.length ?? 0)

const toLine = (page: number, runs: ReadonlyArray<Run>): LineDraft => {
  const [x0, y0, x1, y1] = hull(runs.map(boxOf))
  return {
    page,
    text: textOfRow(runs),
    cells: splitAtGaps(runs, CELL_GAP).map(textOfRow),
    x0,
    y0,
    x1,
    y1,
    box: hull(runs.map(({ box }) => box)),
    size: mainSize(runs) ?? 0,
    bold: isMostly(runs, "bold", STYLE_SHARE),
    mono: isMostly(runs, "mono", STYLE_SHARE),
    turn: runs[0]!.turn,
    // Of the longest run: the number before a heading often has no tag, and a heading within a paragraph is no heading.
    heading: runs.reduce((longest, run) => (run.text.length > longest.text.length ? run : longest)).heading,
    runs
  }
}

/** The lines of a page or column, from top to bottom. */
export const toLines = (page: number, runs: ReadonlyArray<Run>): ReadonlyArray<LineDraft> =>
  toRows(runs)
    .map((row) => toLine(page, row))
    .toSorted((a, b) => middle(a) - middle(b) || a.x0 - b.x0)
