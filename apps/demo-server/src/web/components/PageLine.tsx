/** A line of a page: our letters at the size at which they fill its box, as little stretched as can be. */
import type { PageText } from "../../contract/index.ts"

interface Props {
  readonly text: string
  readonly box: PageText["lines"][number]["box"]
}

/** The letters stand on this part of a line's height. */
const BASELINE = 0.79
/** Sizes of type that a line of height 1 can have been set in. */
const SMALLEST = 0.7
const LARGEST = 1.25
/** A box this much taller than wide holds a line that runs up the page. */
const UPRIGHT = 2
/** What parts the cells of a table's row. */
const CELLS = " | "

const canvas = document.createElement("canvas").getContext("2d")

/** Width of a text in the reading face at size 1. */
const naturalWidth = (text: string): number => {
  if (canvas === null) return text.length * 0.45
  canvas.font = "100px Newsreader, serif"
  return canvas.measureText(text).width / 100
}

/** A row of a table: where its cells stand is not known, so that what is left of its width goes between them. */
const Row = ({ box: [x0, y0, x1, y1], text }: Props) => {
  const cells = text.split(CELLS).map((cell) => ({ cell, width: naturalWidth(cell) }))
  const natural = cells.reduce((sum, { width }) => sum + width, 0)
  const size = Math.min(y1 - y0, (x1 - x0) / (natural + cells.length - 1))
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

export const PageLine = ({ box, text }: Props) => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  if (line === "") return null
  if (line.includes(CELLS)) return <Row box={box} text={line} />
  const [x0, y0, x1, y1] = box
  const turned = line.length > 3 && y1 - y0 > UPRIGHT * (x1 - x0)
  const [length, height] = turned ? [y1 - y0, x1 - x0] : [x1 - x0, y1 - y0]
  const size = Math.min(LARGEST * height, Math.max(SMALLEST * height, length / naturalWidth(line)))
  const place = turned
    ? { transform: `translate(${x0 + height * BASELINE} ${y1}) rotate(-90)` }
    : { x: x0, y: y0 + height * BASELINE }
  return (
    <text {...place} font-size={size} textLength={Math.max(1, length)} lengthAdjust="spacingAndGlyphs">
      {line}
    </text>
  )
}
