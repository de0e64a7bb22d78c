/** Pictures with an unlabelled caption below them. */
import type { Box } from "../../../document/Document.ts"
import { area, height, overlapX, width } from "../page/Box.ts"
import type { RawPage } from "../page/Run.ts"
import { overlap } from "./Assignment.ts"
import type { Body } from "./BodyText.ts"
import { figureOn, type PdfFigure } from "./PdfFigure.ts"
import { type UprightPage, type Segment, toUprightPage } from "./UprightPage.ts"
import { isNote } from "./RegionContent.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.unlabelled

/** The lines of the caption below a picture; empty if there is none. */
const linesBelow = (picture: Box, { segments }: UprightPage, body: Body): ReadonlyArray<Segment> => {
  const lines: Array<Segment> = []
  let bottom = picture[3]
  for (const segment of segments) {
    const { box } = segment
    if (overlapX(box, picture) <= 0 || box[1] < bottom - limits.overlap) continue
    const gap = box[1] - bottom
    const near = gap < (lines.length === 0 ? limits.firstGap * body.size : limits.lineGap * segment.size)
    const same =
      lines[0] === undefined || Math.abs(lines[0].size - segment.size) < limits.sameSize * segment.size
    if (!near || !same) break
    const middle = Math.abs(box[0] + box[2] - picture[0] - picture[2]) / 2
    if (
      middle > limits.sameCentre ||
      segment.size > limits.maxSize * body.size ||
      lines.length === limits.maxLines
    )
      return []
    lines.push(segment)
    bottom = box[3]
  }
  const text = lines.map((line) => line.text).join(" ")
  return /\p{L}{2,}\s+\S|[\u3400-\u9FFF]{3}/u.test(text) && !isNote(text) && !text.endsWith(":") ? lines : []
}

/** The pictures of a page with an unlabelled caption that are not part of a found figure. `page` has no repeated graphics. */
export const unlabelledPictures = (
  page: RawPage,
  found: ReadonlyArray<PdfFigure>,
  body: Body
): ReadonlyArray<PdfFigure> => {
  const images = page.graphics
    .filter(({ box, kind }) => kind === "image" && area(box) > 0)
    .map(({ box }) => box)
  const large = images.filter(
    (box) =>
      width(box) >= limits.minWidth * page.width &&
      height(box) >= limits.minHeight &&
      area(box) < Tolerances.frames.paperShare * page.width * page.height
  )
  if (large.length > limits.maxPictures) return []
  const pictures = large.filter(
    (box) =>
      images.every((other) => other === box || overlap(other, box) === 0) &&
      found.every((other) => overlap(other.box, box) === 0)
  )
  if (pictures.length === 0) return []
  const frame = toUprightPage(page, 0, () => false)
  return pictures.flatMap((picture) => {
    const caption = linesBelow(picture, frame, body).flatMap(({ runs }) => runs)
    if (caption.length === 0) return []
    return [figureOn(page, picture, { kind: "figure", number: undefined, caption, turn: 0 })]
  })
}
