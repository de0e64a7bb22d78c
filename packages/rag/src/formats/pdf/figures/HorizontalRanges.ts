/** The horizontal ranges in which a caption's figure may be. */
import type { Box } from "../../../document/Document.ts"
import { height, middleY, overlapX, overlapY, width } from "../page/Box.ts"
import type { Caption } from "./Captions.ts"
import type { PageLayout } from "./PageLayout.ts"
import { type UprightPage, type Segment } from "./UprightPage.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.ranges

/** Left and right edge, in points. */
export type Range = readonly [left: number, right: number]

/** The range of the caption's column, limited by text beside the caption. */
const roomOf = ({ box }: Caption, { columns, frame, prose }: PageLayout): Range => {
  const column = columns.find(
    ({ x0, x1 }) => box[0] > x0 - limits.columnSlack && box[2] < x1 + limits.columnSlack
  )
  const edges = [
    ...columns.flatMap(({ x0, x1 }) => [x0, x1]),
    box[0],
    box[2],
    ...(columns.length === 0 ? frame.segments.flatMap((one) => [one.box[0], one.box[2]]) : [])
  ]
  let [left, right] = column === undefined ? [Math.min(...edges), Math.max(...edges)] : [column.x0, column.x1]
  if (column !== undefined) {
    // Up to the neighbouring columns or the page's edge: tables may extend into the margin
    left = Math.max(
      0,
      ...columns.map(({ x1 }) => x1 + limits.margin).filter((x) => x <= left + limits.margin)
    )
    right = Math.min(
      frame.width,
      ...columns.map(({ x0 }) => x0 - limits.margin).filter((x) => x >= right - limits.margin)
    )
  }
  // Text that flows around the figure
  for (const own of prose) {
    if (overlapY(own, box) < -limits.flow) continue
    if (own[0] >= box[2] - limits.edgeSlack && own[0] < right) right = own[0] - limits.margin
    if (own[2] <= box[0] + limits.edgeSlack && own[2] > left) left = own[2] + limits.margin
  }
  return [Math.min(left, box[0]), Math.max(right, box[2])]
}

/** Narrows a range by other captions beside this one. */
const shareWith = (
  others: ReadonlyArray<Caption>,
  { box }: Caption,
  range: Range,
  side: "above" | "below",
  frame: UprightPage
): Range => {
  let [left, right] = range
  for (const other of others) {
    if (other.box[0] >= box[2] - limits.edgeSlack && other.box[0] < right)
      right = split(frame, box, other.box, side)
    if (other.box[2] <= box[0] + limits.edgeSlack && other.box[2] > left)
      left = split(frame, other.box, box, side)
  }
  return [left, right]
}

/**
 * The horizontal ranges for a caption's figure on one side, the most likely first. Captions on one line always share
 * the column; captions at other heights may share it.
 */
export const rangesOf = (
  caption: Caption,
  side: "above" | "below",
  layout: PageLayout
): readonly [Range, ...ReadonlyArray<Range>] => {
  const { captions, frame } = layout
  const { box } = caption
  const level = (other: Caption): boolean =>
    overlapY(other.box, box) >= limits.sameLine * Math.min(height(other.box), height(box))
  const others = captions.filter((other) => other !== caption)
  const range = shareWith(others.filter(level), caption, roomOf(caption, layout), side, frame)
  const staggered = others.filter(
    (other) => !level(other) && overlapX(other.box, box) < limits.staggeredOverlap
  )
  const narrow = shareWith(staggered, caption, range, side, frame)
  return narrow[0] === range[0] && narrow[1] === range[1] ? [range] : [range, narrow]
}

/**
 * The whole text width, for a caption whose neighbouring columns are empty or hold further lines of it: its figure may
 * span the columns. Undefined otherwise.
 */
export const widerRange = (
  { box, segments }: Caption,
  [left, right]: Range,
  { body, captions, columns, frame, graphics }: PageLayout
): Range | undefined => {
  const wide = [
    Math.min(left, ...columns.map(({ x0 }) => x0)),
    Math.max(right, ...columns.map(({ x1 }) => x1))
  ] as const
  if (wide[1] - wide[0] < limits.widerBy * (right - left)) return undefined
  // Another caption on this line already takes part of the width
  if (captions.some((one) => one.box !== box && overlapY(one.box, box) > 0)) return undefined
  const beside = (own: Box): boolean =>
    overlapY(own, box) > 0 &&
    (own[0] >= right - limits.edgeSlack || own[2] <= left + limits.edgeSlack) &&
    overlapX(own, [wide[0], 0, wide[1], 0]) > 0
  const { size } = segments[0]!
  const continues = (one: Segment): boolean =>
    one.box[1] > box[1] - limits.edgeSlack &&
    Math.abs(one.size - size) < limits.sameSize * size &&
    Math.abs(one.size - body.size) > limits.otherSize * body.size
  return frame.segments.some((one) => beside(one.box) && !continues(one)) ||
    graphics.some((one) => beside(one.box))
    ? undefined
    : wide
}

/** The x between two captions that crosses the fewest drawings and texts on that side. */
const split = (frame: UprightPage, a: Box, b: Box, side: "above" | "below"): number => {
  const [from, to] = [(a[0] + a[2]) / 2, (b[0] + b[2]) / 2]
  const [top, bottom] =
    side === "above"
      ? [Math.min(a[1], b[1]) - limits.around, Math.max(a[1], b[1])]
      : [Math.min(a[3], b[3]), Math.max(a[3], b[3]) + limits.around]
  const near = [...frame.graphics.map(({ box }) => box), ...frame.segments.map(({ box }) => box)].filter(
    (box) => middleY(box) > top && middleY(box) < bottom && width(box) < limits.maxPieceWidth * frame.width
  )
  near.push(a, b)
  const lefts = near.map((box) => box[0]).toSorted((one, other) => one - other)
  const rights = near.map((box) => box[2]).toSorted((one, other) => one - other)
  const middle = (a[2] + b[0]) / 2
  let best = { x: middle, cuts: Infinity, off: Infinity }
  let [opened, closed] = [0, 0]
  for (let x = from; x <= to; x += Math.max(limits.step, (to - from) / limits.maxTries)) {
    while (opened < lefts.length && lefts[opened]! < x) opened++
    while (closed < rights.length && rights[closed]! <= x) closed++
    const cuts = opened - closed
    const off = Math.abs(x - middle)
    if (cuts < best.cuts || (cuts === best.cuts && off < best.off)) best = { x, cuts, off }
  }
  return best.x
}
