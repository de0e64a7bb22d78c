/** The captions of a page. */
import type { Box } from "../../../document/Document.ts"
import { height, hull, middleY, overlapX, overlapY, width } from "../page/Box.ts"
import { letters } from "../page/Lines.ts"
import type { Body, Column } from "./BodyText.ts"
import { type CaptionStart, captionStart } from "../../parsing/CaptionStart.ts"
import { type UprightPage, type Segment } from "./UprightPage.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.captions

export interface Caption extends Omit<CaptionStart, "length" | "sign" | "word"> {
  readonly segments: ReadonlyArray<Segment>
  readonly box: Box
  readonly text: string
}

/** Whether the font changes where the label ends, as in "**Table 2** Gates". */
const changesAfter = (segment: Segment, length: number): boolean => {
  let at = 0
  for (const [index, run] of segment.runs.entries()) {
    if (at > 0 && Math.abs(at - length) <= limits.labelEnd && run.bold !== segment.runs[index - 1]!.bold)
      return true
    if (run.change !== undefined && Math.abs(at + run.change - length) <= limits.labelEnd) return true
    at += run.text.length + 1
  }
  return false
}

/** Whether the line above continues in this one: then the label is a reference within a sentence. */
const continuesLineAbove = (segment: Segment, segments: ReadonlyArray<Segment>, body: Body): boolean =>
  segments.some((above) => {
    const step = (segment.box[3] - above.box[3]) / segment.size
    return (
      above !== segment &&
      step > 0.5 &&
      step < Math.max(limits.looseLeading, body.leading * limits.leadingSlack) &&
      Math.abs(above.size - segment.size) < limits.sameSize * segment.size &&
      above.bold === segment.bold &&
      Math.abs(segment.box[0] - above.box[0]) < limits.firstLineIndent * segment.size &&
      width(above.box) > limits.minLineAbove * segment.size
    )
  })

const ruleBetween = (frame: UprightPage, above: Box, below: Box): boolean =>
  frame.graphics.some(
    ({ box, shape }) =>
      shape === "horizontal" &&
      middleY(box) > above[3] - limits.ruleSlack * height(above) &&
      middleY(box) < below[1] + limits.ruleSlack * height(below) &&
      overlapX(box, above) > limits.ruleOverlap * Math.min(width(box), width(above))
  )

/** Whether the row is a justified line, as wide as the line above it. */
const isJustified = (row: ReadonlyArray<Segment>, above: Box, column: Column | undefined): boolean => {
  const box = hull(row.map((one) => one.box))
  const right = column?.x1 ?? above[2]
  return (
    row.every((one) => overlapY(one.box, row[0]!.box) > limits.sameLine * height(one.box)) &&
    Math.abs(box[2] - right) < limits.sameEdge &&
    Math.abs(above[2] - right) < limits.sameEdge &&
    Math.abs(box[0] - above[0]) < limits.sameEdge &&
    row.every((one, i) => i === 0 || one.box[0] - row[i - 1]!.box[2] < limits.pieceGap * one.size)
  )
}

const isCentred = (one: Box, other: Box): boolean =>
  Math.abs((one[0] + one[2] - other[0] - other[2]) / 2) < limits.sameEdge

/** The segments of one caption line, from `one` on. `first` is the caption's first segment. */
const captionRow = (
  one: Segment,
  first: Segment,
  frame: UprightPage,
  starts: ReadonlySet<Segment>,
  columns: ReadonlyArray<Column>
): ReadonlyArray<Segment> => {
  /** Whether a segment belongs to another caption above it, left-aligned or centred. */
  const belongsToOther = (other: Segment): boolean =>
    [...starts].some(
      ({ box: own }) =>
        own !== first.box &&
        other.box[1] > own[1] + limits.belowOther &&
        other.box[1] < own[1] + limits.reachOfOther * first.size &&
        own[0] > first.box[2] - limits.sameEdge &&
        (Math.abs(own[0] - other.box[0]) < limits.sameLeft ||
          Math.abs(own[0] + own[2] - other.box[0] - other.box[2]) < limits.sameMiddle)
    )
  const row = [one]
  // Segments of one line with a wide gap between them, as in "Table 3    Gates of the lock"
  for (;;) {
    const last = row.at(-1)!
    const next = frame.segments.find(
      (other) =>
        !row.includes(other) &&
        !starts.has(other) &&
        overlapY(other.box, last.box) > limits.sameLine * Math.min(height(other.box), height(last.box)) &&
        other.box[0] - last.box[2] >= limits.touching &&
        other.box[0] - last.box[2] < limits.pieceGap * first.size &&
        Math.abs(other.size - first.size) < limits.samePieceSize * first.size &&
        !columns.some(({ x0 }) => Math.abs(other.box[0] - x0) < limits.sameLeft && last.box[2] < x0) &&
        !belongsToOther(other)
    )
    if (next === undefined || row.length === limits.maxPieces) return row
    row.push(next)
  }
}

/** All segments of the caption that starts with `first`. */
const captionLines = (
  first: Segment,
  frame: UprightPage,
  starts: ReadonlySet<Segment>,
  columns: ReadonlyArray<Column>,
  body: Body
): ReadonlyArray<Segment> => {
  const rowOf = (one: Segment) => captionRow(one, first, frame, starts, columns)
  const lines: Array<ReadonlyArray<Segment>> = [rowOf(first)]
  let box = hull(lines[0]!.map((one) => one.box))
  const column = columns.find(
    ({ x0, x1 }) => box[0] > x0 - limits.columnSlack && box[2] < x1 + limits.columnSlack
  )
  while (lines.length < limits.maxLines) {
    const last = hull(lines.at(-1)!.map((one) => one.box))
    const below = frame.segments.filter((other) => {
      const down = (other.box[3] - last[3]) / first.size
      return (
        down > limits.minStep &&
        down < Math.max(limits.maxStep, body.leading * limits.stepLeading) &&
        !starts.has(other) &&
        Math.abs(other.size - first.size) < limits.sameCaptionSize * first.size &&
        overlapX(other.box, box) > limits.lineOverlap * Math.min(width(other.box), width(box)) &&
        (isCentred(other.box, last) ||
          other.box[0] >
            box[0] - limits.leftOutdent - (column === undefined ? limits.leftOutdentWithoutColumn : 0))
      )
    })
    const next = below[0]
    if (next === undefined || (below.length > 1 && !isJustified(below, last, column))) break
    const centred = isCentred(next.box, last)
    // A short line that ends with a stop is the last of its paragraph
    const isFinished =
      letters(first.text) >= limits.labelLetters && /[.。!?！？]$/u.test(lines.at(-1)!.at(-1)!.text)
    const room = Math.max(box[2], next.box[2]) - last[2]
    if (isFinished && !centred && room > limits.earlyEnd * first.size) break
    const left = next.box[0] - last[0]
    if (!centred && lines.length > 1 && Math.abs(left) > limits.sameLeft) break
    const row = rowOf(next)
    const beside = frame.segments.filter(
      (other) =>
        !row.includes(other) &&
        overlapY(other.box, next.box) > limits.sameLine * height(next.box) &&
        overlapX(other.box, [column?.x0 ?? box[0], 0, column?.x1 ?? box[2], 0]) >
          limits.besideShare * width(other.box)
    )
    const isBelowOther = ({ box: own }: Segment): boolean =>
      [...starts].some((start) => start !== first && overlapX(start.box, own) > 0)
    if (beside.length > 0 && !beside.some(isBelowOther)) break
    if (ruleBetween(frame, last, next.box)) break
    lines.push(row)
    box = hull([box, ...row.map((one) => one.box)])
  }
  return lines.flat()
}

/** The captions of a page, from top to bottom. */
export const captionsOf = (
  frame: UprightPage,
  columns: ReadonlyArray<Column>,
  body: Body
): ReadonlyArray<Caption> => {
  const found = new Map<Segment, CaptionStart>()
  for (const segment of frame.segments) {
    const start = captionStart(segment.text)
    if (start === undefined || segment.mono) continue
    const changed = changesAfter(segment, start.length)
    if (start.sign === "bare" && !changed) continue
    if (continuesLineAbove(segment, frame.segments, body)) continue
    found.set(segment, start)
  }
  if (found.size > limits.maxCaptions) return []
  const starts = new Set(found.keys())
  return [...found].map(([segment, { kind, number }]) => {
    const segments = captionLines(segment, frame, starts, columns, body)
    return {
      kind,
      number,
      segments,
      box: hull(segments.map(({ box }) => box)),
      text: segments.map(({ text }) => text).join(" ")
    }
  })
}
