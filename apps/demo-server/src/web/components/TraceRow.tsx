/** One passage at its place, on one side of the picture. */
import type { Trace } from "../../contract/index.ts"

interface Props {
  readonly traced: Trace["passages"][number]
  readonly side: "recalled" | "reranked"
  readonly active: boolean
  readonly onShow: () => void
  readonly onOpen: () => void
  readonly onKeyDown?: (event: KeyboardEvent) => void
}

/** The left side takes the keyboard, one stop for all rows; the right mirrors it for the eye. */
export const TraceRow = ({ active, onKeyDown, onOpen, onShow, side, traced }: Props) => {
  const { kept, passage, recallRank, rerankRank, rerankScore, similarity } = traced
  const left = side === "recalled"
  const heading = passage.headings.at(-1) ?? passage.document.title
  return (
    <li data-kept={kept} data-active={active}>
      <button
        type="button"
        tabIndex={left && active ? 0 : -1}
        aria-label={`${heading}, ${passage.document.title}. Recalled ${recallRank}, similarity ${similarity.toFixed(2)}; reranked ${rerankRank}${kept ? ", kept" : ""}.`}
        onFocus={onShow}
        onMouseEnter={onShow}
        onClick={onOpen}
        {...(onKeyDown === undefined ? {} : { onKeyDown })}
      >
        <span class="rank">{left ? recallRank : rerankRank}</span>
        <span class="what">{heading}</span>
        <span class="score">{left ? similarity.toFixed(2) : rerankScore.toFixed(2)}</span>
        {left && <span class="similarity" style={{ inlineSize: `${Math.max(0, similarity) * 100}%` }} />}
      </button>
    </li>
  )
}
