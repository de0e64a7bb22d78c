/** Running headers, footers and page numbers: what repeats at the edges of pages and is no part of the text. */
import type { TextLine } from "./Columns.ts"
import type { RawPage } from "./Run.ts"

/** The upper and lower share of a page in which headers and footers stand. */
const EDGE = 0.12
/** A line at the edge of this many pages is furniture; fewer do when they are all there are, but at least two. */
const REPEATS = 3

const keyOf = (line: TextLine, page: RawPage): string | undefined => {
  const middle = (line.box[1] + line.box[3]) / 2 / page.height
  if (line.turn !== 0 || (middle > EDGE && middle < 1 - EDGE)) return undefined
  // Page numbers differ; where they stand does not
  const text = line.text.replace(/\d+|\b[ivxlc]+\b/g, "#").replace(/\s+/g, " ")
  return `${middle < 0.5 ? "top" : "bottom"} ${text}`
}

/** Lines of each page without those that repeat at the edges of pages. */
export const withoutFurniture = (
  pages: ReadonlyArray<RawPage>,
  lines: ReadonlyArray<ReadonlyArray<TextLine>>
): ReadonlyArray<ReadonlyArray<TextLine>> => {
  const seen = new Map<string, number>()
  pages.forEach((page, index) => {
    for (const key of new Set(lines[index]!.map((line) => keyOf(line, page)))) {
      if (key !== undefined) seen.set(key, (seen.get(key) ?? 0) + 1)
    }
  })
  const enough = Math.max(2, Math.min(REPEATS, pages.length))
  return pages.map((page, index) =>
    lines[index]!.filter((line) => {
      const key = keyOf(line, page)
      return key === undefined || (seen.get(key) ?? 0) < enough
    })
  )
}
