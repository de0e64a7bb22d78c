/** One passage of the trace, read closer: beside its row. */
import type { Trace } from "../../contract/index.ts"
import { visibleText } from "../source/visibleText.ts"
import { placeOf } from "./placeOf.ts"

interface Props {
  readonly traced: Trace["passages"][number]
  /** Above its row instead of below. */
  readonly above: boolean
  /** How many rows from the edge of the chart that it hangs from. */
  readonly rows: number
}

export const TraceDetail = ({ above, rows, traced }: Props) => {
  const { kept, passage, recallRank, rerankRank, rerankScore, similarity } = traced
  const { document, headings, page, text } = passage
  return (
    <div class="trace-detail" data-kept={kept} data-above={above} style={{ "--at": rows }}>
      <p class="place">{placeOf(document.title, headings, page)}</p>
      <p class="snippet">{visibleText(text, document.format === "markdown")}</p>
      <p class="scores">
        <span>
          recalled <b>{recallRank}</b> at {similarity.toFixed(3)}
        </span>
        <span>
          reranked <b>{rerankRank}</b> at {rerankScore.toFixed(3)}
        </span>
        <span>{kept ? "passed the gate" : "held back"}</span>
      </p>
    </div>
  )
}
