/** What a PDF gives: runs of text at places. */
import type { Box } from "../../../document/Document.ts"
import type { Tags } from "./Tags.ts"

/** How many quarter turns counter-clockwise a text is turned, as the page is shown. */
export type Turn = 0 | 1 | 2 | 3

/**
 * Characters on one line, in one font, without a wide gap between them.
 *
 * `x0 … y1` are points in the text's own upright frame, y downwards: for a turned text not those of the page; `box` is
 * always the page's.
 */
export interface Run {
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
  /** Where the first word in another font begins within `text`, as in "**Figure 1** The gates"; undefined without one. */
  readonly change?: number
  /** The level that the file's own structure gives it, if that calls it a heading; 1 to 6. */
  readonly heading?: number
  /** Which part of a table or figure the file's own structure calls it. */
  readonly part?: number
}

/** What the file's own structure says of a page, and where the drawings of its figures are, by the numbers of their parts. */
export interface PageTags extends Tags {
  readonly drawn: ReadonlyMap<number, Box>
}

/**
 * Something drawn on a page besides text. Its box is cut by what clips it, in points of the page as shown.
 *
 * A `horizontal` or `vertical` path is a thin straight line, a `frame` a rectangle of strokes, `filled` one of colour.
 */
export interface Graphic {
  readonly kind: "path" | "image" | "shading"
  readonly shape: "horizontal" | "vertical" | "frame" | "filled" | "other"
  readonly box: Box
}

/** A page as PDFium reads it: runs in the order of the file. `failed` pages have none. */
export interface RawPage {
  readonly number: number
  readonly width: number
  readonly height: number
  readonly runs: ReadonlyArray<Run>
  readonly graphics: ReadonlyArray<Graphic>
  readonly tags?: PageTags
  readonly failed: boolean
  /** It has text that its fonts do not tell the characters of: there are no runs, but it can be looked at. */
  readonly unreadable?: boolean
}

/** Why a PDF cannot be read: crosses from the worker to the program. */
export interface PdfFault {
  readonly reason: "Encrypted" | "Malformed" | "UnsupportedFormat" | "Empty" | "NotFound" | "Internal"
  readonly message: string
}

/** Where it is in its text's upright frame. */
export const boxOf = ({ x0, x1, y0, y1 }: Run): Box => [x0, y0, x1, y1]

/** Characters of runs. */
export const lengthOf = (runs: ReadonlyArray<Run>): number =>
  runs.reduce((sum, { text }) => sum + text.length, 0)

/** From a page's frame to the frame in which a text so turned is upright. */
export const upright = (box: Box, turn: Turn, width: number, height: number): Box => {
  const [x0, y0, x1, y1] = box
  if (turn === 1) return [height - y1, x0, height - y0, x1]
  if (turn === 2) return [width - x1, height - y1, width - x0, height - y0]
  if (turn === 3) return [y0, width - x1, y1, width - x0]
  return box
}

const CJK = /[\u2E80-\u9FFF\uF900-\uFAFF\uFF00-\uFFEF]/

/** What stands between two pieces of a line or paragraph: nothing between Chinese or Japanese characters, else a blank. */
export const glue = (before: string, after: string): "" | " " =>
  CJK.test(before.slice(-1)) && CJK.test(after.slice(0, 1)) ? "" : " "
