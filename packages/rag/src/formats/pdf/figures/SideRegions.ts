/** Figures beside their captions. */
import type { Box } from "../../../document/Document.ts"
import { area, centre, contains, hull, overlapX, overlapY, sameEnds, shared, width } from "../page/Box.ts"
import type { FigureRegion } from "./Assignment.ts"
import type { Caption } from "./Captions.ts"
import { contentOf } from "./RegionContent.ts"
import { type PageLayout } from "./PageLayout.ts"
import { tableRules } from "./TableRows.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.beside

/** The region beside a caption in the margin: pictures and frames at the caption's height. */
export const sideRegion = (
  caption: Caption,
  side: "left" | "right",
  { captions, frame, graphics }: PageLayout
): FigureRegion | undefined => {
  const { box } = caption
  const isAtHeight = (own: Box): boolean =>
    shared(own[1], own[3], box[1] - limits.heightSlack, box[3] + limits.heightSlack) >= 0
  const isThere = (own: Box): boolean =>
    side === "right"
      ? own[0] >= box[2] - limits.edgeSlack && own[0] - box[2] < limits.maxDistance
      : own[2] <= box[0] + limits.edgeSlack && box[0] - own[2] < limits.maxDistance
  const drawn = graphics.filter((one) => isThere(one.box))
  const seeds = drawn.map((one) => one.box).filter((own) => isAtHeight(own) && area(own) > limits.minArea)
  // Rules of a table have the same ends
  const rules = tableRules(drawn).filter((rule) => width(rule) > limits.minRule)
  const lines = rules.filter((rule) =>
    rules.some((one) => isAtHeight(one) && sameEnds(one, rule, limits.sameEdge))
  )
  if (lines.length > 1 && caption.kind === "table") seeds.push(hull(lines))
  if (seeds.length === 0) return undefined
  const written = new Set(captions.flatMap(({ segments }) => segments))
  const parts = [
    ...drawn.map((one) => one.box),
    ...frame.segments.filter((one) => !written.has(one) && isThere(one.box)).map((one) => one.box)
  ]
  let region = hull(seeds)
  for (let round = 0; round < limits.rounds; round++) {
    const reach: Box = [
      region[0] - limits.near,
      region[1] - limits.near,
      region[2] + limits.near,
      region[3] + limits.near
    ]
    region = hull([region, ...parts.filter((own) => overlapX(own, reach) > 0 && overlapY(own, reach) > 0)])
  }
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
    content: contentOf(caption, items, region),
    gap: side === "right" ? region[0] - box[2] : box[0] - region[2],
    isWhole: true
  }
}
