/** One passage of the chart: its row, and its details under the pointer. */
import type { Trace } from "../../contract/index.ts"
import { plainText } from "../markdown/inline.ts"
import { figureLabel, locationText } from "../source/source.ts"

export type TraceSide = "recalled" | "reranked"

interface Props {
  readonly traced: Trace["passages"][number]
  /** Its place on this side, from 1. */
  readonly place: number
  readonly side: TraceSide
  readonly active: boolean
  /** Whether the Tab key stops here: once for all rows. */
  readonly tabStop: boolean
  readonly onPoint: (at: Element) => void
  readonly onLeave: () => void
  readonly onOpen: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** `4.2 Weir gates` as `Weir gates`: beside a rank, the number of a section reads as another rank. */
const withoutNumber = (heading: string): string =>
  heading.replace(/^(\d+(\.\d+)*\.?|[IVX]+\.)\s+(?=\p{L})/u, "")

/** The left side takes the keyboard; the right repeats it for the eye. */
export const TraceRow = ({ active, place, side, tabStop, traced, ...on }: Props) => {
  const { keywordRank, kept, passage, rerankRank, rerankScore, vectorRank } = traced
  const isLeft = side === "recalled"
  const heading = withoutNumber(passage.headings.at(-1) ?? passage.document.title)
  const name = passage.figure === undefined ? heading : `${figureLabel(passage.figure)}, ${heading}`
  const searches = [
    ...(vectorRank === undefined ? [] : [`vector ${vectorRank}`]),
    ...(keywordRank === undefined ? [] : [`keywords ${keywordRank}`])
  ].join(", ")
  // A finger cannot point: the first touch shows the detail, the second opens the passage.
  const onClick = (event: MouseEvent) =>
    event instanceof PointerEvent && event.pointerType === "touch" && !active
      ? on.onPoint(event.currentTarget as Element)
      : on.onOpen()
  return (
    <li data-kept={kept} data-active={active}>
      <button
        type="button"
        tabIndex={isLeft && tabStop ? 0 : -1}
        aria-label={`${name}, ${passage.document.title}. Before reranking ${place}, ${searches}; after reranking ${rerankRank}${kept ? ", kept" : ""}.`}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && on.onPoint(event.currentTarget)}
        onBlur={on.onLeave}
        onPointerEnter={(event) => event.pointerType === "mouse" && on.onPoint(event.currentTarget)}
        onPointerLeave={(event) => event.pointerType === "mouse" && on.onLeave()}
        onKeyDown={on.onKeyDown}
        onClick={onClick}
      >
        <span class="rank">{place}</span>
        <span class="passage-name">{name}</span>
        {isLeft ? (
          <>
            <span class="search-rank">{vectorRank ?? "–"}</span>
            <span class="search-rank">{keywordRank ?? "–"}</span>
          </>
        ) : (
          <span class="score">{rerankScore?.toFixed(2)}</span>
        )}
      </button>
    </li>
  )
}

interface DetailProps {
  readonly traced: Trace["passages"][number]
  /** Above its row, not below. */
  readonly above: boolean
  /** Rows between the edge of the chart and this box. */
  readonly rows: number
}

/** A search returns its best passages only: a passage without a rank may still match. */
const Rank = ({ name, rank, score }: { name: string; rank: number | undefined; score: number | undefined }) =>
  rank === undefined ? (
    <span>not in the top {name} matches</span>
  ) : (
    <span>
      {name} <b>{rank}</b>
      {score !== undefined && ` (${score.toFixed(score < 1 ? 3 : 1)})`}
    </span>
  )

export const TraceDetail = ({ above, rows, traced }: DetailProps) => {
  const { keywordRank, keywordScore, kept, passage, recallRank, recallScore } = traced
  const { rerankRank, rerankScore, sameAs, similarity, vectorRank } = traced
  const { document, figure, headings, page, text } = passage
  return (
    <div class="trace-detail" data-kept={kept} data-above={above} style={{ "--at": rows }}>
      <p class="location">
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
