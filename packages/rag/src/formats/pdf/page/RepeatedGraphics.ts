/** Drawings that stand at the same place of many pages: lines under headers, logos, frames. */
import type { RawPage } from "./Run.ts"

/** On this many pages, and this share of them. */
const PAGES = 3
const SHARE = 0.3
/** At the edges of a page fewer are enough. */
const EDGE = 0.12

/** Pages without the drawings that repeat. */
export const withoutRepeated = (pages: ReadonlyArray<RawPage>): ReadonlyArray<RawPage> => {
  const keyOf = (box: readonly number[], kind: string): string =>
    `${kind} ${box.map((value) => Math.round(value / 2)).join(" ")}`
  const seen = new Map<string, number>()
  for (const { graphics } of pages) {
    for (const key of new Set(graphics.map(({ box, kind }) => keyOf(box, kind))))
      seen.set(key, (seen.get(key) ?? 0) + 1)
  }
  return pages.map((page) => ({
    ...page,
    graphics: page.graphics.filter(({ box, kind }) => {
      const times = seen.get(keyOf(box, kind))!
      if (times < 2) return true
      const atEdge = box[3] < EDGE * page.height || box[1] > (1 - EDGE) * page.height
      return times < Math.max(PAGES, (atEdge ? 0.1 : SHARE) * pages.length)
    })
  }))
}
