/** The number behind a sentence; it opens the source at the quote. */
import type { Citation } from "../../contract/index.ts"
import { openCitation, source } from "../source/source.ts"

interface Props {
  readonly n: number
  readonly citation: Citation | undefined
}

export const CitationButton = ({ citation, n }: Props) => (
  <button
    class="citation"
    type="button"
    aria-label={citation === undefined ? `Citation ${n}` : `Citation ${n}, ${citation.title}`}
    aria-pressed={source.value?.n === n}
    disabled={citation === undefined}
    onClick={() => citation !== undefined && openCitation(citation)}
  >
    {n}
  </button>
)
