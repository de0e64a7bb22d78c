/** The quotes that the answer stands on. */
import type { Citation } from "../../contract/index.ts"
import { openCitation, source } from "../state/source.ts"
import { placeOf } from "./placeOf.ts"

export const Evidence = ({ citations }: { readonly citations: ReadonlyArray<Citation> }) => (
  <section class="evidence" aria-labelledby="evidence-title">
    <h2 id="evidence-title">Evidence</h2>
    <ol>
      {citations.map((citation) => (
        <li key={citation.n}>
          <button
            type="button"
            aria-pressed={source.value?.n === citation.n}
            onClick={() => openCitation(citation)}
          >
            <span class="number">{citation.n}</span>
            <span class="quote">{citation.quote}</span>
            <span class="place">{placeOf(citation.title, citation.headings, citation.page)}</span>
          </button>
        </li>
      ))}
    </ol>
    <p class="quiet keys">
      <kbd>J</kbd> <kbd>K</kbd> step through the citations, <kbd>Esc</kbd> closes the source.
    </p>
  </section>
)
