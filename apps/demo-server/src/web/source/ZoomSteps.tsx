/** How large a page is shown. */

/** 1 fits the width. */
export const ZOOMS = [1, 1.5, 2, 3] as const

/** The next size up or down; the same at either end. */
export const zoomed = (zoom: number, by: 1 | -1): number =>
  by === 1 ? (ZOOMS.find((each) => each > zoom) ?? zoom) : (ZOOMS.findLast((each) => each < zoom) ?? zoom)

interface Props {
  readonly zoom: number
  readonly onZoom: (zoom: number) => void
}

export const ZoomSteps = ({ onZoom, zoom }: Props) => (
  <fieldset class="steps" aria-label="Size of the page">
    <button
      class="icon"
      type="button"
      aria-label="Smaller"
      aria-keyshortcuts="-"
      aria-disabled={zoom === ZOOMS[0]}
      onClick={() => onZoom(zoomed(zoom, -1))}
    >
      −
    </button>
    <span aria-live="polite">{Math.round(zoom * 100)} %</span>
    <button
      class="icon"
      type="button"
      aria-label="Larger"
      aria-keyshortcuts="+"
      aria-disabled={zoom === ZOOMS.at(-1)}
      onClick={() => onZoom(zoomed(zoom, 1))}
    >
      +
    </button>
  </fieldset>
)
