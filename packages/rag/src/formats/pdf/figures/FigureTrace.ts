/** The intermediate results of the figure finder on a page, for work on its rules. */
import type { Box } from "../../../document/Document.ts"
import type { Outline } from "../page/Box.ts"
import type { PdfFigure } from "./PdfFigure.ts"

/** Boxes in points of the page as shown. */
export interface FigureTrace {
  readonly page: number
  readonly pageWidth: number
  readonly textLines: ReadonlyArray<Box>
  readonly graphics: ReadonlyArray<Box>
  readonly captions: ReadonlyArray<Box>
  /** All candidate regions. */
  readonly regions: ReadonlyArray<Box>
  readonly figures: ReadonlyArray<Pick<PdfFigure, "kind" | "number" | "box">>
}

/** Red, green and blue, 0 to 255, in the order in which the boxes are drawn. */
export const TRACE_COLOURS = {
  textLines: [170, 170, 170],
  graphics: [60, 120, 255],
  regions: [255, 150, 0],
  captions: [0, 150, 60],
  figures: [220, 0, 0]
} as const

export const outlinesOf = (trace: FigureTrace): ReadonlyArray<Outline> =>
  (["textLines", "graphics", "regions", "captions", "figures"] as const).flatMap((layer) =>
    trace[layer].map((one) => ({
      box: "box" in one ? one.box : one,
      rgb: TRACE_COLOURS[layer],
      pixels: layer === "figures" ? 4 : layer === "textLines" || layer === "graphics" ? 1 : 2
    }))
  )
