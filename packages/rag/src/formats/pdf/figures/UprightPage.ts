/** A page turned so that the text of one direction is upright. Figures are searched for in it. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, width } from "../page/Box.ts"
import { textOfRow, toRows } from "../page/Rows.ts"
import { boxOf, type Graphic, isMostly, type RawPage, type Run, type Turn, upright } from "../page/Run.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.segments

/** Text on one line without a wide gap. */
export interface Segment {
  readonly text: string
  readonly box: Box
  readonly size: number
  readonly bold: boolean
  readonly mono: boolean
  readonly runs: ReadonlyArray<Run>
}

export interface UprightPage {
  readonly page: number
  readonly turn: Turn
  readonly width: number
  readonly height: number
  readonly segments: ReadonlyArray<Segment>
  readonly graphics: ReadonlyArray<Graphic>
  /** Boxes of text in other directions: labels of axes. */
  readonly turned: ReadonlyArray<Box>
}

const LABEL = /^(?:fig(?:ure|\.)?|table|abb(?:ildung|\.)|tabelle|图|表)$/iu
const MARK = /^(?:[•◦▪‣·●○■□➢✓–—*-]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]|\[\d{1,3}\]|\d{1,2})$/u

/** The `most` items with the largest weights, in their original order. */
const largest = <A>(items: ReadonlyArray<A>, most: number, weigh: (item: A) => number): ReadonlyArray<A> => {
  if (items.length <= most) return items
  const weights = new Map(items.map((item) => [item, weigh(item)]))
  const kept = new Set(items.toSorted((a, b) => weights.get(b)! - weights.get(a)!).slice(0, most))
  return items.filter((item) => kept.has(item))
}

/** Joins runs that follow each other on a line. */
const toSegments = (
  runs: ReadonlyArray<Run>,
  startsCaption: (text: string) => boolean
): ReadonlyArray<Segment> => {
  const segments: Array<Segment> = []
  for (const row of toRows(runs)) {
    let open: Array<Run> = []
    let right = -Infinity
    for (const run of row) {
      const gap = run.x0 - right
      const size = Math.max(run.size, open.at(-1)?.size ?? 0)
      const mark = open.length === 1 && MARK.test(open[0]!.text) && gap < limits.markGap * size && gap > 0
      // "Figure        3" in a justified line
      const label = open.length === 1 && LABEL.test(open[0]!.text) && /^[\dA-Z]/.test(run.text)
      const isSeparate =
        gap > (label ? limits.labelGap : limits.gap) * size || (gap > 0.5 * size && startsCaption(run.text))
      if (open.length > 0 && isSeparate && !mark) {
        segments.push(toSegment(open))
        open = []
      }
      open.push(run)
      right = open.length === 1 ? run.x1 : Math.max(right, run.x1)
    }
    if (open.length > 0) segments.push(toSegment(open))
  }
  return segments.toSorted((a, b) => a.box[1] - b.box[1] || a.box[0] - b.box[0])
}

const toSegment = (runs: ReadonlyArray<Run>): Segment => ({
  text: textOfRow(runs),
  box: hull(runs.map(boxOf)),
  size: runs.reduce((main, run) => (run.text.length > main.text.length ? run : main)).size,
  bold: isMostly(runs, "bold", limits.boldShare),
  mono: isMostly(runs, "mono", limits.monoShare),
  runs
})

const TURNED_SHAPES = new Map<Graphic["shape"], Graphic["shape"]>([
  ["horizontal", "vertical"],
  ["vertical", "horizontal"]
])

/** The page with the text of direction `turn` upright. */
export const toUprightPage = (
  page: RawPage,
  turn: Turn,
  startsCaption: (text: string) => boolean
): UprightPage => {
  const own = page.runs.filter((run) => run.turn === turn)
  const others = page.runs.filter((run) => run.turn !== turn)
  const side = turn % 2 === 1
  const flip = (graphic: Graphic): Graphic => ({
    ...graphic,
    box: upright(graphic.box, turn, page.width, page.height),
    shape: (side ? TURNED_SHAPES.get(graphic.shape) : undefined) ?? graphic.shape
  })
  const graphics = largest(page.graphics, limits.maxGraphics, ({ box }) => width(box) + height(box))
  return {
    page: page.number,
    turn,
    width: side ? page.height : page.width,
    height: side ? page.width : page.height,
    segments: largest(toSegments(own, startsCaption), limits.maxSegments, ({ text }) => text.length),
    graphics: turn === 0 ? graphics : graphics.map(flip),
    turned: others.slice(0, limits.maxSegments).map(({ box }) => upright(box, turn, page.width, page.height))
  }
}

/** Turns a box of an upright page back to the page as shown, which is `width` × `height`. */
export const onPage = (
  box: Box,
  { height: h, turn, width: w }: { readonly turn: Turn; readonly width: number; readonly height: number }
): Box => upright(box, ((4 - turn) % 4) as Turn, turn % 2 === 1 ? h : w, turn % 2 === 1 ? w : h)
