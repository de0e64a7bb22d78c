/** A page set again in its own geometry: every line of text fitted into its box, the cited lines marked. */
import type { PageText } from "../../contract/index.ts"
import { PageLine } from "./PageLine.tsx"
import { typeOf } from "./typeOf.ts"

type Box = PageText["lines"][number]["box"]

interface Props {
  readonly page: PageText
  readonly cited: ReadonlyArray<Box>
}

/** Points of paper left around the text where the margins are cropped. */
const MARGIN = 14

/** The page, or on a phone, where margins would cost legibility, the part of it that is printed on. */
const viewBox = ({ height, lines, width }: PageText): string => {
  if (lines.length === 0 || !matchMedia("(max-width: 40rem)").matches) return `0 0 ${width} ${height}`
  const left = Math.max(0, Math.min(...lines.map(({ box }) => box[0])) - MARGIN)
  const top = Math.max(0, Math.min(...lines.map(({ box }) => box[1])) - MARGIN)
  const right = Math.min(width, Math.max(...lines.map(({ box }) => box[2])) + MARGIN)
  const bottom = Math.min(height, Math.max(...lines.map(({ box }) => box[3])) + MARGIN)
  return `${left} ${top} ${right - left} ${bottom - top}`
}

export const PageFacsimile = ({ cited, page }: Props) => {
  const type = typeOf(page)
  return (
    <svg class="facsimile" viewBox={viewBox(page)}>
      {cited.map(([x0, y0, x1, y1]) => (
        <rect
          class="cited"
          key={`${x0} ${y0}`}
          x={x0 - 2}
          y={y0 - 1}
          width={x1 - x0 + 4}
          height={y1 - y0 + 2}
          rx={1.5}
        />
      ))}
      {page.lines.map(({ box, end, start }) => (
        <PageLine
          key={start}
          box={box}
          type={type}
          text={page.text.slice(start - page.start, end - page.start)}
        />
      ))}
    </svg>
  )
}
