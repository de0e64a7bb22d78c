/** One passage on one side of the chart. */
import type { Trace } from "../../contract/index.ts"
import { figureLabel } from "../source/source.ts"

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

/** The left side takes the keyboard; the right repeats it for the eye. */
export const TraceRow = ({ active, place, side, tabStop, traced, ...on }: Props) => {
  const { keywordRank, kept, passage, rerankRank, rerankScore, vectorRank } = traced
  const isLeft = side === "recalled"
  const heading = passage.headings.at(-1) ?? passage.document.title
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
        <span class="what">{name}</span>
        {isLeft ? (
          <>
            <span class="leg">{vectorRank ?? "–"}</span>
            <span class="leg">{keywordRank ?? "–"}</span>
          </>
        ) : (
          <span class="score">{rerankScore?.toFixed(2)}</span>
        )}
      </button>
    </li>
  )
}
