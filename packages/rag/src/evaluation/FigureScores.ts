/** Compares figures that were found with those that people marked: pure functions. */
import type { Box } from "../document/Document.ts"
import { area, sharedArea } from "../formats/pdf/page/Box.ts"

/** A figure or a table on a page. `number` is as the caption has it, if any. */
export interface MarkedFigure {
  readonly document: string
  /** From 1. */
  readonly page: number
  readonly kind: "figure" | "table"
  readonly number?: string | undefined
  /** The graphic without its caption, in PDF points, y from the top of the page. */
  readonly box: Box
}

export interface FoundFigure extends MarkedFigure {
  readonly captioned: boolean
}

/** A difference from the marks. `found` is the figure with the largest overlap, if any. */
export interface FigureMiss extends MarkedFigure {
  /** Not found; found without a mark; or found with another kind or number. */
  readonly what: "missed" | "unexpected" | "misread"
  readonly iou: number
  readonly found?: FoundFigure | undefined
}

/** Shares, 0 to 1. */
export interface FigureScores {
  readonly precision: number
  readonly recall: number
  /** Hits with the kind and number of the mark. */
  readonly numberAndKindRight: number
  /** The mean over the hits. */
  readonly meanIoU: number
  /** Hits with a caption. */
  readonly captionRate: number
  readonly misses: ReadonlyArray<FigureMiss>
}

/** The least intersection over union of a hit and its mark. */
export const HIT_IOU = 0.7

/** Intersection over union of two boxes, 0 to 1. */
export const iou = (a: Box, b: Box): number => {
  const shared = sharedArea(a, b)
  const all = area(a) + area(b) - shared
  return all === 0 ? 0 : shared / all
}

const share = (count: number, of: number): number => (of === 0 ? 0 : count / of)

/**
 * Pairs marks and found figures by the largest overlap, each at most once.
 *
 * **Details.** A table that is found for a marked figure is a hit of the wrong kind. Figures found on pages without marks
 * do not count. If nothing is found, precision is 0.
 */
export const scoreFigures = (
  marks: ReadonlyArray<MarkedFigure>,
  finds: ReadonlyArray<FoundFigure>
): FigureScores => {
  const place = ({ document, page }: MarkedFigure) => `${page} ${document}`
  const pages = new Set(marks.map(place))
  const counted = finds.filter((find) => pages.has(place(find)))
  const pairs = marks
    .flatMap((mark) =>
      counted
        .filter((find) => place(find) === place(mark))
        .map((find) => ({ mark, find, overlap: iou(mark.box, find.box) }))
    )
    .toSorted((a, b) => b.overlap - a.overlap)
  const taken = new Set<MarkedFigure>()
  const hits = pairs.filter(({ find, mark, overlap }) => {
    if (overlap < HIT_IOU || taken.has(mark) || taken.has(find)) return false
    taken.add(mark).add(find)
    return true
  })
  const overlaps = hits.reduce((sum, { overlap }) => sum + overlap, 0)
  const right = ({ find, mark }: (typeof hits)[number]) =>
    find.kind === mark.kind && (find.number ?? "") === (mark.number ?? "")
  const miss = (what: FigureMiss["what"], figure: MarkedFigure, side: "mark" | "find"): FigureMiss => {
    const near = pairs.find((pair) => pair[side] === figure && pair.overlap > 0)
    const { box, document, kind, number, page } = figure
    const found = side === "mark" ? near?.find : undefined
    return { what, document, page, kind, number, box, iou: near?.overlap ?? 0, found }
  }
  return {
    precision: share(hits.length, counted.length),
    recall: share(hits.length, marks.length),
    numberAndKindRight: share(hits.filter(right).length, hits.length),
    meanIoU: share(overlaps, hits.length),
    captionRate: share(hits.filter(({ find }) => find.captioned).length, hits.length),
    misses: [
      ...marks.filter((mark) => !taken.has(mark)).map((mark) => miss("missed", mark, "mark")),
      ...counted.filter((find) => !taken.has(find)).map((find) => miss("unexpected", find, "find")),
      ...hits
        .filter((hit) => !right(hit))
        .map(({ find, mark, overlap }): FigureMiss => ({
          ...miss("misread", mark, "mark"),
          iou: overlap,
          found: find
        }))
    ]
  }
}
