/** A paged document, page by page, from the cited page. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { loadPage } from "../documents/documents.ts"
import { PageImage } from "./PageImage.tsx"
import { scrollToQuote } from "./scrollToQuote.ts"
import type { OpenSource } from "./source.ts"
import { useLoaded } from "./useLoaded.ts"

/** A page of small print is too small on a phone: it starts enlarged, at the cited part. */
const PHONE_ZOOM = 1.5

/** 1 fits the width. */
const ZOOMS = [1, PHONE_ZOOM, 2, 3] as const

/** The next size up or down; the same at either end. */
const zoomed = (zoom: number, by: 1 | -1): number =>
  by === 1 ? (ZOOMS.find((each) => each > zoom) ?? zoom) : (ZOOMS.findLast((each) => each < zoom) ?? zoom)

interface StepProps {
  readonly label: string
  readonly sign: string
  readonly onStep: () => void
  /** At the end. */
  readonly disabled?: boolean
  readonly keys?: string
}

/** A button that steps forward or back. */
export const StepButton = ({ disabled, keys, label, onStep, sign }: StepProps) => (
  <button
    class="icon"
    type="button"
    aria-label={label}
    aria-keyshortcuts={keys}
    aria-disabled={disabled}
    onClick={onStep}
  >
    {sign}
  </button>
)

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
            <StepButton
              label="Previous page"
              sign="‹"
              disabled={number <= 1}
              onStep={() => setNumber(Math.max(1, number - 1))}
            />
            <span aria-live="polite">
              Page <b>{number}</b> of {pages}
            </span>
            <StepButton
              label="Next page"
              sign="›"
              disabled={number >= pages}
              onStep={() => setNumber(Math.min(pages, number + 1))}
            />
          </>
        )}
        <fieldset class="steps" aria-label="Zoom">
          <StepButton
            label="Zoom out"
            sign="−"
            keys="-"
            disabled={zoom === ZOOMS[0]}
            onStep={() => setZoom(zoomed(zoom, -1))}
          />
          <span aria-live="polite">{Math.round(zoom * 100)} %</span>
          <StepButton
            label="Zoom in"
            sign="+"
            keys="+"
            disabled={zoom === ZOOMS.at(-1)}
            onStep={() => setZoom(zoomed(zoom, 1))}
          />
        </fieldset>
      </fieldset>
    </section>
  )
}
