/** From citation to citation, and on to the figures that were looked at. */
import { stepCitation, stops } from "./source.ts"

export const CitationSteps = ({ stop }: { readonly stop: string }) => (
  <fieldset class="steps" aria-label="Citations">
    <button
      class="icon"
      type="button"
      aria-label="Previous citation"
      aria-keyshortcuts="K ArrowLeft"
      onClick={() => stepCitation(-1)}
    >
      ‹
    </button>
    <span>
      <b>{stops.value.findIndex((each) => each.stop === stop) + 1}</b> of {stops.value.length}
    </span>
    <button
      class="icon"
      type="button"
      aria-label="Next citation"
      aria-keyshortcuts="J ArrowRight"
      onClick={() => stepCitation(1)}
    >
      ›
    </button>
  </fieldset>
)
