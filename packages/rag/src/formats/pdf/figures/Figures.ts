/** Finds the figures and tables of a paged document by their captions, from text, drawings and their positions. Uses no model. */
import type { Box } from "../../../document/Document.ts"
import { area, height } from "../page/Box.ts"
import type { FigureTrace } from "./FigureTrace.ts"
import { type RawPage, type Turn } from "../page/Run.ts"
import { assign, type FigureRegion, sidePreferenceOf } from "./Assignment.ts"
import { type Body, bodyOf, isRunningText, obstaclesOf, pageColumns, toBlocks } from "./BodyText.ts"
import { type Caption, captionsOf } from "./Captions.ts"
import { captionStart } from "../../parsing/CaptionStart.ts"
import { type UprightPage, onPage, toUprightPage } from "./UprightPage.ts"
import { figureOn, type PdfFigure } from "./PdfFigure.ts"
import { enclosed, framesOf, type PageLayout } from "./PageLayout.ts"
import { regionsOfCaption } from "./Regions.ts"
import { tableRules } from "./TableRows.ts"
import { withTaggedContent } from "./TaggedContent.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.figures

const startsCaption = (text: string): boolean => captionStart(text) !== undefined

const layoutOf = (frame: UprightPage, body: Body): PageLayout => {
  const paper = frame.width * frame.height
  const blocks = toBlocks(frame.segments, body.leading)
  const columns = pageColumns(blocks, body)
  const captions = captionsOf(frame, columns, body)
  const written = new Set(captions.flatMap(({ segments }) => segments))
  const obstacles = obstaclesOf(blocks, frame.segments, columns, body)
    .map((one) => ({ ...one, segments: one.segments.filter((segment) => !written.has(segment)) }))
    .filter(({ segments }) => segments.length > 0)
  const graphics = frame.graphics.filter(
    ({ box }) =>
      area(box) <= Tolerances.frames.paperShare * paper && height(box) <= limits.maxHeightShare * frame.height
  )
  const prose = blocks.filter((block) => isRunningText(block, body)).map(({ box }) => box)
  const frames = framesOf(graphics, paper)
  const blockers = new Set(
    obstacles
      .filter(({ box }) => !enclosed(box, frames, [0, frame.width]))
      .flatMap(({ segments }) => segments)
  )
  const rules = tableRules(graphics)
  return { frame, body, columns, captions, obstacles, prose, graphics, frames, rules, blockers }
}

/** The candidate regions of the captions of one page, for one text direction. */
interface PageRegions {
  readonly page: RawPage
  readonly turn: Turn
  readonly written: ReadonlyArray<Caption>
  readonly captions: ReadonlyArray<ReadonlyArray<FigureRegion>>
}

/** The candidate regions of all captions. Page layouts are not kept, to save memory. */
const regionsOf = (clean: ReadonlyArray<RawPage>): ReadonlyArray<PageRegions> => {
  // A sample of pages suffices to measure the text
  const step = Math.max(1, Math.ceil(clean.length / limits.samplePages))
  const sample = clean.filter((_, i) => i % step === 0).map((page) => toUprightPage(page, 0, startsCaption))
  const body = bodyOf(sample)
  return clean.flatMap((page) =>
    [...new Set(page.runs.map(({ turn }) => turn))].flatMap((turn): ReadonlyArray<PageRegions> => {
      const frame = toUprightPage(page, turn, startsCaption)
      if (!frame.segments.some(({ text }) => startsCaption(text))) return []
      const layout = layoutOf(frame, body)
      const captions = layout.captions.map((caption) => regionsOfCaption(caption, layout))
      return captions.length === 0 ? [] : [{ page, turn, written: layout.captions, captions }]
    })
  )
}

/** Pages without drawings that repeat at the same place: lines under headers, logos, frames. */
const withoutRepeated = (pages: ReadonlyArray<RawPage>): ReadonlyArray<RawPage> => {
  const { edge, grid, minEdgeShare, minPages, minShare } = Tolerances.repeated
  const keyOf = (box: readonly number[], kind: string): string =>
    `${kind} ${box.map((value) => Math.round(value / grid)).join(" ")}`
  const seen = new Map<string, number>()
  for (const { graphics } of pages) {
    for (const key of new Set(graphics.map(({ box, kind }) => keyOf(box, kind))))
      seen.set(key, (seen.get(key) ?? 0) + 1)
  }
  return pages.map((page) => ({
    ...page,
    graphics: page.graphics.filter(({ box, kind }) => {
      const times = seen.get(keyOf(box, kind))!
      if (times < 2) return true
      const atEdge = box[3] < edge * page.height || box[1] > (1 - edge) * page.height
      return times < Math.max(minPages, (atEdge ? minEdgeShare : minShare) * pages.length)
    })
  }))
}

/** The intermediate results of the figure finder for each page. */
export const traceFigures = (pages: ReadonlyArray<RawPage>): ReadonlyArray<FigureTrace> => {
  const regions = regionsOf(withoutRepeated(pages))
  const figures = findFigures(pages)
  return pages.map((page) => {
    const own = regions.filter((one) => one.page.number === page.number)
    const shown = (box: Box, turn: Turn) => onPage(box, { ...page, turn })
    return {
      page: page.number,
      pageWidth: page.width,
      textLines: toUprightPage(page, 0, startsCaption).segments.map(({ box }) => box),
      graphics: page.graphics.map(({ box }) => box),
      captions: own.flatMap(({ turn, written }) => written.map(({ box }) => shown(box, turn))),
      regions: own.flatMap(({ captions, turn }) => captions.flat().map(({ box }) => shown(box, turn))),
      figures: figures
        .filter((figure) => figure.page === page.number)
        .map(({ box, kind, number }) => ({ kind, number, box }))
    }
  })
}

/** Finds the figures of all pages, in page order. `pages` have no headers and footers. */
export const findFigures = (pages: ReadonlyArray<RawPage>): ReadonlyArray<PdfFigure> => {
  const regions = regionsOf(withoutRepeated(pages))
  const preference = sidePreferenceOf(regions.map(({ captions }) => captions))
  const found = regions
    .flatMap(({ captions, page, turn }) =>
      assign(captions, preference).map((region) => toFound(region, page, turn))
    )
    .filter(({ box }) => area(box) > 0)
    .toSorted((a, b) => a.page - b.page)
  return withTaggedContent(found, pages)
}

const toFound = ({ box, caption }: FigureRegion, page: RawPage, turn: Turn): PdfFigure => {
  const { kind, number, segments } = caption
  const written = segments.flatMap(({ runs }) => runs)
  return figureOn(page, onPage(box, { ...page, turn }), { kind, number, caption: written, turn })
}
