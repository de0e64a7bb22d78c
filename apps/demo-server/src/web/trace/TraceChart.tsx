/**
 * The trace as a chart: passages by fused rank on the left, by reranked rank on the right, and between them the gate, with
 * a plank in front of every passage that is not kept.
 */
import { useRef, useState } from "preact/hooks"
import type { Trace } from "../../contract/index.ts"
import { openPassage } from "../source/source.ts"
import { TraceDetail, TraceRow, type TraceSide } from "./TraceRow.tsx"

type Passages = Trace["passages"]

interface Props {
  readonly recalled: Passages
  readonly reranked: Passages
}

interface LinesProps extends Props {
  readonly active: string | undefined
}

/** The middle of a row, from 0. */
const y = (row: number): number => row + 0.5

/** A line for each passage, wider with its fused score. Drawn in rows and per cent, to fit any width. */
const Lines = ({ active, recalled, reranked }: LinesProps) => {
  const highest = Math.max(Number.MIN_VALUE, ...recalled.map(({ recallScore }) => recallScore))
  const rows = new Map(reranked.map(({ passage }, row) => [passage.id, row]))
  return (
    <svg
      class="trace-lines"
      viewBox={`0 0 100 ${recalled.length}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {recalled
        .map((traced, from) => ({ ...traced, from, to: rows.get(traced.passage.id) ?? from }))
        .toSorted((a, b) => Number(a.kept) - Number(b.kept))
        .map(({ from, kept, passage, recallScore, to }) => (
          <path
            key={passage.id}
            class="stream"
            data-kept={kept}
            data-active={passage.id === active}
            stroke-width={kept ? 2.5 : 0.75 + 1.5 * Math.max(0, recallScore / highest)}
            d={`M0 ${y(from)} C55 ${y(from)} 45 ${y(to)} 100 ${y(to)}`}
          />
        ))}
    </svg>
  )
}

/** The passage under the pointer, its row, and whether there is more room above it than below. */
interface Pointed {
  readonly traced: Passages[number]
  readonly row: number
  readonly above: boolean
}

export const TraceChart = ({ recalled, reranked }: Props) => {
  const [pointed, setPointed] = useState<Pointed | undefined>(undefined)
  const chart = useRef<HTMLDivElement>(null)
  const tabStop = pointed?.traced ?? reranked[0]

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return setPointed(undefined)
    const rows = [...(chart.current?.querySelectorAll<HTMLButtonElement>(".trace-recalled button") ?? [])]
    const at = rows.findIndex((row) => row === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (at === -1 || to === undefined) return
    event.preventDefault()
    rows[Math.max(0, Math.min(rows.length - 1, to))]?.focus()
  }

  const rowOf = (side: TraceSide) => (traced: Passages[number], row: number) => (
    <TraceRow
      key={traced.passage.id}
      traced={traced}
      place={row + 1}
      side={side}
      active={traced === pointed?.traced}
      tabStop={traced === tabStop}
      onPoint={(at) => setPointed({ traced, row, above: at.getBoundingClientRect().top > innerHeight / 2 })}
      onLeave={() => setPointed(undefined)}
      onOpen={() => openPassage(traced)}
      onKeyDown={onKeyDown}
    />
  )

  return (
    <div class="trace-chart" ref={chart} style={{ "--rows": recalled.length }}>
      <span class="trace-label trace-ranks">
        <span>before reranking</span>
        <span class="search-rank" title="Rank in the vector search">
          vector
        </span>
        <span class="search-rank" title="Rank in the keyword search">
          keyword
        </span>
      </span>
      <span class="trace-label">after reranking</span>
      <ol class="trace-recalled" aria-label="Passages before reranking">
        {recalled.map(rowOf("recalled"))}
      </ol>
      <Lines recalled={recalled} reranked={reranked} active={pointed?.traced.passage.id} />
      <div class="trace-gate" aria-hidden="true">
        {reranked.map(({ kept, passage }) => (
          <span key={passage.id} class={kept ? "opening" : "plank"} />
        ))}
      </div>
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
