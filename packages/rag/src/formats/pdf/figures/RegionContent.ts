/** The contents of a region: how much they look like a figure or table, and notes and text at the end that are not part of it. */
import type { Box } from "../../../document/Document.ts"
import { area, height, hull, middleY, width } from "../page/Box.ts"
import type { Graphic } from "../page/Run.ts"
import type { Caption } from "./Captions.ts"
import { type Segment } from "./UprightPage.ts"
import { Tolerances } from "./Tolerances.ts"

const { content, notes } = Tolerances

/** An item of a page: a drawing, a text, or a text in another direction. */
export interface Item {
  readonly box: Box
  readonly graphic?: Graphic
  readonly segment?: Segment
}

/** Scores how much items look like the figure or table of a caption, 0 to 1. */
export const contentOf = (caption: Caption, items: ReadonlyArray<Item>, box: Box): number => {
  if (width(box) < content.minWidth || height(box) < content.minHeight) return 0
  const drawn = items.flatMap(({ graphic }) => graphic ?? [])
  const texts = items.flatMap(({ segment }) => segment ?? [])
  const pictures = drawn.filter(({ shape }) => shape !== "horizontal" && shape !== "vertical")
  const covered = pictures.reduce((sum, { box: own }) => sum + area(own), 0) / area(box)
  const rows = Map.groupBy(texts, ({ box: own }) => Math.round(own[1] / content.rowStep))
  const grid = [...rows.values()].filter((cells) => cells.length > 1).length
  const rules = drawn.filter(
    ({ box: own, shape }) => shape === "horizontal" && width(own) > 0.5 * width(box)
  ).length
  if (caption.kind === "table") {
    if (rules >= content.minRules || grid >= content.minGridRows) return 1
    return drawn.some(({ kind }) => kind === "image")
      ? content.tableImage
      : texts.length > 1
        ? content.tableText
        : content.nothing
  }
  if (covered > content.coveredShare || drawn.length >= content.manyDrawings) return 1
  if (drawn.length >= content.fewDrawings) return content.someDrawings
  return texts.length === 0
    ? content.nothing
    : texts.length > content.someTexts
      ? content.labels
      : content.hardlyText
}

const NOTE =
  /^(?:[*†‡§¶]+\s?\p{L}|(?:notes?|sources?|remarks?|legend|data|quellen?|anmerkung(?:en)?|nota|fuente|remarques?)\s?[:.]|(?:注|註|资料来源|資料來源|数据来源|来源|출처|출典)\s?[:：])/iu

/** Whether a text is a note or source. */
export const isNote = (text: string): boolean => NOTE.test(text)

/**
 * Removes running text below the drawings of a region, except a title directly below them. Code and small print are
 * kept.
 */
export const withoutTextBeyond = (items: ReadonlyArray<Item>, size: number): ReadonlyArray<Item> => {
  const drawn = items.flatMap(({ box, graphic }) => (graphic === undefined ? [] : [box]))
  if (drawn.length === 0) return items
  const drawing = hull(drawn)
  const all = hull(items.map(({ box }) => box))
  const end = drawing[3]
  const [wide, high] = notes.drawnShare
  const mostlyDrawn = width(drawing) >= wide * width(all) && height(drawing) >= high * height(all)
  if (!mostlyDrawn || all[3] - end <= notes.maxBeyond * size) return items
  const isOwn = ({ box }: Item): boolean => middleY(box) <= end || box[1] - end < notes.titleGap * size
  const beyond = items.filter((item) => !isOwn(item))
  const isText = ({ segment }: Item): boolean =>
    segment !== undefined && !segment.mono && segment.size > notes.smallPrint * size
  return beyond.every(isText) ? items.filter(isOwn) : items
}

/** Removes the topmost note at the end of a region and all text below it. */
export const withoutNotes = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const tops = items.flatMap(({ segment }) => (segment && isNote(segment.text) ? [segment.box[1]] : []))
  const end = Math.max(...items.flatMap(({ graphic }) => (graphic ? [graphic.box[3]] : [])))
  const top = Math.min(...tops.filter((y) => y > end - notes.noteOverlap))
  if (top === Infinity) return items
  const kept = items.filter(
    ({ graphic, segment }) => ((segment ?? graphic)?.box[1] ?? -Infinity) < top - notes.aboveNote
  )
  return kept.length < notes.minItems ? items : kept
}
