/** The contents of a PDF page: runs of text, and graphics. */
import type { Box } from "../../../document/Document.ts"

/** Quarter turns of a text counter-clockwise, on the page as shown. */
export type Turn = 0 | 1 | 2 | 3

/**
 * Text with one direction and size, at a place.
 *
 * `x0 … y1` are points in the upright frame of the text, y downwards. `box` is in points of the page as shown; the two differ
 * for turned text.
 */
export interface PlacedText {
  readonly text: string
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly box: Box
  /** Font size in points, as shown. */
  readonly size: number
  readonly bold: boolean
  readonly mono: boolean
  readonly turn: Turn
}

/** Characters on one line, in one font, without a wide gap between them. */
export interface Run extends PlacedText {
  /** Offset of the first word in another font, as in "**Figure 1** The gates". */
  readonly change?: number
  /** Heading level in the file's structure, 1 to 6. */
  readonly heading?: number
  /** Part of a table or figure in the file's structure. */
  readonly part?: number
}

// Structure tags of a tagged PDF. Parts are numbered, and runs name their part.

/** A table cell. An empty one has no part. */
export interface CellTag {
  readonly part: number | undefined
  /** Columns and rows that it spans. */
  readonly columns: number
  readonly rows: number
}

export interface TableTag {
  readonly caption: number | undefined
  readonly rows: ReadonlyArray<ReadonlyArray<CellTag>>
  /** A layout table: its cells contain headings or tables. */
  readonly arranges: boolean
}

export interface FigureTag {
  readonly part: number
  readonly caption: number | undefined
  /** Alternative text; empty if there is none. */
  readonly alternative: string
  /** Index of the figure that contains it. */
  readonly outer: number | undefined
  readonly holdsTable: boolean
}

/** In the order of the structure tree: containers precede what they contain. */
export interface Tags {
  readonly tables: ReadonlyArray<TableTag>
  readonly figures: ReadonlyArray<FigureTag>
}

/** The structure tags of a page, and the extent of its figures' drawings by part. */
export interface PageTags extends Tags {
  readonly drawn: ReadonlyMap<number, Box>
}

/**
 * A drawing on a page. Its box is clipped, in points of the page as shown.
 *
 * `horizontal` and `vertical` paths are thin straight lines, a `frame` is a stroked rectangle, `filled` a filled one.
 */
export interface Graphic {
  readonly kind: "path" | "image" | "shading"
  readonly shape: "horizontal" | "vertical" | "frame" | "filled" | "other"
  readonly box: Box
}

/** A page as PDFium reads it, with runs in the order of the file. `failed` pages have none. */
export interface RawPage {
  readonly number: number
  readonly width: number
  readonly height: number
  readonly runs: ReadonlyArray<Run>
  readonly graphics: ReadonlyArray<Graphic>
  readonly tags?: PageTags
  readonly failed: boolean
  /** Its fonts do not map glyphs to characters: it has no runs, but can be drawn. */
  readonly unreadable?: boolean
}

/** A page that cannot be read. */
export const failedPage = (number: number, width = 0, height = 0): RawPage => ({
  number,
  width,
  height,
  runs: [],
  graphics: [],
  failed: true
})

/** Why a PDF cannot be read. Sent from the worker thread. */
export interface PdfFault {
  readonly reason: "Encrypted" | "Malformed" | "UnsupportedFormat" | "Empty" | "NotFound" | "Internal"
  readonly message: string
}

/** A run in regular style. `frame` is its box in its upright frame. */
export const plainRun = (
  text: string,
  frame: Box,
  { box, size, turn }: Pick<Run, "box" | "size" | "turn">
): Run => {
  const [x0, y0, x1, y1] = frame
  return { text, x0, y0, x1, y1, box, size, bold: false, mono: false, turn }
}

/** The box of a run in its upright frame. */
export const boxOf = ({ x0, x1, y0, y1 }: Run): Box => [x0, y0, x1, y1]

/** The runs of each direction, those of the main direction first. */
export const byTurn = (runs: ReadonlyArray<Run>): ReadonlyArray<ReadonlyArray<Run>> =>
  ([0, 1, 2, 3] as const)
    .map((turn) => runs.filter((run) => run.turn === turn))
    .toSorted((a, b) => b.length - a.length)

/** Number of characters. */
export const lengthOf = (runs: ReadonlyArray<Pick<Run, "text">>): number =>
  runs.reduce((sum, { text }) => sum + text.length, 0)

/** Whether more than `share` of the characters have a style. */
export const isMostly = (
  runs: ReadonlyArray<Pick<Run, "text" | "bold" | "mono">>,
  style: "bold" | "mono",
  share: number
): boolean => lengthOf(runs.filter((run) => run[style])) > share * lengthOf(runs)

/** Maps a box of the page to the frame in which text of this turn is upright. `width` and `height` are the page's. */
export const upright = (box: Box, turn: Turn, width: number, height: number): Box => {
  const [x0, y0, x1, y1] = box
  if (turn === 1) return [height - y1, x0, height - y0, x1]
  if (turn === 2) return [width - x1, height - y1, width - x0, height - y0]
  if (turn === 3) return [y0, width - x1, y1, width - x0]
  return box
}

const CJK = /[\u2E80-\u9FFF\uF900-\uFAFF\uFF00-\uFFEF]/

/** The separator of two pieces of a line or paragraph: nothing between Chinese or Japanese characters, otherwise a space. */
export const separatorOf = (before: string, after: string): "" | " " =>
  CJK.test(before.slice(-1)) && CJK.test(after.slice(0, 1)) ? "" : " "
