/** How long each stage took, as lengths of one bar. */
import type { Trace } from "../../contract/index.ts"
import { units, usd } from "../ui/money.ts"

const NAME = { embed: "embed", recall: "recall", rerank: "rerank", look: "look", read: "read" } as const

/** Two figures are enough to compare by. */
const duration = (milliseconds: number): string =>
  milliseconds >= 1000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${milliseconds >= 10 ? Math.round(milliseconds) : milliseconds.toFixed(1)} ms`

interface Props {
  readonly stages: Trace["stages"]
  /** In quota units; undefined until it is known. */
  readonly cost: number | undefined
}

export const StageTimes = ({ cost, stages }: Props) => {
  if (stages.length === 0) return null
  const total = stages.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
  return (
    <figure class="stages">
      <figcaption>
        {duration(total)}
        {cost !== undefined && (
          <span class="cost" title={`${usd(cost)} of the balance`}>
            {units(cost)}
          </span>
        )}
      </figcaption>
      <ul>
        {stages.map(({ failed, milliseconds, stage }) => (
          <li
            key={stage}
            data-stage={stage}
            title={failed}
            style={{ flexGrow: Math.max(milliseconds / (total || 1), 0.02) }}
          >
            <span class="name">{NAME[stage]}</span> <span class="time">{duration(milliseconds)}</span>
            {failed !== undefined && <span class="problem">not done</span>}
          </li>
        ))}
      </ul>
    </figure>
  )
}
