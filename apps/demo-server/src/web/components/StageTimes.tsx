/** How long each stage took, as lengths of one bar. */
import type { Trace } from "../../contract/index.ts"

const NAME = { embed: "embed", recall: "recall", rerank: "rerank", look: "look", read: "read" } as const

/** Two figures are enough to compare by. */
const duration = (milliseconds: number): string =>
  milliseconds >= 1000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${milliseconds >= 10 ? Math.round(milliseconds) : milliseconds.toFixed(1)} ms`

export const StageTimes = ({ stages }: { readonly stages: Trace["stages"] }) => {
  if (stages.length === 0) return null
  const total = stages.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
  return (
    <figure class="stages">
      <figcaption>{duration(total)}</figcaption>
      <ul>
        {stages.map(({ milliseconds, stage }) => (
          <li
            key={stage}
            data-stage={stage}
            style={{ flexGrow: Math.max(milliseconds / (total || 1), 0.02) }}
          >
            <span class="name">{NAME[stage]}</span> <span class="time">{duration(milliseconds)}</span>
          </li>
        ))}
      </ul>
    </figure>
  )
}
