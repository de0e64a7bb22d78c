/** A line of a page in our font, fitted to its own box. */
import type { PageContent } from "../../contract/index.ts"

const canvas = document.createElement("canvas").getContext("2d")

/** The width of a text in the reading font at size 1. */
export const naturalWidth = (text: string): number => {
  if (canvas === null) return text.length * 0.45
  canvas.font = "100px Newsreader, serif"
  return canvas.measureText(text).width / 100
}

/** Shorter lines, in characters, say little about the font. */
const MIN_CHARACTERS = 20
const SCALE = { usual: 0.95, least: 0.7, most: 1.25 } as const

interface PageType {
  /** Font size for a box of height 1. One for the page, so that lines of one size keep one size. */
  readonly scale: number
  /** The median height of the lines' boxes, in points. */
  readonly body: number
}

const median = (numbers: ReadonlyArray<number>): number | undefined =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

export const measurePage = ({ lines, start, text }: PageContent): PageType => {
  const long = lines
    .map(({ box: [x0, y0, x1, y1], ...line }) => ({
      words: text.slice(line.start - start, line.end - start).trim(),
      length: x1 - x0,
      height: y1 - y0
    }))
    .filter(({ height, length, words }) => words.length >= MIN_CHARACTERS && length > height && height > 0)
  const scale = median(long.map(({ height, length, words }) => length / naturalWidth(words) / height))
  return {
    scale: Math.min(SCALE.most, Math.max(SCALE.least, scale ?? SCALE.usual)),
    body: median(long.map(({ height }) => height)) ?? Infinity
  }
}

interface Props {
  readonly text: string
  readonly box: PageContent["lines"][number]["box"]
  readonly type: PageType
}

/** The baseline, as a part of the line's height. */
const BASELINE = 0.79
/** Letters are squeezed, or enlarged over the usual size, by this factor at most. */
const TOLERANCE = 1.12
/** A box this many times taller than wide holds vertical text. */
const VERTICAL = 2
/** Separates the cells of a table's row. */
const CELLS = " | "

/** A table's row. The places of its cells are not known: they share the free width. */
const Row = ({ box: [x0, y0, x1, y1], text, type }: Props) => {
  const cells = text.split(CELLS).map((cell) => ({ cell, width: naturalWidth(cell) }))
  const natural = cells.reduce((sum, { width }) => sum + width, 0)
  const size = Math.min(type.scale * (y1 - y0), (x1 - x0) / (natural + cells.length - 1))
  const gap = (x1 - x0 - natural * size) / Math.max(1, cells.length - 1)
  let x = x0
  return (
    <g>
      {cells.map(({ cell, width }) => {
        const at = x
        x += width * size + gap
        return (
          <text key={at} x={at} y={y0 + (y1 - y0) * BASELINE} font-size={size}>
            {cell}
          </text>
        )
      })}
    </g>
  )
}

/** A line with fewer words, or taller than the body by this factor, is set in larger type, not justified. */
const JUSTIFIED = { words: 4, body: 1.15 }

const fit = (line: string, length: number, height: number, { body, scale }: PageType) => {
  const usual = scale * height
  const natural = naturalWidth(line)
  const fitting = length / natural
  const spaces = line.split(" ").length - 1
  if (fitting > usual && spaces >= JUSTIFIED.words - 1 && height <= JUSTIFIED.body * body)
    return { size: usual, wordSpacing: (length - natural * usual) / spaces }
  return { size: Math.min(fitting * TOLERANCE, Math.max(usual, Math.min(fitting, usual * TOLERANCE))) }
}

export const PageLine = ({ box, text, type }: Props) => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  if (line === "") return null
  if (line.includes(CELLS)) return <Row box={box} text={line} type={type} />
  const [x0, y0, x1, y1] = box
  const vertical = line.length > 3 && y1 - y0 > VERTICAL * (x1 - x0)
  const [length, height] = vertical ? [y1 - y0, x1 - x0] : [x1 - x0, y1 - y0]
  const { size, wordSpacing } = fit(line, length, height, type)
  const place = vertical
    ? { transform: `translate(${x0 + height * BASELINE} ${y1}) rotate(-90)` }
    : { x: x0, y: y0 + height * BASELINE }
  const width =
    wordSpacing === undefined
      ? { textLength: Math.max(1, length), lengthAdjust: "spacingAndGlyphs" as const }
      : { "word-spacing": wordSpacing }
  return (
    <text {...place} {...width} font-size={size}>
      {line}
    </text>
  )
}
