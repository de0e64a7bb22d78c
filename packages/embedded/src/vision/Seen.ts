/** What a picture was found to hold. */
import type { ColourShare } from "./Colours.ts"

/** A line of text in a picture. */
export interface OcrLine {
  readonly text: string
  /** How sure the engine is, 0 to 1. */
  readonly confidence: number
  /** Left, top, width, height, in pixels of the upright picture. */
  readonly box: readonly [number, number, number, number]
}

/** What was seen of a picture. */
export interface Seen {
  /** In pixels, upright. */
  readonly width: number
  readonly height: number
  readonly colours: ReadonlyArray<ColourShare>
  /** In reading order; none where there is no text. */
  readonly lines: ReadonlyArray<OcrLine>
}
