/** A paged document, page by page, from the cited one. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { PageContent } from "../../contract/index.ts"
import { toFailure } from "../api/RequestError.ts"
import type { Source } from "./source.ts"
import { loadPage } from "../documents/documentTexts.ts"
import { PageFacsimile } from "./PageFacsimile.tsx"
import { scrollToQuote } from "./scrollToQuote.ts"
import { zoomed, ZoomSteps } from "./ZoomSteps.tsx"

/** A whole page on a phone would be too small to read: it begins larger, at what is cited. */
const PHONE_ZOOM = 1.5

interface Props {
  readonly shown: Source
  readonly pages: number
  /** Small print, which a phone shows larger from the start. */
  readonly dense: boolean
}

export const SourcePages = ({ dense, pages, shown }: Props) => {
  const [number, setNumber] = useState(shown.page ?? 1)
  const [page, setPage] = useState<PageContent | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const body = useRef<HTMLElement>(null)
  const [zoom, setZoom] = useState(dense && matchMedia("(max-width: 40rem)").matches ? PHONE_ZOOM : 1)

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
  useEffect(() => {
    let here = true
    setProblem(undefined)
    loadPage(shown.collection, shown.documentId, number).then(
      (loaded) => here && setPage(loaded),
      (thrown: unknown) => here && setProblem(toFailure(thrown).message)
    )
    return () => {
      here = false
    }
  }, [shown.documentId, number])
  useLayoutEffect(
    () => scrollToQuote(body.current, shown.figure === undefined ? "center" : "nearest"),
    [shown, page, zoom]
  )

  const cited = shown.boxes.filter((each) => each.page === number).map(({ box }) => box)
  return (
    <section class="source-body pages" ref={body} aria-label={`Page ${number} of ${pages}`}>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {page !== undefined && (
        <PageFacsimile
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
            <button
              class="icon"
              type="button"
              aria-label="Previous page"
              aria-disabled={number <= 1}
              onClick={() => setNumber(Math.max(1, number - 1))}
            >
              ‹
            </button>
            <span aria-live="polite">
              Page <b>{number}</b> of {pages}
            </span>
            <button
              class="icon"
              type="button"
              aria-label="Next page"
              aria-disabled={number >= pages}
              onClick={() => setNumber(Math.min(pages, number + 1))}
            >
              ›
            </button>
          </>
        )}
        <ZoomSteps zoom={zoom} onZoom={setZoom} />
      </fieldset>
    </section>
  )
}
