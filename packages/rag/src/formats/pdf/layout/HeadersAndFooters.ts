/** Running headers, footers and page numbers: what repeats at the edges of pages and is no part of the text. */
import type { RawPage, Run } from "../page/Run.ts"

/** The upper and lower share of a page in which headers and footers stand. */
const EDGE = 0.12
/** What stands at the edge of this many pages is furniture; of fewer when they are all there are, but at least two. */
const REPEATS = 3
/** It is so on one of so many of these pages at least, from the first of them to the last; left and right pages differ. */
const ONE_OF = 3
/** Headers and footers have at most this many lines. */
const ROWS = 3
/** The same place: headers of two pages may be this many points apart. */
const SAME_PLACE = 6

const middle = (run: Run): number => (run.box[1] + run.box[3]) / 2

/**
 * A page's number: alone, set apart by a stroke or a dot, behind the word for a page, or before a number of pages. Of
 * "Invoice 1040" the number belongs to the text.
 */
const PAGE_NUMBER =
  /(^[\s([–—-]*|\s[|·•–—-]\s+|(?:^|[^\p{L}])(?:page|pag\.?|pg\.?|p\.|seite|s\.|página|strona|str\.|стр\.|sida|第)\s*)(\d{1,4}|[ivxlc]{1,7})(?=[\s)\]–—-]*$|\s+[|·•–—-]\s|\s*\/\s*\d+$|\s+(?:of|von|de|sur|di|z|av)\s+\d+$|\s*[页頁])/iu

const ROMAN: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100 }

const valueOf = (number: string): number => {
  if (/^\d/.test(number)) return Number(number)
  const values = Array.from(number.toLowerCase(), (letter) => ROMAN[letter] ?? 0)
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0)
}

/** Where it stands and what it says, as it is and without the page's number, if that goes by one from page to page. */
const keysOf = (run: Run, page: number): ReadonlyArray<string> => {
  const place = Math.round(middle(run) / SAME_PLACE)
  const text = run.text.replace(/\s+/g, " ")
  const found = PAGE_NUMBER.exec(text)
  if (found === null) return [`${place} ${text}`]
  const [, before = "", number = ""] = found
  const at = found.index + before.length
  const rest = `${text.slice(0, at)}#${text.slice(at + number.length)}`
  return [`${place} ${text}`, `${place} ${rest} ${valueOf(number) - page}`]
}

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
export const withoutHeadersAndFooters = (pages: ReadonlyArray<RawPage>): ReadonlyArray<RawPage> => {
  const enough = Math.max(2, Math.min(REPEATS, pages.length))
  const repeats = (on: ReadonlyArray<number>): boolean => {
    const [first = 0, last = 0] = [on[0], on.at(-1)]
    return on.length >= enough && on.length * ONE_OF > last - first
  }
  let rest = pages
  for (let row = 0; row < ROWS; row++) {
    const edges = rest.map((page) => outermost(page, page.runs))
    const seen = new Map<string, Array<number>>()
    for (const [page, runs] of edges.entries()) {
      for (const key of new Set(runs.flatMap((run) => keysOf(run, page)))) {
        const on = seen.get(key)
        if (on === undefined) seen.set(key, [page])
        else on.push(page)
      }
    }
    const isRepeated = (run: Run, page: number) =>
      keysOf(run, page).some((key) => repeats(seen.get(key) ?? []))
    const dropped = new Set(edges.flatMap((runs, page) => runs.filter((run) => isRepeated(run, page))))
    if (dropped.size === 0) break
    rest = rest.map((page) => ({ ...page, runs: page.runs.filter((run) => !dropped.has(run)) }))
  }
  return rest
}
