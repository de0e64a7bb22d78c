/** Characters to runs. */
import type { Box } from "../../../document/Document.ts"
import { hull } from "../page/Box.ts"
import { glue, type Run, type Turn, upright } from "../page/Run.ts"

/** A gap wider than this many font sizes parts two runs: column gutters and table cells are wider, blanks are not. */
const GAP = 1

/** The look of a word, read once at its first character. */
export interface TextStyle {
  readonly font: string
  readonly size: number
  readonly bold: boolean
  readonly mono: boolean
  readonly turn: Turn
  readonly heading?: number
  readonly part?: number
}

const LIGATURES = /[\uFB00-\uFB06]/g
const HALVES = /\p{Surrogate}/gu
// Control characters, and code points that fonts without a map of their characters give
// oxlint-disable-next-line no-control-regex
const NOISE = /[\0-\x08\x0B-\x1F\x7F\u00AD\u200B\uFEFF\uFFFE\uFFFF]/g

const clean = (text: string): string =>
  text
    .replace(LIGATURES, (ligature) => ligature.normalize("NFKC"))
    .replace(NOISE, "")
    .replace(HALVES, "")

const overlap = (a0: number, a1: number, b0: number, b1: number): number =>
  (Math.min(a1, b1) - Math.max(a0, b0)) / Math.max(0.1, Math.min(a1 - a0, b1 - b0))

/** Collects one page's characters, which come in the file's order. */
export class RunBuilder {
  readonly runs: Array<Run> = []
  readonly #width: number
  readonly #height: number
  #text = ""
  #boxes: Array<Box> = []
  #look: TextStyle | undefined
  #frame: Box = [0, 0, 0, 0]
  #space = false
  /** The last character: all text so far would be copied together to look at its end. */
  #last = ""
  #change: number | undefined

  constructor(width: number, height: number) {
    this.#width = width
    this.#height = height
  }

  /** Whether the next character begins a word, so that its look should be read. */
  get atWordStart(): boolean {
    return this.#space || this.#text === ""
  }

  blank(): void {
    this.#space = true
  }

  lineEnd(): void {
    this.#close()
  }

  /** A visible character; `box` is on the page as shown; `look` is given at least where a word begins. */
  character(character: string, box: Box, look: TextStyle | undefined): void {
    const turn = (look ?? this.#look)?.turn ?? 0
    const frame = upright(box, turn, this.#width, this.#height)
    if (this.#look !== undefined && this.#text !== "" && !this.#continues(frame, look)) this.#close()
    if (this.#text === "") {
      this.#look = look ?? this.#look
      this.#frame = frame
    } else {
      if (this.#space) this.#text += glue(this.#last, character)
      if (look !== undefined && look.font !== this.#look!.font) this.#change ??= this.#text.length
      const [x0, y0, x1, y1] = this.#frame
      this.#frame = [
        Math.min(x0, frame[0]),
        Math.min(y0, frame[1]),
        Math.max(x1, frame[2]),
        Math.max(y1, frame[3])
      ]
    }
    this.#text += character
    this.#last = character
    this.#boxes.push(box)
    this.#space = false
  }

  finish(): ReadonlyArray<Run> {
    this.#close()
    return this.runs
  }

  #continues(frame: Box, look: TextStyle | undefined): boolean {
    const own = this.#look!
    if (look !== undefined) {
      if (look.turn !== own.turn || look.bold !== own.bold || look.mono !== own.mono) return false
      if (look.part !== own.part) return false
      if (Math.abs(look.size - own.size) > own.size * 0.15) return false
    }
    const [, y0, x1, y1] = this.#frame
    return (
      overlap(y0, y1, frame[1], frame[3]) > 0.5 && frame[0] > x1 - own.size && frame[0] < x1 + GAP * own.size
    )
  }

  #close(): void {
    const text = clean(this.#text).trim()
    if (text !== "" && this.#look !== undefined) {
      const [x0, y0, x1, y1] = this.#frame
      const { font: _, ...look } = this.#look
      const change =
        this.#change === undefined
          ? {}
          : { change: clean(this.#text.slice(0, this.#change)).trimStart().length }
      this.runs.push({ text, x0, y0, x1, y1, box: hull(this.#boxes), ...look, ...change })
    }
    this.#change = undefined
    this.#text = ""
    this.#boxes = []
    this.#space = false
  }
}
