/** A figure or table as it stands on its page. */
import type { Box } from "../../../document/Document.ts"
import { centre, contains } from "../page/Box.ts"
import { type RawPage, type Run, type Turn, upright } from "../page/Run.ts"
import type { TableRow } from "./TableRows.ts"
import { Tolerances } from "./Tolerances.ts"

export interface PdfFigure {
  readonly page: number
  readonly kind: "figure" | "table"
  /** Undefined where no caption says one. */
  readonly number: string | undefined
  /** The graphic without its caption, as the page is shown. */
  readonly box: Box
  /** Holds its place in the reading order: the first words of its caption, or nothing that is written. */
  readonly anchor: Run
  readonly caption: ReadonlyArray<Run>
  /** Where the caption stands, if that is another page. */
  readonly captionPage?: number
  /** What is written inside. */
  readonly inside: ReadonlyArray<Run>
  readonly turn: Turn
  /** What the file says that stands for its pictures. */
  readonly alternative?: string
  /** The rows that the file says it has, and the runs that they hold. */
  readonly tagged?: { readonly rows: ReadonlyArray<TableRow>; readonly runs: ReadonlySet<Run> }
}

/** What of a box is on the page. */
export const clipToPage = (
  [x0, y0, x1, y1]: Box,
  { height, width }: Pick<RawPage, "height" | "width">
): Box => [Math.max(0, x0), Math.max(0, y0), Math.min(width, x1), Math.min(height, y1)]

/** What is written in a box and is not of the caption. */
export const runsWithin = (
  box: Box,
  { runs }: Pick<RawPage, "runs">,
  caption: ReadonlyArray<Run>
): ReadonlyArray<Run> => {
  const own = new Set(caption)
  return runs.filter((run) => !own.has(run) && contains(box, ...centre(run.box)))
}

/** A run without words where a figure begins. */
export const anchorOf = (box: Box, turn: Turn, page: RawPage): Run => {
  const [x0, y0, x1] = upright(box, turn, page.width, page.height)
  return {
    text: "",
    x0,
    y0,
    x1,
    y1: y0 + Tolerances.segments.anchorHeight,
    box,
    size: Tolerances.segments.anchorHeight,
    bold: false,
    mono: false,
    turn
  }
}
