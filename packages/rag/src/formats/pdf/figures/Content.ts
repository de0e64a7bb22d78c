/** How much a region looks like a figure, or a table. */
import type { Box } from "../../../document/Document.ts"
import { area, height, width } from "../page/Box.ts"
import type { Graphic } from "../page/Run.ts"
import type { Caption } from "./Captions.ts"
import { type Segment } from "./Frame.ts"

/** Something of a page that a region may take: a drawing, a text, or a text in another direction. */
export interface Item {
  readonly box: Box
  readonly graphic?: Graphic
  readonly segment?: Segment
}

/** How much these things look like what the caption announces: 0 to 1. */
export const contentOf = (caption: Caption, items: ReadonlyArray<Item>, box: Box): number => {
  if (width(box) < 20 || height(box) < 8) return 0
  const drawn = items.flatMap(({ graphic }) => graphic ?? [])
  const texts = items.flatMap(({ segment }) => segment ?? [])
  const pictures = drawn.filter(
    ({ box: own, kind, shape }) =>
      kind !== "path" ||
      ((shape === "frame" || shape === "filled") && area(own) > 400) ||
      (shape === "other" && area(own) > 300)
  )
  const covered =
    pictures.length === 0
      ? 0
      : Math.min(1, pictures.reduce((sum, { box: own }) => sum + area(own), 0) / area(box))
  const rows = new Map<number, number>()
  for (const { box: own } of texts) {
    const row = Math.round(own[1] / 5)
    rows.set(row, (rows.get(row) ?? 0) + 1)
  }
  const grid = [...rows.values()].filter((cells) => cells > 1).length
  const rules = drawn.filter(
    ({ box: own, shape }) => shape === "horizontal" && width(own) > 0.5 * width(box)
  ).length
  if (caption.kind === "table") {
    if (rules >= 2 || grid >= 2) return 1
    return drawn.some(({ kind }) => kind === "image") ? 0.8 : texts.length > 1 ? 0.35 : 0.1
  }
  if (covered > 0.15 || drawn.length >= 8) return 1
  if (drawn.length >= 2) return 0.8
  return texts.length === 0
    ? 0.1
    : texts.filter(({ mono }) => mono).length > texts.length / 2
      ? 0.7
      : texts.length > 2
        ? 0.45
        : 0.15
}
