/**
 * The streams from recall to rerank, the broader the higher they were recalled. Drawn in rows and per cent, so that it
 * fits any width.
 */
import type { Trace } from "../../contract/index.ts"

type Passages = Trace["passages"]

interface Props {
  readonly recalled: Passages
  readonly reranked: Passages
  readonly active: string | undefined
}

/** The middle of a row, from 0. */
const y = (row: number): number => row + 0.5

export const TraceLines = ({ active, recalled, reranked }: Props) => {
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
