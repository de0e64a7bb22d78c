/** The layout of a page: columns, captions, running text, drawings and frames. */
import type { Box } from "../../../document/Document.ts"
import { area, centre, contains, height, sameEnds, shared, width } from "../page/Box.ts"
import type { Graphic } from "../page/Run.ts"
import type { Body, Column, Obstacle } from "./BodyText.ts"
import type { Caption } from "./Captions.ts"
import { type UprightPage, type Segment } from "./UprightPage.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.frames

/** The layout of a page, as the search for regions uses it. */
export interface PageLayout {
  readonly frame: UprightPage
  readonly body: Body
  readonly columns: ReadonlyArray<Column>
  readonly captions: ReadonlyArray<Caption>
  readonly obstacles: ReadonlyArray<Obstacle>
  /** Boxes of all paragraphs of running text, including narrow ones beside a figure. */
  readonly prose: ReadonlyArray<Box>
  readonly graphics: ReadonlyArray<Graphic>
  /** Rectangles that enclose figures. */
  readonly frames: ReadonlyArray<Box>
  /** Horizontal lines. */
  readonly rules: ReadonlyArray<Box>
  /** Segments of obstacles that no frame encloses. */
  readonly blockers: ReadonlySet<Segment>
}

/** Whether a frame contains a box and has at least half of its width within a range. */
export const enclosed = (box: Box, frames: ReadonlyArray<Box>, range: readonly [number, number]): boolean =>
  frames.some(
    (frame) => contains(frame, ...centre(box)) && shared(frame[0], frame[2], ...range) > 0.5 * width(frame)
  )

/** Stroked or filled rectangles, images, and rectangles made of four lines. */
export const framesOf = (graphics: ReadonlyArray<Graphic>, page: number): ReadonlyArray<Box> => {
  const closed = graphics
    .filter(
      ({ box, kind, shape }) =>
        (kind !== "path" || shape === "frame") &&
        width(box) > limits.minWidth &&
        height(box) > limits.minHeight &&
        area(box) < limits.paperShare * page
    )
    .slice(0, limits.maxFrames)
  const level = graphics
    .filter(({ box, shape }) => shape === "horizontal" && width(box) > limits.minWidth)
    .slice(0, limits.maxHorizontal)
  const upright = graphics
    .filter(({ box, shape }) => shape === "vertical" && height(box) > limits.minVertical)
    .slice(0, limits.maxVertical)
  const lines = level.flatMap((top) =>
    level.flatMap((bottom): ReadonlyArray<Box> => {
      const apart = bottom.box[1] - top.box[3]
      if (apart < limits.minVertical || !sameEnds(top.box, bottom.box, limits.sameEnd)) return []
      const side = (x: number): boolean =>
        upright.some(
          ({ box }) =>
            Math.abs((box[0] + box[2]) / 2 - x) < limits.atCorner &&
            shared(box[1], box[3], top.box[1], bottom.box[3]) >
              limits.sideShare * (bottom.box[3] - top.box[1])
        )
      return side(top.box[0]) && side(top.box[2]) ? [[top.box[0], top.box[1], top.box[2], bottom.box[3]]] : []
    })
  )
  return [
    ...closed.map(({ box }) => box),
    ...lines.filter((box) => area(box) < limits.paperShare * page)
  ].slice(0, limits.maxFrames)
}
