/** Regions that grow from a caption over what is drawn and written beside it, until running text is in the way. */
import type { Box } from "../Document.ts"
import type { Body, Column, Obstacle } from "./BodyText.ts"
import type { Caption } from "./Captions.ts"
import {
  area,
  centre,
  contains,
  type Frame,
  height,
  hull,
  overlapX,
  overlapY,
  shared,
  width
} from "./Frame.ts"
import type { Graphic } from "../parse/pdf/Run.ts"
import { contentOf, type Item } from "./Content.ts"
import { rulesOf } from "./Rules.ts"

export type Side = "above" | "below" | "left" | "right"

export interface Candidate {
  readonly caption: Caption
  readonly side: Side
  readonly box: Box
  /** 0 to 1: how much it looks like a figure, or a table, by itself. */
  readonly content: number
  /** From the caption to it, in points. */
  readonly gap: number
  /** Which share of what could be taken it takes, and how wide the gap is where it ends; points. */
  readonly share: number
  readonly cut: number
}

/** What a page gives to grow over. */
export interface Ground {
  readonly frame: Frame
  readonly body: Body
  readonly columns: ReadonlyArray<Column>
  readonly captions: ReadonlyArray<Caption>
  readonly obstacles: ReadonlyArray<Obstacle>
  readonly graphics: ReadonlyArray<Graphic>
  /** Rectangles that frame what is in them. */
  readonly frames: ReadonlyArray<Box>
}

/** A caption's figure begins within this distance, points … */
const FIRST_GAP = 60
/** … and its parts are at most this far from each other: drawings, and text in font sizes. */
const GRAPHIC_GAP = 56
const TEXT_GAP = 2.6
/** A region may end where its parts are this far from each other, in font sizes, if another caption wants the rest. */
const CUT_GAP = 0.9
/** This many ends are tried. */
const CUTS = 8
/** Between a column and what stands beside it, in points. */
const MARGIN = 4
/** What fills more of the page than this is paper. */
const PAPER = 0.7

/** Rectangles of strokes or colour, images, and what four lines enclose. */
export const framesOf = (graphics: ReadonlyArray<Graphic>, page: number): ReadonlyArray<Box> => {
  const closed = graphics.filter(
    ({ box, kind, shape }) =>
      (kind !== "path" || shape === "frame" || shape === "filled") &&
      width(box) > 60 &&
      height(box) > 25 &&
      area(box) < PAPER * page
  )
  const level = graphics.filter(({ box, shape }) => shape === "horizontal" && width(box) > 60).slice(0, 80)
  const upright = graphics.filter(({ box, shape }) => shape === "vertical" && height(box) > 20).slice(0, 200)
  const lines = level.flatMap((top) =>
    level.flatMap((bottom): ReadonlyArray<Box> => {
      if (
        bottom.box[1] - top.box[3] < 20 ||
        Math.abs(top.box[0] - bottom.box[0]) > 3 ||
        Math.abs(top.box[2] - bottom.box[2]) > 3
      )
        return []
      const side = (x: number): boolean =>
        upright.some(
          ({ box }) =>
            Math.abs((box[0] + box[2]) / 2 - x) < 4 &&
            shared(box[1], box[3], top.box[1], bottom.box[3]) > 0.9 * (bottom.box[3] - top.box[1])
        )
      return side(top.box[0]) && side(top.box[2]) ? [[top.box[0], top.box[1], top.box[2], bottom.box[3]]] : []
    })
  )
  return [...closed.map(({ box }) => box), ...lines.filter((box) => area(box) < PAPER * page)]
}

const enclosed = (box: Box, frames: ReadonlyArray<Box>, range: readonly [number, number]): boolean =>
  frames.some(
    (frame) => contains(frame, ...centre(box)) && shared(frame[0], frame[2], ...range) > 0.5 * width(frame)
  )

/** The horizontal range that a caption's figure may take. */
const rangeOf = (caption: Caption, { captions, columns, frame }: Ground): readonly [number, number] => {
  const { box } = caption
  const home = columns
    .filter(({ x0, x1 }) => box[0] > x0 - 10 && box[2] < x1 + 10)
    .toSorted((a, b) => a.x1 - a.x0 - (b.x1 - b.x0))[0]
  const edges = [
    ...columns.flatMap(({ x0, x1 }) => [x0, x1]),
    box[0],
    box[2],
    ...(columns.length === 0 ? frame.segments.flatMap((one) => [one.box[0], one.box[2]]) : [])
  ]
  let [left, right] = home === undefined ? [Math.min(...edges), Math.max(...edges)] : [home.x0, home.x1]
  if (home !== undefined) {
    // Up to the neighbouring columns, or to the edge of the paper: tables reach into the margin
    left = Math.max(0, ...columns.map(({ x1 }) => x1 + MARGIN).filter((x) => x <= left + MARGIN))
    right = Math.min(frame.width, ...columns.map(({ x0 }) => x0 - MARGIN).filter((x) => x >= right - MARGIN))
  }
  left = Math.min(left, box[0])
  right = Math.max(right, box[2])
  // Captions beside each other share the room
  for (const other of captions) {
    if (other === caption || overlapY(other.box, box) < 0.3 * Math.min(height(other.box), height(box)))
      continue
    if (other.box[0] >= box[2] - 2 && other.box[0] < right) right = split(frame, box, other.box)
    if (other.box[2] <= box[0] + 2 && other.box[2] > left) left = split(frame, other.box, box)
  }
  return [left, right]
}

/**
 * The whole width of the text, for a caption in one column beside which the other columns are empty: it may stand, flush
 * left, under a figure that spans them.
 */
const widerRange = (
  { box }: Caption,
  [left, right]: readonly [number, number],
  { captions, columns, frame, graphics }: Ground
): readonly [number, number] | undefined => {
  const wide = [
    Math.min(left, ...columns.map(({ x0 }) => x0)),
    Math.max(right, ...columns.map(({ x1 }) => x1))
  ] as const
  if (wide[1] - wide[0] < 1.2 * (right - left)) return undefined
  // Another caption on this line shares the room already
  if (captions.some((one) => one.box !== box && overlapY(one.box, box) > 0)) return undefined
  const beside = (own: Box): boolean =>
    overlapY(own, box) > 0 &&
    (own[0] >= right - 2 || own[2] <= left + 2) &&
    overlapX(own, [wide[0], 0, wide[1], 0]) > 0
  return frame.segments.some((one) => beside(one.box)) || graphics.some((one) => beside(one.box))
    ? undefined
    : wide
}

/** Between two captions on one line: where the fewest drawings and texts around them are cut. */
const split = (frame: Frame, a: Box, b: Box): number => {
  const [from, to] = [(a[0] + a[2]) / 2, (b[0] + b[2]) / 2]
  const near = [...frame.graphics.map(({ box }) => box), ...frame.segments.map(({ box }) => box)].filter(
    (box) =>
      box[3] > Math.min(a[1], b[1]) - 160 &&
      box[1] < Math.max(a[3], b[3]) + 160 &&
      width(box) < 0.6 * frame.width
  )
  let best = { x: (a[2] + b[0]) / 2, cuts: Infinity, off: Infinity }
  for (let x = from; x <= to; x += 2) {
    const cuts = near.filter((box) => box[0] < x && box[2] > x).length
    const off = Math.abs(x - (a[2] + b[0]) / 2)
    if (cuts < best.cuts || (cuts === best.cuts && off < best.off)) best = { x, cuts, off }
  }
  return best.x
}

/** Turns a page upside down where a region grows upwards: one rule for both sides. */
const turned = (box: Box, side: "above" | "below"): Box =>
  side === "below" ? box : [box[0], -box[3], box[2], -box[1]]

/** What is taken from the caption up to a gap. */
interface Stretch {
  readonly box: Box
  readonly items: ReadonlyArray<Item>
  readonly cut: number
}

/** The region on one side, and the parts of it that end at a gap. */
const grow = (
  caption: Caption,
  side: "above" | "below",
  range: readonly [number, number],
  ground: Ground
): ReadonlyArray<Candidate> => {
  const { body, frame, frames, graphics } = ground
  const own = turned(caption.box, side)
  const start = own[3]
  const inRange = (box: Box): boolean => {
    const over = shared(box[0], box[2], ...range)
    return over > 0.5 * width(box) || over > 0.6 * (range[1] - range[0]) || (width(box) === 0 && over === 0)
  }
  const isPast = (box: Box): boolean =>
    (box[1] + box[3]) / 2 > start - 1 && box[1] > start - 0.5 * (own[3] - own[1]) - 4
  const written = new Set(ground.captions.flatMap(({ segments }) => segments))
  const rules = rulesOf(graphics)
    .map((box) => turned(box, side))
    .filter((box) => isPast(box) && shared(box[0], box[2], ...range) > 0.8 * width(box) && width(box) > 30)
    .toSorted((a, b) => a[1] - b[1])
  const others = ground.captions
    .filter((other) => other !== caption)
    .map(({ box }) => turned(box, side))
    .filter((box) => isPast(box) && shared(box[0], box[2], ...range) > Math.min(12, 0.3 * width(box)))
  const wall = Math.min(Infinity, ...others.map((box) => box[1]))
  // What running text leaves room for
  const blocking = ground.obstacles
    .filter(({ box }) => !enclosed(box, frames, range))
    .map(({ box, strong }) => ({ box: turned(box, side), strong }))
    .filter(({ box }) => isPast(box) && shared(box[0], box[2], ...range) > Math.min(12, 0.3 * width(box)))
    .toSorted((a, b) => a.box[1] - b.box[1])
  const first = rules[0]
  const near = first !== undefined && first[1] - start < FIRST_GAP ? first : undefined
  const strongWall = Math.min(wall, ...blocking.filter(({ strong }) => strong).map(({ box }) => box[1]))
  const alike =
    near === undefined
      ? []
      : rules.filter(
          (rule) =>
            Math.abs(rule[0] - near[0]) < 4 && Math.abs(rule[2] - near[2]) < 4 && rule[1] < strongWall + 1
        )
  const ruled =
    alike.length > 1 && blocking.every(({ box }) => box[1] > near![1] - 2) ? hull(alike) : undefined
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
  const blockers = new Set(
    ground.obstacles
      .filter(({ box }) => !enclosed(box, frames, [0, frame.width]))
      .flatMap(({ segments }) => segments)
  )
  const items: Array<Item> = []
  for (const graphic of graphics) items.push({ box: turned(graphic.box, side), graphic })
  for (const segment of frame.segments) {
    if (!written.has(segment)) items.push({ box: turned(segment.box, side), segment })
  }
  for (const box of frame.turned) items.push({ box: turned(box, side) })
  const room = items
    .filter(({ box }) => isPast(box) && (box[1] + box[3]) / 2 < limit && box[3] < limit + 14 && inRange(box))
    .toSorted((a, b) => a.box[1] - b.box[1])
  /** Drawings that reach over the edge of the column bring along what stands beside them. */
  const finish = (stretch: Stretch, whole: Stretch): Candidate => {
    const own = [...stretch.items]
    let region = stretch.box
    for (let round = 0; round < 3; round++) {
      const reach = region
      const more = items.filter(
        (item) =>
          !own.includes(item) &&
          isPast(item.box) &&
          item.box[3] < limit + 2 &&
          overlapY(item.box, reach) > 0.7 * height(item.box) &&
          overlapX(item.box, reach) > (item.graphic === undefined ? 0.3 * width(item.box) : 1) &&
          !(item.segment !== undefined && blockers.has(item.segment))
      )
      if (more.length === 0) break
      own.push(...more)
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
        (box[1] > ruled[1] - 3 && box[3] < ruled[3] + 3) ||
        overlapY(box, ruled) > 0.5 * height(box) ||
        // "(a) Before" between a table and its caption
        (segment !== undefined && box[3] < ruled[1] + 3)
    )
    const whole = { box: hull([ruled, ...taken.map(({ box }) => box)]), items: taken, cut: Infinity }
    return [finish(whole, whole)]
  }
  const ends: Array<Stretch> = []
  let reach: Box | undefined
  const taken: Array<Item> = []
  let late: Array<Item> = []
  for (const item of room) {
    const gap: number = item.box[1] - (reach?.[3] ?? start)
    if (gap > (reach === undefined ? FIRST_GAP : GRAPHIC_GAP)) break
    const far = gap > TEXT_GAP * body.size && !(ruled !== undefined && item.box[3] < ruled[3])
    if (reach !== undefined && item.graphic === undefined && far) {
      // The label of a line that may follow; alone it is other text
      late.push(item)
      continue
    }
    if (reach !== undefined && gap > CUT_GAP * body.size)
      ends.push({ box: reach, items: taken.slice(), cut: gap })
    reach = reach === undefined ? item.box : hull([reach, item.box])
    const all: Box = reach
    taken.push(item, ...late.filter(({ box }) => (box[1] + box[3]) / 2 < all[3]))
    late = late.filter((one) => !taken.includes(one))
    reach = hull([reach, ...taken.slice(-4).map(({ box }) => box)])
  }
  if (reach === undefined) return []
  const whole: Stretch = { box: reach, items: taken, cut: Infinity }
  const cuts = ends.toSorted((one, other) => other.cut - one.cut).slice(0, CUTS)
  return [whole, ...cuts].map((stretch) => finish(stretch, whole))
}

/** Every region that may be this caption's, and the parts of it that are left where other captions want the rest. */
export const candidatesOf = (caption: Caption, ground: Ground): ReadonlyArray<Candidate> => {
  const range = rangeOf(caption, ground)
  const tall: readonly [number, number] = [caption.box[1] - 4, caption.box[3] + 4]
  const found: Array<Candidate> = []
  const wide = widerRange(caption, range, ground)
  for (const side of ["above", "below"] as const) {
    const within = grow(caption, side, range, ground)
    const across = wide === undefined ? [] : grow(caption, side, wide, ground)
    // Across the columns only what goes on there at the same height
    const [inner, outer] = [within[0]?.box, across[0]?.box]
    const goesOn =
      outer !== undefined &&
      !ground.captions.some(
        (one) => one !== caption && overlapY(one.box, hull([outer, inner ?? outer])) > -12
      ) &&
      (inner === undefined || (height(outer) > 0.8 * height(inner) && width(outer) > 1.1 * width(inner)))
    const grown = goesOn ? across : within
    found.push(...grown)
    if (grown.some(({ content }) => content >= 0.4)) continue
    found.push(...grow(caption, side, [caption.box[0] - 6, caption.box[2] + 6], ground))
  }
  if (found.every(({ content }) => content < 0.4)) {
    for (const side of ["left", "right"] as const) {
      const grown = beside(caption, side, tall, ground)
      if (grown !== undefined) found.push(grown)
    }
  }
  return found
}

/** A caption in the margin beside its figure: the pictures and frames at its height. */
const beside = (
  caption: Caption,
  side: "left" | "right",
  tall: readonly [number, number],
  { captions, frame, graphics, obstacles }: Ground
): Candidate | undefined => {
  const { box } = caption
  const isThere = (own: Box): boolean =>
    side === "right"
      ? own[0] >= box[2] - 2 && own[0] - box[2] < 200
      : own[2] <= box[0] + 2 && box[0] - own[2] < 200
  const drawn = graphics.filter(
    (one) => isThere(one.box) && area(one.box) < PAPER * frame.width * frame.height
  )
  const seeds = drawn.filter((one) => shared(one.box[1], one.box[3], ...tall) > 0 && area(one.box) > 400)
  if (seeds.length === 0) return undefined
  let region = hull(seeds.map((one) => one.box))
  for (let round = 0; round < 4; round++) {
    const reach: Box = [region[0] - 8, region[1] - 8, region[2] + 8, region[3] + 8]
    region = hull([
      region,
      ...drawn.map((one) => one.box).filter((own) => overlapX(own, reach) > 0 && overlapY(own, reach) > 0)
    ])
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
