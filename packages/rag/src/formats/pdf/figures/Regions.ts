/** Regions that grow from a caption over what is drawn and written beside it, until running text is in the way. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, overlapX, overlapY, shared, width } from "../page/Box.ts"
import type { Obstacle } from "./BodyText.ts"
import type { Caption } from "./Captions.ts"
import { sideRegion } from "./SideRegions.ts"
import type { FigureRegion } from "./Assignment.ts"
import { contentOf, type Item, withoutNotes, withoutTextBeyond } from "./RegionContent.ts"
import { enclosed, type PageLayout } from "./PageLayout.ts"
import { rangesOf, widerRange } from "./HorizontalRanges.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.regions

/** Turns a page upside down where a region grows upwards: one rule for both sides. */
const turned = (box: Box, side: "above" | "below"): Box =>
  side === "below" ? box : [box[0], -box[3], box[2], -box[1]]

/** What is taken from the caption up to a gap. */
interface Stretch {
  readonly box: Box
  readonly items: ReadonlyArray<Item>
  readonly cut: number
}

/** Around those lines of a paragraph that reach into a range: the first ones may end beside a figure, the rest go on below it. */
const reaching = ({ box, segments }: Obstacle, range: readonly [number, number]): Box => {
  const own = segments.filter(
    (one) =>
      shared(one.box[0], one.box[2], ...range) >
      Math.min(limits.reachIn, limits.reachInShare * width(one.box))
  )
  return own.length === 0 || own.length === segments.length ? box : hull(own.map((one) => one.box))
}

/** The region on one side, and the parts of it that end at a gap. */
const grow = (
  caption: Caption,
  side: "above" | "below",
  range: readonly [number, number],
  layout: PageLayout
): ReadonlyArray<FigureRegion> => {
  const { blockers, body, frame, frames, graphics } = layout
  const own = turned(caption.box, side)
  const start = own[3]
  const inRange = (box: Box): boolean => {
    const over = shared(box[0], box[2], ...range)
    return (
      over > 0.5 * width(box) ||
      over > limits.rangeShare * (range[1] - range[0]) ||
      (width(box) === 0 && over === 0)
    )
  }
  const isPast = (box: Box): boolean =>
    (box[1] + box[3]) / 2 > start - limits.middleSlack &&
    box[1] > start - 0.5 * (own[3] - own[1]) - limits.startSlack
  const written = new Set(layout.captions.flatMap(({ segments }) => segments))
  const rules = layout.rules
    .map((box) => turned(box, side))
    .filter(
      (box) =>
        isPast(box) &&
        shared(box[0], box[2], ...range) > limits.ruleShare * width(box) &&
        width(box) > limits.minRule
    )
    .toSorted((a, b) => a[1] - b[1])
  const others = layout.captions
    .filter((other) => other !== caption)
    .map(({ box }) => turned(box, side))
    .filter(
      (box) =>
        isPast(box) &&
        shared(box[0], box[2], ...range) > Math.min(limits.reachIn, limits.reachInShare * width(box))
    )
  const wall = Math.min(Infinity, ...others.map((box) => box[1]))
  // What running text leaves room for
  const blocking = layout.obstacles
    .filter(({ box }) => !enclosed(box, frames, range))
    .map((obstacle) => ({ box: turned(reaching(obstacle, range), side), strong: obstacle.strong }))
    .filter(
      ({ box }) =>
        isPast(box) &&
        shared(box[0], box[2], ...range) > Math.min(limits.reachIn, limits.reachInShare * width(box))
    )
    .toSorted((a, b) => a.box[1] - b.box[1])
  const first = rules[0]
  const near = first !== undefined && first[1] - start < limits.firstGap ? first : undefined
  const strongWall = Math.min(wall, ...blocking.filter(({ strong }) => strong).map(({ box }) => box[1]))
  const alike =
    near === undefined
      ? []
      : rules.filter(
          (rule) =>
            Math.abs(rule[0] - near[0]) < limits.sameEdge &&
            Math.abs(rule[2] - near[2]) < limits.sameEdge &&
            rule[1] < strongWall + limits.lastRule
        )
  const ruled =
    alike.length > 1 && blocking.every(({ box }) => box[1] > near![1] - limits.firstRule)
      ? hull(alike)
      : undefined
  const limit = Math.min(
    wall,
    ...blocking
      .filter(
        ({ box, strong }) =>
          strong ||
          ruled === undefined ||
          (box[1] + box[3]) / 2 > ruled[3] ||
          (box[1] + box[3]) / 2 < ruled[1]
      )
      .map(({ box }) => box[1])
  )
  const items: Array<Item> = []
  for (const graphic of graphics) items.push({ box: turned(graphic.box, side), graphic })
  for (const segment of frame.segments) {
    if (!written.has(segment)) items.push({ box: turned(segment.box, side), segment })
  }
  for (const box of frame.turned) items.push({ box: turned(box, side) })
  const room = items
    .filter(
      ({ box }) =>
        isPast(box) && (box[1] + box[3]) / 2 < limit && box[3] < limit + limits.overlapEnd && inRange(box)
    )
    .toSorted((a, b) => a.box[1] - b.box[1])
  /** Drawings that reach over the edge of the column bring along what stands beside them. */
  const finish = (stretch: Stretch, whole: Stretch): FigureRegion => {
    const own = [...withoutNotes(stretch.items)]
    const known = new Set([...own, ...stretch.items])
    let region = own.length === stretch.items.length ? stretch.box : hull(own.map(({ box }) => box))
    for (let round = 0; round < limits.rounds; round++) {
      const reach = region
      const more = items.filter(
        (item) =>
          !known.has(item) &&
          isPast(item.box) &&
          item.box[3] < limit + limits.pastEnd &&
          overlapY(item.box, reach) > limits.besideHeight * height(item.box) &&
          overlapX(item.box, reach) >
            (item.graphic === undefined ? limits.besideText * width(item.box) : limits.besideDrawing) &&
          !(item.segment !== undefined && blockers.has(item.segment))
      )
      if (more.length === 0) break
      own.push(...more)
      for (const item of more) known.add(item)
      region = hull([region, ...more.map(({ box }) => box)])
    }
    return {
      caption,
      side,
      box: turned(region, side),
      content: contentOf(caption, own, region),
      gap: Math.max(0, region[1] - start),
      share: height(stretch.box) / Math.max(1, height(whole.box)),
      cut: stretch.cut
    }
  }
  if (ruled !== undefined && caption.kind === "table") {
    const taken = room.filter(
      ({ box, segment }) =>
        (box[1] > ruled[1] - limits.tableEdge && box[3] < ruled[3] + limits.tableEdge) ||
        overlapY(box, ruled) > 0.5 * height(box) ||
        // "(a) Before" between a table and its caption
        (segment !== undefined && box[3] < ruled[1] + limits.tableEdge)
    )
    const whole = { box: hull([ruled, ...taken.map(({ box }) => box)]), items: taken, cut: Infinity }
    return [finish(whole, whole)]
  }
  const ends: Array<Omit<Stretch, "items"> & { readonly count: number }> = []
  let reach: Box | undefined
  const taken: Array<Item> = []
  let late: Array<Item> = []
  for (const item of room) {
    const gap: number = item.box[1] - (reach?.[3] ?? start)
    if (gap > (reach === undefined ? limits.firstGap : limits.graphicGap)) break
    const far = gap > limits.textGap * body.size && !(ruled !== undefined && item.box[3] < ruled[3])
    if (reach !== undefined && item.graphic === undefined && far) {
      // The label of a line that may follow; alone it is other text
      late.push(item)
      continue
    }
    if (reach !== undefined && gap > limits.cutGap * body.size)
      ends.push({ box: reach, count: taken.length, cut: gap })
    reach = reach === undefined ? item.box : hull([reach, item.box])
    const all: Box = reach
    const joins = ({ box }: Item): boolean => (box[1] + box[3]) / 2 < all[3]
    taken.push(item, ...late.filter(joins))
    late = late.filter((one) => !joins(one))
    reach = hull([reach, ...taken.slice(-limits.lastItems).map(({ box }) => box)])
  }
  if (reach === undefined) return []
  const kept = caption.kind === "figure" ? withoutTextBeyond(taken, body.size) : taken
  const end = kept.length === taken.length ? reach : hull(kept.map(({ box }) => box))
  const whole: Stretch = { box: end, items: kept, cut: Infinity }
  const cuts = ends
    .filter(({ box }) => box[3] < end[3])
    .toSorted((one, other) => other.cut - one.cut)
    .slice(0, limits.maxCuts)
  const parts = cuts.map(({ box, count, cut }) => ({ box, items: taken.slice(0, count), cut }))
  return [whole, ...parts].map((stretch) => finish(stretch, whole))
}

/** Every region that may be this caption's, and the parts of it that are left where other captions want the rest. */
export const regionsOfCaption = (caption: Caption, layout: PageLayout): ReadonlyArray<FigureRegion> =>
  caption.number === undefined
    ? regionsFor(caption, layout).filter(
        ({ box, content, gap, side }) =>
          (side === "above" || side === "below") &&
          gap <= limits.unnumberedGap * layout.body.size &&
          content >= limits.unnumberedContent &&
          height(box) >= limits.unnumberedHeight
      )
    : regionsFor(caption, layout)

const regionsFor = (caption: Caption, layout: PageLayout): ReadonlyArray<FigureRegion> => {
  const found: Array<FigureRegion> = []
  for (const side of ["above", "below"] as const) {
    const [range, ...narrower] = rangesOf(caption, side, layout)
    const wide = widerRange(caption, range, layout)
    const within = grow(caption, side, range, layout)
    const across = wide === undefined ? [] : grow(caption, side, wide, layout)
    // Across the columns only what goes on there at the same height
    const [inner, outer] = [within[0]?.box, across[0]?.box]
    const goesOn =
      outer !== undefined &&
      !layout.captions.some(
        (one) =>
          one !== caption &&
          overlapX(one.box, outer) > 0 &&
          // In another column one may want what stands above or below it there
          overlapY(one.box, hull([outer, inner ?? outer])) >
            (shared(one.box[0], one.box[2], ...range) > limits.inRange
              ? limits.otherCaption
              : -limits.firstGap)
      ) &&
      (inner === undefined ||
        (height(outer) > limits.keptHeight * height(inner) && width(outer) > limits.widerBy * width(inner)))
    const grown = goesOn ? across : within
    found.push(...grown, ...narrower.flatMap((one) => grow(caption, side, one, layout)))
    if (grown.some(({ content }) => content >= Tolerances.assignment.minContent)) continue
    found.push(
      ...grow(
        caption,
        side,
        [caption.box[0] - limits.underCaption, caption.box[2] + limits.underCaption],
        layout
      )
    )
  }
  const sides = (["left", "right"] as const).flatMap((side) => sideRegion(caption, side, layout) ?? [])
  if (found.every(({ content }) => content < Tolerances.assignment.minContent)) return [...found, ...sides]
  // What begins beside the caption is not its end only
  const whole = sides.filter((side) => found.some((one) => isEndOf(one, side)))
  return [...found.filter((one) => !whole.some((side) => isEndOf(one, side))), ...whole]
}

/** Whether a region above or below a caption is only what is left of the one beside it. */
const isEndOf = ({ box, side }: FigureRegion, { box: whole, content }: FigureRegion): boolean =>
  content >= Tolerances.assignment.minContent &&
  overlapX(box, whole) > 0 &&
  overlapY(box, whole) > limits.besideHeight * height(box) &&
  overlapX(box, whole) > 0.5 * width(whole) &&
  (side === "above" ? whole[3] > box[3] + limits.reachesPast : whole[1] < box[1] - limits.reachesPast)
