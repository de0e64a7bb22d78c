/** A paged document, page by page, from the cited page. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { DocumentText, PageContent } from "../../contract/index.ts"
import { type RequestError, toRequestError, withCollection } from "../api/request.ts"
import { loadPage } from "../documents/documents.ts"
import { Steps } from "../ui/Button.tsx"
import { Scroller } from "../ui/DataTable.tsx"
import { ErrorMessage } from "../ui/Notices.tsx"
import type { OpenSource } from "./source.ts"
import { scrollToQuote } from "./SourceText.tsx"

type Loaded<A> = { readonly value?: A; readonly error?: RequestError }

/** Loads again when a dependency changes; the value before stays until then. A late response is dropped. */
export const useLoaded = <A,>(load: () => Promise<A>, dependencies: ReadonlyArray<unknown>): Loaded<A> => {
  const [loaded, setLoaded] = useState<Loaded<A>>({})
  useEffect(() => {
    let active = true
    setLoaded(({ value }) => (value === undefined ? {} : { value }))
    load().then(
      (value) => active && setLoaded({ value }),
      (thrown) => active && setLoaded((now) => ({ ...now, error: toRequestError(thrown) }))
    )
    return () => {
      active = false
    }
  }, dependencies)
  return loaded
}

/** The print of a PDF is too small on a phone: it starts enlarged, at the cited part. */
const PHONE_ZOOM = 1.5

/** 1 fits the width. */
const ZOOMS = [1, PHONE_ZOOM, 2, 3] as const

/** The next size up or down; the same at either end. */
const zoomed = (zoom: number, by: 1 | -1): number =>
  (by === 1 ? ZOOMS.find((each) => each > zoom) : ZOOMS.findLast((each) => each < zoom)) ?? zoom

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

interface ImageProps {
  readonly shown: OpenSource
  readonly page: PageContent
  readonly cited: ReadonlyArray<Box>
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

/**
 * The image of a page with the cited boxes marked and selectable text over it. While it loads, and if it cannot be
 * drawn, the text replaces it: every line is stretched to its own box.
 */
const PageImage = ({ cited, page, shown, zoom }: ImageProps) => {
  // Identified by page: a sharper image replaces the other one when it is loaded.
  const [drawn, setDrawn] = useState<string>()
  const [failed, setFailed] = useState<string>()
  const { height, number, width } = page
  const path = `/documents/${shown.documentId}/pages/${number}`
  return (
    <>
      <Scroller class="wide floating page-view" label={`Page ${number}`}>
        <svg
          class="page-image"
          viewBox={`0 0 ${width} ${height}`}
          data-drawn={drawn === path}
          style={{ inlineSize: `${zoom * 100}%` }}
        >
          {failed !== path && (
            <image
              href={withCollection(shown.collection, `${path}/image?width=${widthFor(zoom)}`)}
              width={width}
              height={height}
              preserveAspectRatio="none"
              onLoad={() => setDrawn(path)}
              onError={() => setFailed(path)}
            />
          )}
          {cited.map(([x0, y0, x1, y1]) => {
            const place = { x: x0 - 2, y: y0 - 1, width: x1 - x0 + 4, height: y1 - y0 + 2, rx: 1.5 }
            return <rect class="cited" data-figure={y1 - y0 > LINE_HEIGHT} key={`${x0} ${y0}`} {...place} />
          })}
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

export const SourcePages = ({ shown, text }: { shown: OpenSource; text: DocumentText }) => {
  const pages = text.pages.length
  const [number, setNumber] = useState(shown.page ?? 1)
  const body = useRef<HTMLElement>(null)
  const isPhone = matchMedia("(max-width: 40rem)").matches
  const [zoom, setZoom] = useState(text.document.format === "pdf" && isPhone ? PHONE_ZOOM : 1)
  const { error, value: page } = useLoaded(
    () => loadPage(shown.collection, shown.documentId, number),
    [shown.documentId, number]
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const by = ({ "+": 1, "=": 1, "-": -1 } as const)[event.key]
      const typing = event.target instanceof HTMLElement && event.target.matches("input, textarea")
      if (by === undefined || typing || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      setZoom((now) => zoomed(now, by))
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [])
  useEffect(() => setNumber(shown.page ?? 1), [shown])
  useLayoutEffect(
    () => scrollToQuote(body.current, shown.figure === undefined ? "center" : "nearest"),
    [shown, page, zoom]
  )
  const cited = shown.boxes.filter((each) => each.page === page?.number).map(({ box }) => box)
  return (
    <section class="source-body pages" ref={body} aria-label={`Page ${number} of ${pages}`}>
      <ErrorMessage error={error} />
      {page !== undefined && (
        <PageImage shown={shown} page={page} cited={page.number === number ? cited : []} zoom={zoom} />
      )}
      <fieldset class="row unbroken page-steps card floating" aria-label="Pages">
        {pages > 1 && (
          <Steps
            label="Page"
            back={{ label: "Previous page", sign: "‹", "aria-disabled": number <= 1 }}
            forward={{ label: "Next page", sign: "›", "aria-disabled": number >= pages }}
            onStep={(by) => setNumber(Math.max(1, Math.min(pages, number + by)))}
          >
            <span aria-live="polite">
              Page <b>{number}</b> of {pages}
            </span>
          </Steps>
        )}
        <Steps
          label="Zoom"
          back={{
            label: "Zoom out",
            sign: "−",
            "aria-keyshortcuts": "-",
            "aria-disabled": zoom === ZOOMS[0]
          }}
          forward={{
            label: "Zoom in",
            sign: "+",
            "aria-keyshortcuts": "+",
            "aria-disabled": zoom === ZOOMS.at(-1)
          }}
          onStep={(by) => setZoom(zoomed(zoom, by))}
        >
          <span aria-live="polite">{Math.round(zoom * 100)} %</span>
        </Steps>
      </fieldset>
    </section>
  )
}
