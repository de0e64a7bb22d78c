/** The lines of tables. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, width } from "../page/Box.ts"
import type { Graphic } from "../page/Run.ts"

/** More lines than this are a drawing. */
const MOST = 2000

/** The edges of a rectangle that is a cell: where one is drawn, it parts rows as a line does. */
const edges = ({ box, shape }: Graphic): ReadonlyArray<Box> => {
  if (shape === "horizontal") return [box]
  if ((shape !== "frame" && shape !== "filled") || width(box) < 8 || height(box) < 4) return []
  return [
    [box[0], box[1], box[2], box[1]],
    [box[0], box[3], box[2], box[3]]
  ]
}

/** Horizontal lines, those that continue each other as one; from top to bottom. `cells` counts the edges of rectangles too. */
export const rulesOf = (graphics: ReadonlyArray<Graphic>, cells = false): ReadonlyArray<Box> => {
  const sorted = graphics
    .flatMap((graphic) => (cells || graphic.shape === "horizontal" ? edges(graphic) : []))
    .toSorted((a, b) => a[1] - b[1] || a[0] - b[0])
    .slice(0, MOST)
  const rules: Array<Box> = []
  for (const box of sorted) {
    const at = rules.findLastIndex(
      (rule) => Math.abs(rule[1] - box[1]) < 1.5 && box[0] - rule[2] < 4 && rule[0] - box[2] < 4
    )
    if (at === -1) rules.push(box)
    else rules[at] = hull([rules[at]!, box])
  }
  return rules
}
