/** One passage of the trace, read closer: beside its row. */
import type { Trace } from "../../contract/index.ts"
import { figureName } from "../source/figureName.ts"
import { visibleText } from "../markdown/plainText.ts"
import { placeOf } from "../source/placeOf.ts"

interface Props {
  readonly traced: Trace["passages"][number]
  /** Above its row instead of below. */
  readonly above: boolean
  /** How many rows from the edge of the chart that it hangs from. */
  readonly rows: number
}

interface LegProps {
  readonly name: string
  readonly rank: number | undefined
  readonly score: number | undefined
}

/** One of the two ways by which a passage may be found. */
const Leg = ({ name, rank, score }: LegProps) =>
  rank === undefined ? (
    <span>not by {name}</span>
  ) : (
    <span>
      {name} <b>{rank}</b>
      {score !== undefined && ` at ${score.toFixed(score < 1 ? 3 : 1)}`}
    </span>
  )

export const TraceDetail = ({ above, rows, traced }: Props) => {
  const { keywordRank, keywordScore, kept, passage, recallRank, recallScore } = traced
  const { rerankRank, rerankScore, sameAs, similarity, vectorRank } = traced
  const { document, figure, headings, page, text } = passage
  return (
    <div class="trace-detail" data-kept={kept} data-above={above} style={{ "--at": rows }}>
      <p class="place">
        {figure !== undefined && `${figureName(figure)}, `}
        {placeOf(document.title, headings, page)}
      </p>
      <p class="snippet">{visibleText(text, document.format === "markdown")}</p>
      <p class="scores">
        <Leg name="vector" rank={vectorRank} score={similarity} />
        <Leg name="keywords" rank={keywordRank} score={keywordScore} />
        <span>
          fused <b>{recallRank}</b> at {recallScore.toFixed(3)}
        </span>
        <span>
          reranked <b>{rerankRank}</b>
          {rerankScore !== undefined && ` at ${rerankScore.toFixed(3)}`}
        </span>
        <span>
          {kept ? "passed the gate" : sameAs === undefined ? "held back" : "says the same as one kept"}
        </span>
      </p>
    </div>
  )
}
