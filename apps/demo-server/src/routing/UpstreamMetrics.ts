/** Metrics of the calls to upstreams. */
import type { GatewayError } from "@sluice/core"
import { Cause, Clock, Context, Effect, Exit, Metric } from "effect"

/** From an embedding nearby to a long image. */
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** The labels of a call. All come from the configuration, so that their number is limited. */
interface UpstreamCall {
  readonly upstream: string
  readonly operation: string
  /** The group of the model: `V-A`, `I1`, `chat` …; the operation if it is unknown. */
  readonly group: string
}

const makeSeries = ({ group, operation, upstream }: UpstreamCall, outcome: string) => ({
  calls: Metric.counter("sluice_upstream_calls_total", {
    description: "Calls to upstreams",
    incremental: true,
    attributes: { upstream, operation, group, outcome }
  }),
  seconds: Metric.histogram("sluice_upstream_seconds", {
    description: "Seconds of a call to an upstream",
    boundaries: SECONDS,
    attributes: { upstream, operation }
  })
})

/** By labels, because making a metric costs more than an update. */
const series = new Map<string, ReturnType<typeof makeSeries>>()

const seriesOf = (call: UpstreamCall, outcome: string) => {
  const name = `${call.upstream}\n${call.operation}\n${call.group}\n${outcome}`
  const found = series.get(name) ?? makeSeries(call, outcome)
  series.set(name, found)
  return found
}

/** `ok`, the tag of the reason, or `interrupted`. */
const outcomeOf = (exit: Exit.Exit<unknown, GatewayError>): string => {
  if (Exit.isSuccess(exit)) return "ok"
  const error = Cause.findErrorOption(exit.cause)
  if (error._tag === "Some") return error.value.reason._tag
  return Cause.hasInterrupts(exit.cause) ? "interrupted" : "defect"
}

/** Begins a call. The result counts it when it has ended. */
export const startUpstreamCall = (call: UpstreamCall) =>
  Effect.contextWith((context: Context.Context<never>) => {
    const clock = Context.get(context, Clock.Clock)
    const start = clock.currentTimeMillisUnsafe()
    return Effect.succeed((exit: Exit.Exit<unknown, GatewayError>) =>
      Effect.sync(() => {
        const { calls, seconds } = seriesOf(call, outcomeOf(exit))
        calls.updateUnsafe(1, context)
        seconds.updateUnsafe((clock.currentTimeMillisUnsafe() - start) / 1000, context)
      })
    )
  })

/** Counts a call and its seconds: of a stream, until its head. */
export const countUpstreamCall =
  (call: UpstreamCall) =>
  <A, R>(self: Effect.Effect<A, GatewayError, R>): Effect.Effect<A, GatewayError, R> =>
    Effect.flatMap(startUpstreamCall(call), (end) => Effect.onExit(self, end))
