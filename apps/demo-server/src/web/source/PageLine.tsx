/** A line of a page: our letters, fitted into the box of its own. */
import type { PageContent } from "../../contract/index.ts"
import type { Type } from "./typeOf.ts"
import { naturalWidth } from "./naturalWidth.ts"

interface Props {
  readonly text: string
  readonly box: PageContent["lines"][number]["box"]
  readonly type: Type
}

/** The letters stand on this part of a line's height. */
const BASELINE = 0.79
/** Letters are squeezed by so much at most, and no larger than usual by more. */
const TOLERANCE = 1.12
/** A box this much taller than wide holds a line that runs up the page. */
const UPRIGHT = 2
/** What parts the cells of a table's row. */
const CELLS = " | "

/** A row of a table: where its cells stand is not known, so that what is left of its width goes between them. */
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

/** A line of fewer words, or larger than the body by more, is not justified: its letters are larger than usual. */
const JUSTIFIED = { words: 4, body: 1.15 }

/** How the letters of a line are brought to its length. */
const fitted = (line: string, length: number, height: number, { body, scale }: Type) => {
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
  const turned = line.length > 3 && y1 - y0 > UPRIGHT * (x1 - x0)
  const [length, height] = turned ? [y1 - y0, x1 - x0] : [x1 - x0, y1 - y0]
  const { size, wordSpacing } = fitted(line, length, height, type)
  const place = turned
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
