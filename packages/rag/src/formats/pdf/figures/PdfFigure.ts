/** A figure or table of a PDF page. */
import type { Box } from "../../../document/Document.ts"
import { centre, contains } from "../page/Box.ts"
import { plainRun, type RawPage, type Run, type Turn, upright } from "../page/Run.ts"
import type { TableRow } from "./TableRows.ts"
import { Tolerances } from "./Tolerances.ts"

export interface PdfFigure {
  readonly page: number
  readonly kind: "figure" | "table"
  /** Undefined without a number in its caption. */
  readonly number: string | undefined
  /** The graphic without its caption, as the page is shown. */
  readonly box: Box
  /** Its position in the reading order: the first run of its caption, or an empty run. */
  readonly anchor: Run
  readonly caption: ReadonlyArray<Run>
  /** The text inside its box. */
  readonly inside: ReadonlyArray<Run>
  readonly turn: Turn
  /** The alternative text from the PDF's tags. */
  readonly alternative?: string
  /** The table rows from the PDF's tags, and the runs in them. */
  readonly tagged?: { readonly rows: ReadonlyArray<TableRow>; readonly runs: ReadonlySet<Run> }
}

/** Clips a box to its page. */
export const clipToPage = (
  [x0, y0, x1, y1]: Box,
  { height, width }: Pick<RawPage, "height" | "width">
): Box => [Math.max(0, x0), Math.max(0, y0), Math.min(width, x1), Math.min(height, y1)]

/** The runs in a box, without those of the caption. */
export const runsWithin = (
  box: Box,
  { runs }: Pick<RawPage, "runs">,
  caption: ReadonlyArray<Run>
): ReadonlyArray<Run> => {
  const own = new Set(caption)
  return runs.filter((run) => !own.has(run) && contains(box, ...centre(run.box)))
}

/** A figure of a page with the text in its box. Its anchor is the first run of its caption. */
export const figureOn = (
  page: RawPage,
  box: Box,
  rest: Omit<PdfFigure, "page" | "box" | "anchor" | "inside">
): PdfFigure => {
  const clipped = clipToPage(box, page)
  const anchor = rest.caption[0] ?? anchorOf(clipped, rest.turn, page)
  return { page: page.number, box: clipped, anchor, inside: runsWithin(box, page, rest.caption), ...rest }
}

/** An empty run at the top of a figure. */
const anchorOf = (box: Box, turn: Turn, page: RawPage): Run => {
  const [x0, y0, x1] = upright(box, turn, page.width, page.height)
  const size = Tolerances.segments.anchorHeight
  return plainRun("", [x0, y0, x1, y0 + size], { box, size, turn })
}
