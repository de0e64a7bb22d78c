/** Notes and sources below a figure or table: said of it, no part of it. */
import type { Box } from "../Document.ts"
import type { Item } from "./Content.ts"

const NOTE =
  /^(?:[*†‡§¶]+\s?\p{L}|(?:notes?|sources?|remarks?|legend|data|quellen?|anmerkung(?:en)?|nota|fuente|remarques?)\s?[:.]|(?:注|註|资料来源|資料來源|数据来源|来源|출처|출典)\s?[:：])/iu

/** From the topmost note on, where only text follows it down to the end. */
export const withoutNotes = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const placeOf = ({ graphic, segment }: Item): Box | undefined => segment?.box ?? graphic?.box
  const notes = items.flatMap(({ segment }) =>
    segment !== undefined && NOTE.test(segment.text) ? [segment.box[1]] : []
  )
  const drawn = items.flatMap(({ graphic }) => (graphic === undefined ? [] : [graphic.box[3]]))
  const end = drawn.length === 0 ? -Infinity : Math.max(...drawn)
  const top = Math.min(...notes.filter((y) => y > end - 3))
  if (top === Infinity) return items
  const kept = items.filter((item) => (placeOf(item)?.[1] ?? -Infinity) < top - 1)
  return kept.length < 2 ? items : kept
}
