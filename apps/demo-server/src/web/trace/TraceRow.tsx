/** One passage at its place, on one side of the picture. */
import type { Trace } from "../../contract/index.ts"
import { figureName } from "../source/figureName.ts"

export type Side = "recalled" | "reranked"

/** Which of the two ways found it, and where. */
const legsOf = ({ keywordRank, vectorRank }: Trace["passages"][number]): string =>
  [
    ...(vectorRank === undefined ? [] : [`by vector ${vectorRank}`]),
    ...(keywordRank === undefined ? [] : [`by keywords ${keywordRank}`])
  ].join(", ")

interface Props {
  readonly traced: Trace["passages"][number]
  readonly side: Side
  readonly active: boolean
  /** Whether the Tab key stops here: once for all rows. */
  readonly stop: boolean
  readonly onPoint: (at: Element) => void
  readonly onLeave: () => void
  readonly onOpen: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** The left side takes the keyboard; the right mirrors it for the eye. */
export const TraceRow = ({ active, side, stop, traced, ...on }: Props) => {
  const { keywordRank, kept, passage, recallRank, rerankRank, rerankScore, vectorRank } = traced
  const left = side === "recalled"
  const place = passage.headings.at(-1) ?? passage.document.title
  const heading = passage.figure === undefined ? place : `${figureName(passage.figure)}, ${place}`
  // A finger has nothing to point with: its first touch shows, the second opens.
  const onClick = (event: MouseEvent) =>
    event instanceof PointerEvent && event.pointerType === "touch" && !active
      ? on.onPoint(event.currentTarget as Element)
      : on.onOpen()
  return (
    <li data-kept={kept} data-active={active}>
      <button
        type="button"
        tabIndex={left && stop ? 0 : -1}
        aria-label={`${heading}, ${passage.document.title}. Recalled ${recallRank}, ${legsOf(traced)}; reranked ${rerankRank}${kept ? ", kept" : ""}.`}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && on.onPoint(event.currentTarget)}
        onBlur={on.onLeave}
        onPointerEnter={(event) => event.pointerType === "mouse" && on.onPoint(event.currentTarget)}
        onPointerLeave={(event) => event.pointerType === "mouse" && on.onLeave()}
        onKeyDown={on.onKeyDown}
        onClick={onClick}
      >
        <span class="rank">{left ? recallRank : rerankRank}</span>
        <span class="what">{heading}</span>
        {left ? (
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
