/** The streams from recall to rerank, the broader the more similar. Drawn in rows and per cent, so that it fits any width. */
import type { Trace } from "../../contract/index.ts"

interface Props {
  readonly passages: Trace["passages"]
  readonly active: string | undefined
}

const y = (rank: number): number => rank - 0.5

export const TraceLines = ({ active, passages }: Props) => (
  <svg
    class="trace-lines"
    viewBox={`0 0 100 ${passages.length}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    {[...passages]
      .toSorted((a, b) => Number(a.kept) - Number(b.kept))
      .map(({ kept, passage, recallRank, rerankRank, similarity }) => (
        <path
          key={passage.id}
          class="stream"
          data-kept={kept}
          data-active={passage.id === active}
          stroke-width={kept ? 2.5 : 0.75 + 1.5 * Math.max(0, similarity)}
          d={`M0 ${y(recallRank)} C55 ${y(recallRank)} 45 ${y(rerankRank)} 100 ${y(rerankRank)}`}
        />
      ))}
  </svg>
)
