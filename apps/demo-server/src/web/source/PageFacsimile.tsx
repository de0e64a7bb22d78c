/**
 * A page as it looks, the cited boxes marked, its text over it to be selected. Until it is drawn, and where it cannot
 * be, the text stands for it: every line fitted into its own box.
 */
import { useState } from "preact/hooks"
import type { PageContent } from "../../contract/index.ts"
import { pathIn } from "../api/collectionPath.ts"
import { PageLine } from "./PageLine.tsx"
import { Scroller } from "../ui/Scroller.tsx"
import { typeOf } from "./typeOf.ts"

type Box = PageContent["lines"][number]["box"]

interface Props {
  readonly collection: string
  readonly documentId: string
  readonly page: PageContent
  readonly cited: ReadonlyArray<Box>
  /** 1 fits the width. */
  readonly zoom: number
}

/** Pixels across: few widths, so that what was drawn once serves again. */
const WIDTHS = [1240, 2400] as const

/** Points: higher than this, what is marked is no line of text but a figure. */
const LINES = 40

/** The narrowest picture that is sharp enough here. */
const widthFor = (zoom: number): number => {
  const shown = Math.min(innerWidth, 736) * devicePixelRatio * zoom
  return WIDTHS.find((width) => width >= shown * 0.9) ?? WIDTHS[1]
}

const pageHref = (collection: string, documentId: string, page: number, zoom: number): string =>
  pathIn(collection, `/documents/${documentId}/pages/${page}/image?width=${widthFor(zoom)}`)

export const PageFacsimile = ({ cited, collection, documentId, page, zoom }: Props) => {
  const [drawn, setDrawn] = useState<string | undefined>(undefined)
  const [failed, setFailed] = useState<string | undefined>(undefined)
  const type = typeOf(page)
  const { height, number, width } = page
  const href = pageHref(collection, documentId, number, zoom)
  // A sharper picture takes the place of the other when it is there.
  const here = `${documentId} ${number}`
  return (
    <>
      <Scroller class="page-view" label={`Page ${number}`}>
        <svg
          class="facsimile"
          viewBox={`0 0 ${width} ${height}`}
          data-drawn={drawn === here}
          style={{ inlineSize: `${zoom * 100}%` }}
        >
          {failed !== here && (
            <image
              href={href}
              width={width}
              height={height}
              preserveAspectRatio="none"
              onLoad={() => setDrawn(here)}
              onError={() => setFailed(here)}
            />
          )}
          {cited.map(([x0, y0, x1, y1]) => (
            <rect
              class="cited"
              data-whole={y1 - y0 > LINES}
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
      </Scroller>
      {failed === here && (
        <output class="quiet">The page could not be drawn: this is its text, each line in its place.</output>
      )}
    </>
  )
}
