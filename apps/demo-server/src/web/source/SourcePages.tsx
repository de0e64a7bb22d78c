/** A paged document, page by page, from the cited page. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { toRequestError } from "../api/request.ts"
import { loadPage } from "../documents/documents.ts"
import { IconButton } from "../ui/Button.tsx"
import { PageImage } from "./PageImage.tsx"
import type { OpenSource } from "./source.ts"
import { scrollToQuote } from "./SourceText.tsx"

interface Loaded<A> {
  readonly value?: A
  readonly error?: string
}

/** Loads again when a dependency changes; the value before stays until then. A late response is dropped. */
export const useLoaded = <A,>(load: () => Promise<A>, dependencies: ReadonlyArray<unknown>): Loaded<A> => {
  const [loaded, setLoaded] = useState<Loaded<A>>({})
  useEffect(() => {
    let active = true
    setLoaded(({ value }) => (value === undefined ? {} : { value }))
    load().then(
      (value) => active && setLoaded({ value }),
      (thrown: unknown) => active && setLoaded((now) => ({ ...now, error: toRequestError(thrown).message }))
    )
    return () => {
      active = false
    }
  }, dependencies)
  return loaded
}

/** A page of small print is too small on a phone: it starts enlarged, at the cited part. */
const PHONE_ZOOM = 1.5

/** 1 fits the width. */
const ZOOMS = [1, PHONE_ZOOM, 2, 3] as const

/** The next size up or down; the same at either end. */
const zoomed = (zoom: number, by: 1 | -1): number =>
  by === 1 ? (ZOOMS.find((each) => each > zoom) ?? zoom) : (ZOOMS.findLast((each) => each < zoom) ?? zoom)

interface Props {
  readonly shown: OpenSource
  readonly pages: number
  /** Whether its print is small. */
  readonly dense: boolean
}

export const SourcePages = ({ dense, pages, shown }: Props) => {
  const [number, setNumber] = useState(shown.page ?? 1)
  const body = useRef<HTMLElement>(null)
  const [zoom, setZoom] = useState(dense && matchMedia("(max-width: 40rem)").matches ? PHONE_ZOOM : 1)
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
      {error !== undefined && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      {page !== undefined && (
        <PageImage
          collection={shown.collection}
          documentId={shown.documentId}
          page={page}
          cited={page.number === number ? cited : []}
          zoom={zoom}
        />
      )}
      <fieldset class="page-steps" aria-label="Pages">
        {pages > 1 && (
          <>
            <IconButton
              label="Previous page"
              sign="‹"
              aria-disabled={number <= 1}
              onClick={() => setNumber(Math.max(1, number - 1))}
            />
            <span aria-live="polite">
              Page <b>{number}</b> of {pages}
            </span>
            <IconButton
              label="Next page"
              sign="›"
              aria-disabled={number >= pages}
              onClick={() => setNumber(Math.min(pages, number + 1))}
            />
          </>
        )}
        <fieldset class="steps" aria-label="Zoom">
          <IconButton
            label="Zoom out"
            sign="−"
            aria-keyshortcuts="-"
            aria-disabled={zoom === ZOOMS[0]}
            onClick={() => setZoom(zoomed(zoom, -1))}
          />
          <span aria-live="polite">{Math.round(zoom * 100)} %</span>
          <IconButton
            label="Zoom in"
            sign="+"
            aria-keyshortcuts="+"
            aria-disabled={zoom === ZOOMS.at(-1)}
            onClick={() => setZoom(zoomed(zoom, 1))}
          />
        </fieldset>
      </fieldset>
    </section>
  )
}
