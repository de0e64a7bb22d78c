/** From citation to citation. */
import { current } from "../state/questions.ts"
import { stepCitation } from "../state/source.ts"

export const CitationSteps = ({ n }: { readonly n: number }) => (
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
      <b>{n}</b> of {current.value?.citations.length ?? 0}
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
