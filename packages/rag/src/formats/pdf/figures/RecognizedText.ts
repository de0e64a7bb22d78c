/** Adds text that image understanding recognized to pages and figures, as runs. */
import type { Box } from "../../../document/Document.ts"
import type { PdfFigure } from "./PdfFigure.ts"
import { area, centre, contains, height, sharedArea } from "../page/Box.ts"
import { median } from "../page/Lines.ts"
import { lengthOf, plainRun, type RawPage, type Run } from "../page/Run.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.scans

/** Lines recognized on a page or in its figures. Boxes are in points of the page as shown. */
export interface RecognizedText {
  readonly page: number
  readonly within: "page" | "figure"
  readonly lines: ReadonlyArray<{ readonly text: string; readonly box: Box }>
}

const share = (page: RawPage, box: Box): number => {
  const images = page.graphics.filter(({ kind }) => kind === "image")
  return images.reduce((sum, one) => sum + sharedArea(one.box, box), 0) / Math.max(1, area(box))
}

/** Whether a page is scanned, or its text cannot be decoded. */
export const isScan = (page: RawPage): boolean => {
  if (page.failed) return false
  if (page.unreadable === true) return true
  const length = lengthOf(page.runs)
  const most = length === 0 ? limits.imageShare : limits.scanShare
  return length < limits.maxScanCharacters && share(page, [0, 0, page.width, page.height]) >= most
}

/** Whether a figure is an image without text of its own. */
export const isPicture = ({ box, inside }: PdfFigure, page: RawPage): boolean =>
  lengthOf(inside) < limits.maxPictureCharacters && share(page, box) >= limits.pictureShare

const toRuns = (lines: RecognizedText["lines"]): ReadonlyArray<Run> => {
  const usable = lines.filter(({ box, text }) => text.trim() !== "" && box[3] > box[1] && box[2] > box[0])
  const usual = median(usable.map(({ box }) => height(box)))
  return usable.map(({ box, text }) => {
    const own = height(box)
    const lineHeight = Math.abs(own - usual) < limits.sameHeight * usual ? usual : own
    return plainRun(text.trim(), box, { box, size: lineHeight * limits.sizeOfHeight, turn: 0 })
  })
}

/** Adds recognized lines to pages, except where a page already has text. */
export const withRecognizedText = (
  pages: ReadonlyArray<RawPage>,
  recognized: ReadonlyArray<RecognizedText>
): ReadonlyArray<RawPage> =>
  pages.map((page) => {
    const own = recognized.filter(({ page: number, within }) => number === page.number && within === "page")
    if (own.length === 0) return page
    const runs = toRuns(own.flatMap(({ lines }) => lines)).filter(
      (run) => !page.runs.some(({ box }) => contains(box, ...centre(run.box)))
    )
    return { ...page, runs: [...page.runs, ...runs] }
  })

/** Adds recognized lines to the figures that contain them. */
export const withTextInFigures = (
  figures: ReadonlyArray<PdfFigure>,
  recognized: ReadonlyArray<RecognizedText>
): ReadonlyArray<PdfFigure> =>
  figures.map((figure) => {
    const lines = recognized
      .filter(({ page, within }) => page === figure.page && within === "figure")
      .flatMap((one) => one.lines)
      .filter(({ box }) => contains(figure.box, ...centre(box)))
    return lines.length === 0 ? figure : { ...figure, inside: [...figure.inside, ...toRuns(lines)] }
  })
