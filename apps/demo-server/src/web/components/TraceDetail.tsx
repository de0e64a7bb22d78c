/** One passage of the trace, read closer: below its row, or above it in the lower half. */
import type { Trace } from "../../contract/index.ts"
import { visibleText } from "../source/visibleText.ts"
import { placeOf } from "./placeOf.ts"

interface Props {
  readonly traced: Trace["passages"][number]
  readonly row: number
  readonly rows: number
}

export const TraceDetail = ({ row, rows, traced }: Props) => {
  const { kept, passage, recallRank, rerankRank, rerankScore, similarity } = traced
  const { document, headings, page, text } = passage
  return (
    <div
      class="trace-detail"
      data-kept={kept}
      data-above={row >= rows / 2}
      style={{ "--at": row >= rows / 2 ? rows - row : row + 1 }}
    >
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
