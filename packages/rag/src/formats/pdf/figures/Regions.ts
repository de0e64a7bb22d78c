/** Candidate regions for a caption: from the caption over drawings and labels, up to running text or another caption. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, middleY, overlapX, overlapY, sameEnds, shared, width } from "../page/Box.ts"
import type { Obstacle } from "./BodyText.ts"
import type { Caption } from "./Captions.ts"
import { sideRegion } from "./SideRegions.ts"
import type { FigureRegion } from "./Assignment.ts"
import { contentOf, type Item, withoutNotes, withoutTextBeyond } from "./RegionContent.ts"
import { enclosed, type PageLayout } from "./PageLayout.ts"
import { type Range, rangesOf, widerRange } from "./HorizontalRanges.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.regions

/** A part of a region, from the caption to a gap. */
interface Stretch {
  readonly box: Box
  readonly items: ReadonlyArray<Item>
  /** Width of the gap at its end, in points; Infinity for the whole region. */
  readonly cut: number
}

/** Running text that ends a region. */
type Blocker = Pick<Obstacle, "box" | "strong">

/** A search for a caption's figure on one side. Its boxes are flipped, so that it always goes downwards. */
interface Search {
  readonly caption: Caption
  readonly side: "above" | "below"
  readonly range: Range
  readonly layout: PageLayout
  /** The lower edge of the caption. */
  readonly start: number
  /** Whether a box is below the caption. */
  readonly isPast: (box: Box) => boolean
}

/** Flips a box vertically for a search upwards, and back. */
const flipped = (box: Box, side: "above" | "below"): Box =>
  side === "below" ? box : [box[0], -box[3], box[2], -box[1]]

/** Whether a box reaches into a range by more than its margin. */
const reachesInto = (box: Box, range: Range): boolean =>
  shared(box[0], box[2], ...range) > Math.min(limits.reachIn, limits.reachInShare * width(box))

/** The lines of a paragraph that reach into a range: its first lines may end beside a figure, the others go on below it. */
const boxInRange = ({ box, segments }: Obstacle, range: Range): Box => {
  const own = segments.filter((one) => reachesInto(one.box, range))
  return own.length === 0 || own.length === segments.length ? box : hull(own.map((one) => one.box))
}

const isMostlyInRange = (box: Box, range: Range): boolean => {
  const over = shared(box[0], box[2], ...range)
  return (
    over > 0.5 * width(box) ||
    over > limits.rangeShare * (range[1] - range[0]) ||
    (width(box) === 0 && over === 0)
  )
}

/** The running text in the way of a search, from top to bottom. */
const blockersOf = ({ isPast, layout, range, side }: Search): ReadonlyArray<Blocker> =>
  layout.obstacles
    .filter(({ box }) => !enclosed(box, layout.frames, range))
    .map((obstacle) => ({ box: flipped(boxInRange(obstacle, range), side), strong: obstacle.strong }))
    .filter(({ box }) => isPast(box) && reachesInto(box, range))
    .toSorted((a, b) => a.box[1] - b.box[1])

/** The top of the next caption in the way of a search; Infinity if there is none. */
const nextCaption = ({ caption, isPast, layout, range, side }: Search): number =>
  layout.captions
    .filter((other) => other !== caption)
    .map(({ box }) => flipped(box, side))
    .filter((box) => isPast(box) && reachesInto(box, range))
    .reduce((top, box) => Math.min(top, box[1]), Infinity)

/** The box of a table by its rules: those as wide as the first one below the caption. Undefined if text is before it. */
const ruledTable = (
  { isPast, layout, range, side, start }: Search,
  captionTop: number,
  blocking: ReadonlyArray<Blocker>
): Box | undefined => {
  const rules = layout.rules
    .map((box) => flipped(box, side))
    .filter(
      (box) =>
        isPast(box) &&
        shared(box[0], box[2], ...range) > limits.ruleShare * width(box) &&
        width(box) > limits.minRule
    )
    .toSorted((a, b) => a[1] - b[1])
  const first = rules[0]
  if (first === undefined || first[1] - start >= limits.firstGap) return undefined
  const end = Math.min(captionTop, ...blocking.filter(({ strong }) => strong).map(({ box }) => box[1]))
  const alike = rules.filter(
    (rule) => sameEnds(rule, first, limits.sameEdge) && rule[1] < end + limits.lastRule
  )
  return alike.length > 1 ? hull(alike) : undefined
}

/** Everything drawn or written on the page except captions. */
const itemsOf = ({ layout: { captions, frame, graphics }, side }: Search): ReadonlyArray<Item> => {
  const written = new Set(captions.flatMap(({ segments }) => segments))
  return [
    ...graphics.map((graphic) => ({ box: flipped(graphic.box, side), graphic })),
    ...frame.segments
      .filter((segment) => !written.has(segment))
      .map((segment) => ({ box: flipped(segment.box, side), segment })),
    ...frame.turned.map((box) => ({ box: flipped(box, side) }))
  ]
}

/** The region of a stretch, without notes at its end, widened by items beside drawings that reach out of the range. */
const regionOf = (
  { caption, isPast, layout, side, start }: Search,
  stretch: Stretch,
  items: ReadonlyArray<Item>,
  limit: number
): FigureRegion => {
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
        !(item.segment !== undefined && layout.blockers.has(item.segment))
    )
    if (more.length === 0) break
    own.push(...more)
    for (const item of more) known.add(item)
    region = hull([region, ...more.map(({ box }) => box)])
  }
  return {
    caption,
    side,
    box: flipped(region, side),
    content: contentOf(caption, own, region),
    gap: Math.max(0, region[1] - start),
    isWhole: stretch.cut === Infinity
  }
}

/** The stretch of a table: the items between its rules. */
const tableStretch = (ruled: Box, items: ReadonlyArray<Item>): Stretch => {
  const taken = items.filter(
    ({ box, segment }) =>
      (box[1] > ruled[1] - limits.tableEdge && box[3] < ruled[3] + limits.tableEdge) ||
      overlapY(box, ruled) > 0.5 * height(box) ||
      // "(a) Before" between a table and its caption
      (segment !== undefined && box[3] < ruled[1] + limits.tableEdge)
  )
  return { box: hull([ruled, ...taken.map(({ box }) => box)]), items: taken, cut: Infinity }
}

/** The stretch up to the first wide gap, then those that end at a narrower gap before it. `items` go from top to bottom. */
const stretchesOf = (
  { caption, layout, start }: Search,
  items: ReadonlyArray<Item>,
  ruled: Box | undefined
): ReadonlyArray<Stretch> => {
  const { size } = layout.body
  const ends: Array<Omit<Stretch, "items"> & { readonly count: number }> = []
  const taken: Array<Item> = []
  let reach: Box | undefined
  let waiting: Array<Item> = []
  for (const item of items) {
    const gap: number = item.box[1] - (reach?.[3] ?? start)
    if (gap > (reach === undefined ? limits.firstGap : limits.graphicGap)) break
    const far = gap > limits.textGap * size && !(ruled !== undefined && item.box[3] < ruled[3])
    if (reach !== undefined && item.graphic === undefined && far) {
      // It may be the label of a drawing that follows
      waiting.push(item)
      continue
    }
    if (reach !== undefined && gap > limits.cutGap * size)
      ends.push({ box: reach, count: taken.length, cut: gap })
    const all: Box = reach === undefined ? item.box : hull([reach, item.box])
    const joins = ({ box }: Item): boolean => middleY(box) < all[3]
    taken.push(item, ...waiting.filter(joins))
    waiting = waiting.filter((one) => !joins(one))
    reach = hull([all, ...taken.map(({ box }) => box)])
  }
  if (reach === undefined) return []
  const kept = caption.kind === "figure" ? withoutTextBeyond(taken, size) : taken
  const box = kept.length === taken.length ? reach : hull(kept.map((item) => item.box))
  const cuts = ends
    .filter((end) => end.box[3] < box[3])
    .toSorted((one, other) => other.cut - one.cut)
    .slice(0, limits.maxCuts)
    .map(({ count, ...end }) => ({ ...end, items: taken.slice(0, count) }))
  return [{ box, items: kept, cut: Infinity }, ...cuts]
}

/** The region on one side of a caption, and the parts of it that end at a gap. */
const regionsOnSide = (
  caption: Caption,
  side: "above" | "below",
  range: Range,
  layout: PageLayout
): ReadonlyArray<FigureRegion> => {
  const [, top, , start] = flipped(caption.box, side)
  const isPast = (box: Box): boolean =>
    middleY(box) > start - limits.middleSlack && box[1] > start - 0.5 * (start - top) - limits.startSlack
  const search: Search = { caption, side, range, layout, start, isPast }
  const captionTop = nextCaption(search)
  const blocking = blockersOf(search)
  const ruled = ruledTable(search, captionTop, blocking)
  const isBetweenRules = (box: Box): boolean =>
    ruled !== undefined && middleY(box) <= ruled[3] && middleY(box) >= ruled[1]
  const limit = blocking
    .filter(({ box, strong }) => strong || !isBetweenRules(box))
    .reduce((least, { box }) => Math.min(least, box[1]), captionTop)
  const items = itemsOf(search)
  const room = items
    .filter(
      ({ box }) =>
        isPast(box) &&
        middleY(box) < limit &&
        box[3] < limit + limits.overlapEnd &&
        isMostlyInRange(box, range)
    )
    .toSorted((a, b) => a.box[1] - b.box[1])
  const stretches =
    ruled !== undefined && caption.kind === "table"
      ? [tableStretch(ruled, room)]
      : stretchesOf(search, room, ruled)
  return stretches.map((stretch) => regionOf(search, stretch, items, limit))
}

/** All candidate regions of a caption, and shorter parts of them for pages on which other captions need the rest. */
export const regionsOfCaption = (caption: Caption, layout: PageLayout): ReadonlyArray<FigureRegion> =>
  regionsFor(caption, layout).filter(
    ({ box, content, gap, side }) =>
      caption.number !== undefined ||
      ((side === "above" || side === "below") &&
        gap <= limits.unnumberedGap * layout.body.size &&
        content >= limits.unnumberedContent &&
        height(box) >= limits.unnumberedHeight)
  )

const regionsFor = (caption: Caption, layout: PageLayout): ReadonlyArray<FigureRegion> => {
  const found: Array<FigureRegion> = []
  for (const side of ["above", "below"] as const) {
    const [range, ...narrower] = rangesOf(caption, side, layout)
    const wide = widerRange(caption, range, layout)
    const within = regionsOnSide(caption, side, range, layout)
    const across = wide === undefined ? [] : regionsOnSide(caption, side, wide, layout)
    // Use the range across columns only if the figure continues there at the same height
    const [inner, outer] = [within[0]?.box, across[0]?.box]
    const continues =
      outer !== undefined && (inner === undefined || height(outer) > limits.keptHeight * height(inner))
    const grown = continues ? across : within
    found.push(...grown, ...narrower.flatMap((one) => regionsOnSide(caption, side, one, layout)))
  }
  const sides = (["left", "right"] as const).flatMap((side) => sideRegion(caption, side, layout) ?? [])
  if (found.every(({ content }) => content < Tolerances.assignment.minContent)) return [...found, ...sides]
  // Drop regions above or below that are only the end of a region beside the caption
  const whole = sides.filter((side) => found.some((one) => isEndOf(one, side)))
  return [...found.filter((one) => !whole.some((side) => isEndOf(one, side))), ...whole]
}

/** Whether a region above or below a caption is only the end of the one beside it. */
const isEndOf = ({ box, side }: FigureRegion, { box: whole, content }: FigureRegion): boolean =>
  content >= Tolerances.assignment.minContent &&
  overlapX(box, whole) > 0 &&
  overlapY(box, whole) > limits.besideHeight * height(box) &&
  overlapX(box, whole) > 0.5 * width(whole) &&
  (side === "above" ? whole[3] > box[3] + limits.reachesPast : whole[1] < box[1] - limits.reachesPast)
