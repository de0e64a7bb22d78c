/** Text at the end of a region that is no part of the figure or table: notes and sources, and what precedes it. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, width } from "../page/Box.ts"
import type { Item } from "./Content.ts"

const NOTE =
  /^(?:[*†‡§¶]+\s?\p{L}|(?:notes?|sources?|remarks?|legend|data|quellen?|anmerkung(?:en)?|nota|fuente|remarques?)\s?[:.]|(?:注|註|资料来源|資料來源|数据来源|来源|출처|출典)\s?[:：])/iu

/** Whether a text is a note or source. */
export const isNote = (text: string): boolean => NOTE.test(text)

/** Text reaches at most this far beyond what is drawn, its nearest line this far; font sizes. */
const BEYOND = 3
const TITLE = 0.6
/** Smaller text than this share of the running text's size is small print. */
const SMALL = 0.97
/** … where drawings have these shares of the region's width and height. */
const DRAWN = [0.5, 0.4] as const

/**
 * A region that grows downwards without the rows of running text that stand beyond its drawings, which are more than a
 * title of theirs. Code and small print beyond them are of the figure.
 */
export const withoutTextBeyond = (items: ReadonlyArray<Item>, size: number): ReadonlyArray<Item> => {
  const drawn = items.flatMap(({ box, graphic }) => (graphic === undefined ? [] : [box]))
  if (drawn.length === 0) return items
  const drawing = hull(drawn)
  const all = hull(items.map(({ box }) => box))
  const end = drawing[3]
  const [wide, high] = DRAWN
  const mostlyDrawn = width(drawing) >= wide * width(all) && height(drawing) >= high * height(all)
  if (!mostlyDrawn || all[3] - end <= BEYOND * size) return items
  const isOwn = ({ box }: Item): boolean => (box[1] + box[3]) / 2 <= end || box[1] - end < TITLE * size
  const beyond = items.filter((item) => !isOwn(item))
  const isText = ({ segment }: Item): boolean =>
    segment !== undefined && !segment.mono && segment.size > SMALL * size
  return beyond.every(isText) ? items.filter(isOwn) : items
}

/** From the topmost note on, where only text follows it down to the end. */
export const withoutNotes = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const placeOf = ({ graphic, segment }: Item): Box | undefined => segment?.box ?? graphic?.box
  const notes = items.flatMap(({ segment }) =>
    segment !== undefined && isNote(segment.text) ? [segment.box[1]] : []
  )
  const drawn = items.flatMap(({ graphic }) => (graphic === undefined ? [] : [graphic.box[3]]))
  const end = drawn.length === 0 ? -Infinity : Math.max(...drawn)
  const top = Math.min(...notes.filter((y) => y > end - 3))
  if (top === Infinity) return items
  const kept = items.filter((item) => (placeOf(item)?.[1] ?? -Infinity) < top - 1)
  return kept.length < 2 ? items : kept
}
