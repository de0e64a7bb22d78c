/** Joins the characters of a page to runs. */
import type { Box } from "../../../document/Document.ts"
import { hull, shared, union } from "../page/Box.ts"
import { separatorOf, type Run, upright } from "../page/Run.ts"

/** A gap wider than this many font sizes separates two runs: column gutters and table cells are wider, spaces are not. */
const MAX_GAP = 1

/** The style of a word, read at its first character. */
export interface TextStyle extends Pick<Run, "size" | "bold" | "mono" | "turn" | "heading" | "part"> {
  readonly font: string
}

const LIGATURES = /[\uFB00-\uFB06]/g
const SURROGATES = /\p{Surrogate}/gu
// Control characters, and code points of fonts without a character map
// oxlint-disable-next-line no-control-regex
const NOISE = /[\0-\x08\x0B-\x1F\x7F\u00AD\u200B\uFEFF\uFFFE\uFFFF]/g

const clean = (text: string): string =>
  text
    .replace(LIGATURES, (ligature) => ligature.normalize("NFKC"))
    .replace(NOISE, "")
    .replace(SURROGATES, "")

/** The overlap of two ranges, as a share of the shorter one. */
const overlap = (a0: number, a1: number, b0: number, b1: number): number =>
  shared(a0, a1, b0, b1) / Math.max(0.1, Math.min(a1 - a0, b1 - b0))

/** Collects the characters of one page, in the order of the file. */
export class RunBuilder {
  readonly runs: Array<Run> = []
  readonly #width: number
  readonly #height: number
  #text = ""
  #boxes: Array<Box> = []
  #style: TextStyle | undefined
  /** Bounds in the upright frame of the text. */
  #bounds: Box = [0, 0, 0, 0]
  #hasSpace = false
  /** The last character: reading it from `#text` would flatten the rope string each time. */
  #last = ""
  #fontChange: number | undefined

  constructor(width: number, height: number) {
    this.#width = width
    this.#height = height
  }

  /** Whether the next character starts a word, so that its style must be read. */
  get atWordStart(): boolean {
    return this.#hasSpace || this.#text === ""
  }

  blank(): void {
    this.#hasSpace = true
  }

  /** Adds a visible character. `box` is on the page as shown; `style` is required at the start of a word. */
  character(character: string, box: Box, style: TextStyle | undefined): void {
    const bounds = upright(box, (style ?? this.#style)?.turn ?? 0, this.#width, this.#height)
    if (this.#style !== undefined && this.#text !== "" && !this.#continues(bounds, style)) this.lineEnd()
    if (this.#text === "") {
      this.#style = style ?? this.#style
      this.#bounds = bounds
    } else {
      if (this.#hasSpace) this.#text += separatorOf(this.#last, character)
      if (style !== undefined && style.font !== this.#style!.font) this.#fontChange ??= this.#text.length
      // The number before a heading often has no tag.
      if (style?.heading !== undefined && /^[\d.\s]+$/.test(this.#text)) this.#style = style
      this.#bounds = union(this.#bounds, bounds)
    }
    this.#text += character
    this.#last = character
    this.#boxes.push(box)
    this.#hasSpace = false
  }

  finish(): ReadonlyArray<Run> {
    this.lineEnd()
    return this.runs
  }

  #continues(bounds: Box, style: TextStyle | undefined): boolean {
    const own = this.#style!
    if (style !== undefined) {
      if (style.turn !== own.turn || style.bold !== own.bold || style.mono !== own.mono) return false
      if (style.part !== own.part) return false
      if (Math.abs(style.size - own.size) > own.size * 0.15) return false
    }
    const [, y0, x1, y1] = this.#bounds
    return (
      overlap(y0, y1, bounds[1], bounds[3]) > 0.5 &&
      bounds[0] > x1 - own.size &&
      bounds[0] < x1 + MAX_GAP * own.size
    )
  }

  /** Ends the run. */
  lineEnd(): void {
    const text = clean(this.#text).trim()
    if (text !== "" && this.#style !== undefined) {
      const [x0, y0, x1, y1] = this.#bounds
      const { font: _, ...style } = this.#style
      const change =
        this.#fontChange === undefined
          ? {}
          : { change: clean(this.#text.slice(0, this.#fontChange)).trimStart().length }
      this.runs.push({ text, x0, y0, x1, y1, box: hull(this.#boxes), ...style, ...change })
    }
    this.#fontChange = undefined
    this.#text = ""
    this.#boxes = []
    this.#hasSpace = false
  }
}
