/**
 * The image of a page with the cited boxes marked and selectable text over it. While it loads, and if it cannot be
 * drawn, the text stands for it: every line is stretched to its own box.
 */
import { useState } from "preact/hooks"
import type { PageContent } from "../../contract/index.ts"
import { withCollection } from "../api/request.ts"
import { Scroller } from "../ui/Table.tsx"

type Box = PageContent["lines"][number]["box"]

/** Font size and baseline of a line, as parts of the height of its box. */
const LINE = { size: 0.92, baseline: 0.79 } as const
/** A box this many times taller than wide holds vertical text. */
const VERTICAL = 2

const Line = ({ box: [x0, y0, x1, y1], text }: { readonly box: Box; readonly text: string }) => {
  const line = text.replaceAll(/[\s|]+/g, " ").trim()
  if (line === "") return null
  const vertical = line.length > 3 && y1 - y0 > VERTICAL * (x1 - x0)
  const [length, height] = vertical ? [y1 - y0, x1 - x0] : [x1 - x0, y1 - y0]
  const place = vertical
    ? { transform: `translate(${x0 + height * LINE.baseline} ${y1}) rotate(-90)` }
    : { x: x0, y: y0 + height * LINE.baseline }
  return (
    <text
      {...place}
      textLength={Math.max(1, length)}
      lengthAdjust="spacingAndGlyphs"
      font-size={height * LINE.size}
    >
      {line}
    </text>
  )
}

interface Props {
  readonly collection: string
  readonly documentId: string
  readonly page: PageContent
  readonly cited: ReadonlyArray<Box>
  /** 1 fits the width. */
  readonly zoom: number
}

/** Widths of page images, in pixels. Few, so that a drawn image serves again. */
const WIDTHS = [1240, 2400] as const

/** A marked box taller than this, in points, is a figure and not a line of text. */
const LINE_HEIGHT = 40

/** The narrowest image that is sharp enough. */
const widthFor = (zoom: number): number => {
  const shown = Math.min(innerWidth, 736) * devicePixelRatio * zoom
  return WIDTHS.find((width) => width >= shown * 0.9) ?? WIDTHS[1]
}

export const PageImage = ({ cited, collection, documentId, page, zoom }: Props) => {
  // Identified by page: a sharper image replaces the other one when it is loaded.
  const [drawn, setDrawn] = useState<string | undefined>(undefined)
  const [failed, setFailed] = useState<string | undefined>(undefined)
  const { height, number, width } = page
  const path = `/documents/${documentId}/pages/${number}`
  return (
    <>
      <Scroller class="page-view" label={`Page ${number}`}>
        <svg
          class="page-image"
          viewBox={`0 0 ${width} ${height}`}
          data-drawn={drawn === path}
          style={{ inlineSize: `${zoom * 100}%` }}
        >
          {failed !== path && (
            <image
              href={withCollection(collection, `${path}/image?width=${widthFor(zoom)}`)}
              width={width}
              height={height}
              preserveAspectRatio="none"
              onLoad={() => setDrawn(path)}
              onError={() => setFailed(path)}
            />
          )}
          {cited.map(([x0, y0, x1, y1]) => (
            <rect
              class="cited"
              data-figure={y1 - y0 > LINE_HEIGHT}
              key={`${x0} ${y0}`}
              x={x0 - 2}
              y={y0 - 1}
              width={x1 - x0 + 4}
              height={y1 - y0 + 2}
              rx={1.5}
            />
          ))}
          {page.lines.map(({ box, end, start }) => (
            <Line key={start} box={box} text={page.text.slice(start - page.start, end - page.start)} />
          ))}
        </svg>
      </Scroller>
      {failed === path && (
        <output class="quiet">The page could not be drawn. This is its text, line by line.</output>
      )}
    </>
  )
}
