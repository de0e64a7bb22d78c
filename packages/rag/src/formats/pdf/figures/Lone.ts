/** Pictures with a line below them that says what they show, without a label. */
import type { Box } from "../../../document/Document.ts"
import { area, height, hull, overlapX, overlapY, width } from "../page/Box.ts"
import type { RawPage } from "../page/Run.ts"
import { overlap } from "./Assignment.ts"
import { type Body, letters } from "./BodyText.ts"
import { type PdfFigure, insideOf, onPaper } from "./FoundFigure.ts"
import { type Frame, type Segment, toFrame } from "./Frame.ts"
import { PAPER } from "./Ground.ts"
import { isNote } from "./Notes.ts"

/** A picture is this wide, as a share of the page, and this high in points: smaller ones are marks. */
const WIDE = 0.25
const HIGH = 80
/** No page has so many beside each other: they are drawn over one another, and each would be compared with all. */
const PICTURES = 200
/** Its line begins within this many font sizes of the running text, is smaller than that, and stands in the middle of it. */
const GAP = 1.3
const SMALLER = 0.93
const CENTRED = 4
const LINES = 3
/** A page of text has so many lines of it; posters and slides have other habits. */
const TEXT_LINES = 5

/** The lines of the caption below a picture, or none. */
const linesBelow = (picture: Box, { segments }: Frame, body: Body): ReadonlyArray<Segment> => {
  const lines: Array<Segment> = []
  let bottom = picture[3]
  for (const segment of segments) {
    const { box } = segment
    if (overlapX(box, picture) <= 0 || box[1] < bottom - 3) continue
    const gap = box[1] - bottom
    const near = gap < (lines.length === 0 ? GAP * body.size : 0.6 * segment.size)
    const same = lines[0] === undefined || Math.abs(lines[0].size - segment.size) < 0.05 * segment.size
    if (!near || !same) break
    const middle = Math.abs(box[0] + box[2] - picture[0] - picture[2]) / 2
    const alone = segments.every(
      (one) =>
        one === segment || overlapX(one.box, picture) <= 0 || overlapY(one.box, box) < 0.3 * height(box)
    )
    if (
      middle > CENTRED ||
      !alone ||
      segment.size > SMALLER * body.size ||
      width(box) > 1.1 * width(picture) ||
      lines.length === LINES
    )
      return []
    lines.push(segment)
    bottom = box[3]
  }
  const text = lines.map((line) => line.text).join(" ")
  return /\p{L}{2,}\s+\S|[\u3400-\u9FFF]{3}/u.test(text) && !isNote(text) && !text.endsWith(":") ? lines : []
}

/** The pictures of a page that no other caption has taken, with such a line. Pages come without what repeats. */
export const lonePictures = (
  page: RawPage,
  found: ReadonlyArray<PdfFigure>,
  body: Body
): ReadonlyArray<PdfFigure> => {
  const images = page.graphics
    .filter(({ box, kind }) => kind === "image" && area(box) > 0)
    .map(({ box }) => box)
  const large = images.filter(
    (box) =>
      width(box) >= WIDE * page.width && height(box) >= HIGH && area(box) < PAPER * page.width * page.height
  )
  if (large.length > PICTURES) return []
  const pictures = large.filter(
    (box) =>
      images.every((other) => other === box || overlap(other, box) === 0) &&
      found.every((other) => overlap(other.box, box) === 0)
  )
  if (pictures.length === 0) return []
  const frame = toFrame(page, 0, () => false)
  const text = frame.segments.filter(
    (one) => Math.abs(one.size - body.size) < 0.06 * body.size && letters(one.text) >= 25
  )
  if (text.length < TEXT_LINES) return []
  return pictures.flatMap((picture): ReadonlyArray<PdfFigure> => {
    const caption = linesBelow(picture, frame, body).flatMap(({ runs }) => runs)
    if (caption.length === 0) return []
    const box = onPaper(picture, page)
    const inside = insideOf(box, page, caption)
    const written = hull(caption.map((run) => run.box))
    if (
      found.some(
        (other) => overlap(other.box, written) > 0 || other.caption.some((run) => caption.includes(run))
      )
    )
      return []
    return [
      {
        page: page.number,
        kind: "figure",
        number: undefined,
        box,
        mark: caption[0]!,
        caption,
        inside,
        turn: 0
      }
    ]
  })
}
