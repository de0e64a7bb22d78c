/** One passage of the trace, read closer. */
import type { Trace } from "../../contract/index.ts"
import { openPassage } from "../state/source.ts"
import { placeOf } from "./placeOf.ts"

export const TraceDetail = ({ traced }: { readonly traced: Trace["passages"][number] }) => {
  const { kept, passage, recallRank, rerankRank, rerankScore, similarity } = traced
  return (
    <div class="trace-detail" data-kept={kept}>
      <p class="place">{placeOf(passage.document.title, passage.headings, passage.page)}</p>
      <p class="snippet">{passage.text}</p>
      <p class="scores">
        <span>
          recalled <b>{recallRank}</b> at {similarity.toFixed(3)}
        </span>
        <span>
          reranked <b>{rerankRank}</b> at {rerankScore.toFixed(3)}
        </span>
        <span>{kept ? "passed the gate" : "held back"}</span>
        <button class="link" type="button" onClick={() => openPassage(traced)}>
          Read it in the document
        </button>
      </p>
    </div>
  )
}
