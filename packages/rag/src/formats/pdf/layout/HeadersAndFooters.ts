/** Removes headers, footers and page numbers: text that repeats at the edges of pages. */
import { middleY } from "../page/Box.ts"
import type { RawPage, Run } from "../page/Run.ts"

/** The upper and lower share of a page that has headers and footers. */
const EDGE = 0.12
/** Text at the edge of this many pages is a header or footer. In shorter documents: of all pages, at least two. */
const REPEATS = 3
/** It repeats on at least one of this many pages between its first and last one: left and right pages may differ. */
const ONE_OF = 3
/** Headers and footers have at most this many lines. */
const ROWS = 3
/** Headers of two pages at the same height differ by less than this many points. */
const SAME_PLACE = 6

/**
 * A page number: alone, after a dash or dot, after the word for page, or before the number of pages. The number in
 * "Invoice 1040" is not a page number.
 */
const PAGE_NUMBER =
  /(^[\s([–—-]*|\s[|·•–—-]\s+|(?:^|[^\p{L}])(?:page|pag\.?|pg\.?|p\.|seite|s\.|página|strona|str\.|стр\.|sida|第)\s*)(\d{1,4}|[ivxlc]{1,7})(?=[\s)\]–—-]*$|\s+[|·•–—-]\s|\s*\/\s*\d+$|\s+(?:of|von|de|sur|di|z|av)\s+\d+$|\s*[页頁])/iu

/**
 * Keys of a run by height and text: as it is, and with the page number replaced by its distance from the page's index. All Roman
 * numbers are alike.
 */
const keysOf = (run: Run, page: number): ReadonlyArray<string> => {
  const place = Math.round(middleY(run.box) / SAME_PLACE)
  const text = run.text.replace(/\s+/g, " ")
  const found = PAGE_NUMBER.exec(text)
  if (found === null) return [`${place} ${text}`]
  const [, before = "", number = ""] = found
  const at = found.index + before.length
  const rest = `${text.slice(0, at)}#${text.slice(at + number.length)}`
  return [`${place} ${text}`, `${place} ${rest} ${Number(number) - page}`]
}

/** The runs of the first and the last row of a page that are at its edges. */
const outermost = (page: RawPage, runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  const level = runs.filter(({ turn }) => turn === 0)
  if (level.length === 0) return []
  const top = level.reduce((best, run) => (middleY(run.box) < middleY(best.box) ? run : best))
  const bottom = level.reduce((best, run) => (middleY(run.box) > middleY(best.box) ? run : best))
  return level.filter((run) => {
    const at = middleY(run.box)
    if (at < page.height * EDGE) return at <= top.box[3]
    return at > page.height * (1 - EDGE) && at >= bottom.box[1]
  })
}

/** Removes headers and footers from pages. */
export const withoutHeadersAndFooters = (pages: ReadonlyArray<RawPage>): ReadonlyArray<RawPage> => {
  const enough = Math.max(2, Math.min(REPEATS, pages.length))
  const repeats = (on: ReadonlyArray<number>): boolean => {
    const [first = 0, last = 0] = [on[0], on.at(-1)]
    return on.length >= enough && on.length * ONE_OF > last - first
  }
  let rest = pages
  for (let row = 0; row < ROWS; row++) {
    const edges = rest.map((page) => outermost(page, page.runs))
    const keys = edges.flatMap((runs, page) =>
      Array.from(new Set(runs.flatMap((run) => keysOf(run, page))), (key) => ({ key, page }))
    )
    const seen = Map.groupBy(keys, ({ key }) => key)
    const isRepeated = (run: Run, page: number) =>
      keysOf(run, page).some((key) => repeats((seen.get(key) ?? []).map((one) => one.page)))
    const dropped = new Set(edges.flatMap((runs, page) => runs.filter((run) => isRepeated(run, page))))
    if (dropped.size === 0) break
    rest = rest.map((page) => ({ ...page, runs: page.runs.filter((run) => !dropped.has(run)) }))
  }
  return rest
}
