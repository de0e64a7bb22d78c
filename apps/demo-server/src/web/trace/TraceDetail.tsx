/** The passage under the pointer, with its ranks and scores. */
import type { Trace } from "../../contract/index.ts"
import { plainText } from "../markdown/plainText.ts"
import { figureLabel, locationText } from "../source/source.ts"

interface Props {
  readonly traced: Trace["passages"][number]
  /** Above its row, not below. */
  readonly above: boolean
  /** Rows between the edge of the chart and this box. */
  readonly rows: number
}

interface RankProps {
  readonly name: string
  readonly rank: number | undefined
  readonly score: number | undefined
}

/** A search returns its best passages only: a passage without a rank may still match. */
const Rank = ({ name, rank, score }: RankProps) =>
  rank === undefined ? (
    <span>not in the top {name} matches</span>
  ) : (
    <span>
      {name} <b>{rank}</b>
      {score !== undefined && ` (${score.toFixed(score < 1 ? 3 : 1)})`}
    </span>
  )

export const TraceDetail = ({ above, rows, traced }: Props) => {
  const { keywordRank, keywordScore, kept, passage, recallRank, recallScore } = traced
  const { rerankRank, rerankScore, sameAs, similarity, vectorRank } = traced
  const { document, figure, headings, page, text } = passage
  return (
    <div class="trace-detail" data-kept={kept} data-above={above} style={{ "--at": rows }}>
      <p class="place">
        {figure !== undefined && `${figureLabel(figure)}, `}
        {locationText(document.title, headings, page)}
      </p>
      <p class="snippet">{plainText(text, document.format === "markdown")}</p>
      <p class="scores">
        <Rank name="vector" rank={vectorRank} score={similarity} />
        <Rank name="keyword" rank={keywordRank} score={keywordScore} />
        <Rank name="fused" rank={recallRank} score={recallScore} />
        <Rank name="reranked" rank={rerankRank} score={rerankScore} />
        <span>{kept ? "kept" : sameAs === undefined ? "not kept" : "repeats a kept passage"}</span>
      </p>
    </div>
  )
}
