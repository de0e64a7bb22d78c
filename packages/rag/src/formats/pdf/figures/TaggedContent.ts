/** Joins the figures and tables of a tagged PDF with those found by captions. */
import type { Box } from "../../../document/Document.ts"
import { centre, contains, union } from "../page/Box.ts"
import { byTurn, lengthOf, type RawPage, type Run } from "../page/Run.ts"
import { overlap } from "./Assignment.ts"
import { captionStart } from "../../parsing/CaptionStart.ts"
import { clipToPage, figureOn, type PdfFigure, runsWithin } from "./PdfFigure.ts"
import { runsByPart, type TaggedTable, taggedTables } from "./TaggedTables.ts"
import { taggedFigures } from "./TaggedFigures.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.tagged

/** A found table with the rows of a tagged one; undefined if they are different tables. */
const withRows = (
  found: PdfFigure,
  { box, rows, runs, turn }: TaggedTable,
  page: RawPage
): PdfFigure | undefined => {
  const cells = new Set(runs)
  if (found.kind !== "table" || found.turn !== turn || found.caption.some((run) => cells.has(run)))
    return undefined
  const both = lengthOf(found.inside.filter((run) => cells.has(run)))
  if (both < limits.sameTable * lengthOf(found.inside)) return undefined
  // Only a part of the table was found
  const rest = both < limits.sameTable * lengthOf(runs)
  const own = rest ? clipToPage(union(found.box, box), page) : found.box
  const inside = new Set([...runsWithin(own, page, found.caption), ...runs])
  return { ...found, box: own, inside: [...inside], tagged: { rows, runs: cells } }
}

const onPageOf = (found: ReadonlyArray<PdfFigure>, page: RawPage): ReadonlyArray<PdfFigure> => {
  const parts = runsByPart(page)
  const all = [...found]
  const free: Array<PdfFigure> = []
  const captions = new Set(found.flatMap((one) => one.caption))
  const add = (
    kind: PdfFigure["kind"],
    box: Box,
    tagged: ReadonlyArray<Run>,
    rest: Partial<PdfFigure> & Pick<PdfFigure, "turn">
  ): void => {
    // A caption belongs to one figure only
    const caption = tagged.some((run) => captions.has(run)) ? [] : tagged
    const start = captionStart(caption.map(({ text }) => text).join(" "))
    free.push(figureOn(page, box, { kind, number: start?.number, caption, ...rest }))
  }
  for (const table of taggedTables(page, parts)) {
    const rivals = all.filter(({ box }) => overlap(box, table.box) > limits.maxOverlap)
    const at = all.indexOf(rivals[0]!)
    const joined = rivals.length === 1 ? withRows(rivals[0]!, table, page) : undefined
    if (joined !== undefined) all[at] = joined
    else if (rivals.length === 0 && free.every(({ box }) => overlap(box, table.box) <= limits.maxOverlap)) {
      const { box, caption, rows, runs, turn } = table
      add("table", box, caption, { turn, tagged: { rows, runs: new Set(runs) } })
    }
  }
  const turn = byTurn(page.runs)[0]?.[0]?.turn ?? 0
  const figures = taggedFigures(page, parts).slice(0, limits.maxFigures)
  for (const { alternative, box, caption, isSufficient } of figures) {
    if (
      !isSufficient ||
      all.some((one) => overlap(one.box, box) > 0) ||
      free.some((one) => overlap(one.box, box) > limits.maxOverlap)
    )
      continue
    add("figure", box, caption, alternative === "" ? { turn } : { turn, alternative })
  }
  const described = all.map((one) => {
    const own = figures.filter(
      ({ alternative, box }) => alternative !== "" && contains(one.box, ...centre(box))
    )
    const alternative = [...new Set(own.map((figure) => figure.alternative))].join(" ")
    return alternative === "" ? one : { ...one, alternative }
  })
  return [...described, ...free]
}

/**
 * Adds the rows of tagged tables and the alternative texts of tagged figures to the figures found by captions, then the
 * tagged tables and figures that were not found.
 *
 * **Details.** Tags are often wrong. A tagged table counts if its rows and columns are placed as tagged and no other
 * text is among them; a tagged figure counts if something is drawn. Figures found by captions are never replaced.
 */
export const withTaggedContent = (
  found: ReadonlyArray<PdfFigure>,
  pages: ReadonlyArray<RawPage>
): ReadonlyArray<PdfFigure> => {
  if (pages.every(({ tags }) => tags === undefined)) return found
  const all = pages.flatMap((page) => {
    const own = found.filter((figure) => figure.page === page.number)
    return page.tags === undefined || page.unreadable === true ? own : onPageOf(own, page)
  })
  const keyOf = ({ alternative = "", box }: PdfFigure): string =>
    `${box.map((value) => Math.round(value / 2)).join(" ")} ${alternative}`
  const alike = Map.groupBy(all, keyOf)
  return all.filter((one) => one.caption.length > 0 || alike.get(keyOf(one))!.length < limits.minRepeats)
}
