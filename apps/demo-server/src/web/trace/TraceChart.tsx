/**
 * The trace as a picture: passages as vector and keywords together recalled them on the left, as the reranker ordered them on the
 * right, before them the gate: planks where it is shut, rows where it is open.
 */
import { useRef, useState } from "preact/hooks"
import type { Trace } from "../../contract/index.ts"
import { openPassage } from "../source/source.ts"
import { TraceDetail } from "./TraceDetail.tsx"
import { TraceGate } from "./TraceGate.tsx"
import { TraceLines } from "./TraceLines.tsx"
import { TraceRow, type Side } from "./TraceRow.tsx"

type Traced = Trace["passages"][number]

interface Props {
  readonly recalled: ReadonlyArray<Traced>
  readonly reranked: ReadonlyArray<Traced>
}

/** The passage that is pointed at, in which row, and whether there is more room above it than below. */
interface Pointed {
  readonly traced: Traced
  readonly row: number
  readonly above: boolean
}

export const TraceChart = ({ recalled, reranked }: Props) => {
  const [pointed, setPointed] = useState<Pointed | undefined>(undefined)
  const chart = useRef<HTMLDivElement>(null)
  const stop = pointed?.traced ?? reranked[0]

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return setPointed(undefined)
    const rows = [...(chart.current?.querySelectorAll<HTMLButtonElement>(".trace-recalled button") ?? [])]
    const at = rows.findIndex((row) => row === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (at === -1 || to === undefined) return
    event.preventDefault()
    rows[Math.max(0, Math.min(rows.length - 1, to))]?.focus()
  }

  const rowOf = (side: Side) => (traced: Traced, row: number) => (
    <TraceRow
      key={traced.passage.id}
      traced={traced}
      side={side}
      active={traced === pointed?.traced}
      stop={traced === stop}
      onPoint={(at) => setPointed({ traced, row, above: at.getBoundingClientRect().top > innerHeight / 2 })}
      onLeave={() => setPointed(undefined)}
      onOpen={() => openPassage(traced)}
      onKeyDown={onKeyDown}
    />
  )

  return (
    <div class="trace-chart" ref={chart} style={{ "--rows": recalled.length }}>
      <span class="trace-label trace-legs">
        <span>recalled</span>
        <span class="leg" title="Rank among those that the vector found">
          vector
        </span>
        <span class="leg" title="Rank among those that keywords found">
          words
        </span>
      </span>
      <span class="trace-label">reranked</span>
      <ol class="trace-recalled" aria-label="Recalled, by vector and keywords">
        {recalled.map(rowOf("recalled"))}
      </ol>
      <TraceLines recalled={recalled} reranked={reranked} active={pointed?.traced.passage.id} />
      <TraceGate rows={reranked.map(({ kept }) => kept)} />
      <ol class="trace-reranked" aria-hidden="true">
        {reranked.map(rowOf("reranked"))}
      </ol>
      {pointed !== undefined && (
        <TraceDetail
          traced={pointed.traced}
          above={pointed.above}
          rows={pointed.above ? recalled.length - pointed.row : pointed.row + 1}
        />
      )}
    </div>
  )
}
