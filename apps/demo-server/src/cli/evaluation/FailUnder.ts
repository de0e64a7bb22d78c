/** `--fail-under METRIC=VALUE`: a result that is too low ends the command with exit code 1. */
import { RagError } from "@sluice/rag"
import { METRICS, type RunMetrics } from "@sluice/rag/evaluation"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { failed, note } from "../output/Output.ts"

/** May be given several times. */
export const failUnder = Flag.KeyValuePair("fail-under").pipe(
  Flag.withDescription(
    "METRIC=VALUE, such as nDCG@10=.4: exit code 1 when the default falls below it. May be repeated"
  ),
  Flag.optional
)

type Limits = Option.Option<Readonly<Record<string, string>>>

const isMetric = (name: string): name is keyof RunMetrics => METRICS.some((metric) => metric === name)

/** Reads the limits before anything is measured; fails with `Malformed`. */
export const readLimits = (limits: Limits) =>
  Effect.forEach(Object.entries(Option.getOrElse(limits, () => ({}))), ([metric, value]) => {
    const least = Number(value)
    return isMetric(metric) && value.trim() !== "" && Number.isFinite(least)
      ? Effect.succeed({ metric, least })
      : Effect.fail(
          new RagError({
            stage: "evaluate",
            reason: "Malformed",
            message: `--fail-under ${metric}=${value} is no limit: write one of ${METRICS.join(", ")}, then = and a number, such as nDCG@10=.4`
          })
        )
  })

/** Says which limits a run falls below, and sets the exit code. */
export const checkLimits = Effect.fn("cli.checkLimits")(function* (
  limits: Effect.Success<ReturnType<typeof readLimits>>,
  name: string,
  metrics: RunMetrics | undefined
) {
  for (const { least, metric } of limits) {
    const reached = metrics?.[metric] ?? 0
    if (reached >= least) continue
    yield* note(
      `sluice: ${metric} of ${name} is ${reached.toFixed(4)}, below the ${least} that is asked for.`
    )
    yield* failed
  }
})
