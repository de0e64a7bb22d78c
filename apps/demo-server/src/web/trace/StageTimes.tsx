/** The time of each stage, as the parts of one bar. */
import type { Trace } from "../../contract/index.ts"
import { isDemo } from "../page/status.ts"
import { duration, usd } from "../ui/format.ts"

const NAMES = { embed: "embed", recall: "recall", rerank: "rerank", look: "figures", read: "answer" } as const

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
          <span class="cost" title="Taken from your balance">
            {usd(cost)}
            {isDemo.value && " demo credit"}
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
            <span class="name">{NAMES[stage]}</span> <span class="time">{duration(milliseconds)}</span>
            {failed !== undefined && <span class="problem">failed</span>}
          </li>
        ))}
      </ul>
    </figure>
  )
}
