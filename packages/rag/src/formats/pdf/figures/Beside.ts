/** Figures beside their captions. */
import type { Box } from "../../../document/Document.ts"
import { area, centre, contains, hull, overlapX, overlapY, shared, width } from "../page/Box.ts"
import type { FigureRegion } from "./Assignment.ts"
import type { Caption } from "./Captions.ts"
import { contentOf } from "./Content.ts"
import { type Ground, PAPER } from "./Ground.ts"
import { tableRules } from "./Rows.ts"

/** A caption in the margin is at most this far from its figure, and parts of a figure are from each other; points. */
const DISTANCE = 200
const NEAR = 8

/** A caption in the margin beside its figure: the pictures and frames at its height. */
export const beside = (
  caption: Caption,
  side: "left" | "right",
  { captions, frame, graphics, obstacles }: Ground
): FigureRegion | undefined => {
  const { box } = caption
  const isAtHeight = (own: Box): boolean => shared(own[1], own[3], box[1] - 4, box[3] + 4) >= 0
  const isThere = (own: Box): boolean =>
    side === "right"
      ? own[0] >= box[2] - 2 && own[0] - box[2] < DISTANCE
      : own[2] <= box[0] + 2 && box[0] - own[2] < DISTANCE
  const drawn = graphics.filter(
    (one) => isThere(one.box) && area(one.box) < PAPER * frame.width * frame.height
  )
  const seeds = drawn.map((one) => one.box).filter((own) => isAtHeight(own) && area(own) > 400)
  // A table of lines only, which are alike
  const rules = tableRules(drawn).filter((rule) => width(rule) > 60)
  const lines = rules.filter((rule) =>
    rules.some((one) => isAtHeight(one) && Math.abs(one[0] - rule[0]) < 4 && Math.abs(one[2] - rule[2]) < 4)
  )
  if (lines.length > 1 && caption.kind === "table") seeds.push(hull(lines))
  if (seeds.length === 0) return undefined
  const prose = new Set(obstacles.flatMap(({ segments }) => segments))
  const written = new Set(captions.flatMap(({ segments }) => segments))
  const parts = [
    ...drawn.map((one) => one.box),
    ...frame.segments
      .filter((one) => !prose.has(one) && !written.has(one) && isThere(one.box))
      .map((one) => one.box)
  ]
  let region = hull(seeds)
  for (let round = 0; round < 4; round++) {
    const reach: Box = [region[0] - NEAR, region[1] - NEAR, region[2] + NEAR, region[3] + NEAR]
    region = hull([region, ...parts.filter((own) => overlapX(own, reach) > 0 && overlapY(own, reach) > 0)])
  }
  const blocked = [
    ...captions.filter((one) => one !== caption).map((one) => one.box),
    ...obstacles.filter(({ strong }) => strong).map((one) => one.box)
  ]
  if (blocked.some((own) => contains(region, ...centre(own)))) return undefined
  const labels = frame.segments.filter((one) => contains(region, ...centre(one.box)))
  const items = [
    ...drawn
      .filter((one) => contains(region, ...centre(one.box)))
      .map((graphic) => ({ box: graphic.box, graphic })),
    ...labels.map((segment) => ({ box: segment.box, segment }))
  ]
  return {
    caption,
    side,
    box: region,
    content: 0.8 * contentOf(caption, items, region),
    gap: side === "right" ? region[0] - box[2] : box[0] - region[2],
    share: 1,
    cut: Infinity
  }
}
