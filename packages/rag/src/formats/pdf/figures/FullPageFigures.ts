/** Figures that fill a page and have their caption on the next or the previous page. */
import { area, height, hull, width } from "../page/Box.ts"
import { lengthOf, type RawPage } from "../page/Run.ts"
import type { Caption } from "./Captions.ts"
import { clipToPage, figureOn, type PdfFigure, runsWithin } from "./PdfFigure.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.fullPage

/** A caption without a region on its own page, and whether it is the only one there. */
export interface Unplaced {
  readonly page: number
  readonly caption: Caption
  readonly only: boolean
}

/** The box of the drawing that fills a page; undefined for other pages. */
const fillOf = (page: RawPage | undefined): PdfFigure["box"] | undefined => {
  if (page === undefined || page.failed || page.unreadable === true) return undefined
  const paper = page.width * page.height
  const drawn = page.graphics
    .map(({ box }) => box)
    .filter(
      (box) =>
        area(box) <= Tolerances.frames.paperShare * paper &&
        Math.max(width(box), height(box)) > limits.minSide
    )
  if (drawn.length === 0) return undefined
  const box = clipToPage(hull(drawn), page)
  if (area(box) < limits.minShare * paper) return undefined
  const inside = new Set(runsWithin(box, page, []))
  const beside = page.runs.filter((run) => !inside.has(run))
  return lengthOf(beside) > limits.maxOtherCharacters ? undefined : box
}

/** The page of a caption's figure: the previous one for a caption at the top, the next one for a caption at the bottom. */
const neighbourOf = ({ caption, only, page }: Unplaced, own: RawPage): number | undefined => {
  if (!only || caption.number === undefined) return undefined
  const written = new Set(caption.segments.flatMap(({ runs }) => runs))
  const [, top, , bottom] = caption.box
  const rest = own.runs.filter((run) => !written.has(run))
  if (rest.every((run) => run.box[1] > bottom - limits.edgeSlack)) return page - 1
  return rest.every((run) => run.box[3] < top + limits.edgeSlack) ? page + 1 : undefined
}

/** Finds full-page figures for captions without a region on their own page. Several full pages in a row are plates and are skipped. */
export const fullPageFigures = (
  unplaced: ReadonlyArray<Unplaced>,
  pages: ReadonlyArray<RawPage>,
  found: ReadonlyArray<PdfFigure>
): ReadonlyArray<PdfFigure> => {
  const byNumber = new Map(pages.map((page) => [page.number, page]))
  const used = new Set(found.map(({ page }) => page))
  return unplaced.flatMap((one) => {
    const { caption, page } = one
    const at = neighbourOf(one, byNumber.get(page)!)
    const beyond = at === undefined ? undefined : byNumber.get(2 * at - page)
    const other = byNumber.get(at ?? 0)
    const box = fillOf(other)
    if (other === undefined || box === undefined || used.has(other.number) || fillOf(beyond) !== undefined)
      return []
    used.add(other.number)
    const { kind, number, segments } = caption
    const written = segments.flatMap(({ runs }) => runs)
    return [figureOn(other, box, { kind, number, caption: written, captionPage: page, turn: 0 })]
  })
}
