/** What a page gives for the regions of its figures to grow over. */
import type { Box } from "../../../document/Document.ts"
import { area, centre, contains, height, shared, width } from "../page/Box.ts"
import type { Graphic } from "../page/Run.ts"
import type { Body, Column, Obstacle } from "./BodyText.ts"
import type { Caption } from "./Captions.ts"
import { type Frame, type Segment } from "./Frame.ts"

/** What a page gives to grow over. */
export interface Ground {
  readonly frame: Frame
  readonly body: Body
  readonly columns: ReadonlyArray<Column>
  readonly captions: ReadonlyArray<Caption>
  readonly obstacles: ReadonlyArray<Obstacle>
  /** Around paragraphs of running text, narrow ones too: text that flows around a figure. */
  readonly prose: ReadonlyArray<Box>
  readonly graphics: ReadonlyArray<Graphic>
  /** Rectangles that frame what is in them. */
  readonly frames: ReadonlyArray<Box>
  /** Horizontal lines. */
  readonly rules: ReadonlyArray<Box>
  /** Text of obstacles that no frame holds. */
  readonly blockers: ReadonlySet<Segment>
}

/** Whether one of the frames holds a box, and stands over most of a range. */
export const enclosed = (box: Box, frames: ReadonlyArray<Box>, range: readonly [number, number]): boolean =>
  frames.some(
    (frame) => contains(frame, ...centre(box)) && shared(frame[0], frame[2], ...range) > 0.5 * width(frame)
  )

/** More rectangles are a drawing; the first ones are looked at. */
const FRAMES_AT_MOST = 400

/** What fills more of the page than this is paper. */
export const PAPER = 0.7

/** Rectangles of strokes or colour, images, and what four lines enclose. */
export const framesOf = (graphics: ReadonlyArray<Graphic>, page: number): ReadonlyArray<Box> => {
  const closed = graphics
    .filter(
      ({ box, kind, shape }) =>
        (kind !== "path" || shape === "frame" || shape === "filled") &&
        width(box) > 60 &&
        height(box) > 25 &&
        area(box) < PAPER * page
    )
    .slice(0, FRAMES_AT_MOST)
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
  return [...closed.map(({ box }) => box), ...lines.filter((box) => area(box) < PAPER * page)].slice(
    0,
    FRAMES_AT_MOST
  )
}
