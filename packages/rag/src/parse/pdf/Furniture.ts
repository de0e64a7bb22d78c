/** Running headers, footers and page numbers: what repeats at the edges of pages and is no part of the text. */
import type { RawPage, Run } from "./Run.ts"

/** The upper and lower share of a page in which headers and footers stand. */
const EDGE = 0.12
/** What stands at the edge of this many pages is furniture; of fewer when they are all there are, but at least two. */
const REPEATS = 3
/** Headers and footers have at most this many lines. */
const ROWS = 3
/** The same place: headers of two pages may be this many points apart. */
const SAME_PLACE = 6

const middle = (run: Run): number => (run.box[1] + run.box[3]) / 2

/** Page numbers differ; where they stand does not. */
const keyOf = (run: Run): string =>
  `${Math.round(middle(run) / SAME_PLACE)} ${run.text.replace(/\d+|\b[ivxlc]+\b/g, "#").replace(/\s+/g, " ")}`

/** The runs of the first and of the last row of a page, as far as they stand at its edges. */
const outermost = (page: RawPage, runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  const level = runs.filter(({ turn }) => turn === 0)
  if (level.length === 0) return []
  const top = level.reduce((best, run) => (middle(run) < middle(best) ? run : best))
  const bottom = level.reduce((best, run) => (middle(run) > middle(best) ? run : best))
  return level.filter((run) => {
    const at = middle(run)
    if (at < page.height * EDGE) return at <= top.box[3]
    return at > page.height * (1 - EDGE) && at >= bottom.box[1]
  })
}

/** Pages without what repeats at their edges. */
export const withoutFurniture = (pages: ReadonlyArray<RawPage>): ReadonlyArray<RawPage> => {
  const enough = Math.max(2, Math.min(REPEATS, pages.length))
  let rest = pages
  for (let row = 0; row < ROWS; row++) {
    const edges = rest.map((page) => outermost(page, page.runs))
    const seen = new Map<string, number>()
    for (const runs of edges) {
      for (const key of new Set(runs.map(keyOf))) seen.set(key, (seen.get(key) ?? 0) + 1)
    }
    const dropped = new Set(edges.flat().filter((run) => (seen.get(keyOf(run)) ?? 0) >= enough))
    if (dropped.size === 0) break
    rest = rest.map((page) => ({ ...page, runs: page.runs.filter((run) => !dropped.has(run)) }))
  }
  return rest
}
