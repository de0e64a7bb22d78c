/** Metrics of requests, in the program's `MetricRegistry`. */
import { type Context, Metric } from "effect"
import type { RequestRecord } from "./RequestRecord.ts"

/** From a cached response to a long video upload. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

const tokens = (model: string, type: "input" | "output") =>
  Metric.counter("sluice_tokens_total", {
    description: "Tokens of the calls that were served",
    incremental: true,
    attributes: { model, type }
  })

/** A request whose response was sent. */
interface ServedRequest extends RequestRecord {
  readonly method: string
  /** As the contract writes it: `/v1/videos/:id`. */
  readonly route: string
  readonly status: number
  readonly ms: number
}

/** The number of series at most. Upstreams may accept any model name: later models are counted as `other`. */
const MAX_SERIES = 1000

/** Series by name, since creating a metric costs more than updating it. */
const series = new Map<string, ReturnType<typeof seriesOf>>()
const seriesOf = (route: string, method: string, status: string, model: string) => ({
  requests: Metric.counter("sluice_requests_total", {
    description: "Requests that were answered",
    incremental: true,
    attributes: { method, route, status }
  }),
  seconds: Metric.histogram("sluice_request_seconds", {
    description: "Seconds to the answer's last byte",
    boundaries: SECONDS,
    attributes: { method, route }
  }),
  input: tokens(model, "input"),
  output: tokens(model, "output")
})

/** Counts the tokens of a call that is one of several of its request. */
export const countTokensIn = (
  context: Context.Context<never>,
  model: string,
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number }
): void => {
  tokens(model, "input").updateUnsafe(inputTokens, context)
  tokens(model, "output").updateUnsafe(outputTokens, context)
}

/** Counts a request, and its tokens if it called one model, in the `MetricRegistry` of a context. */
export const countRequest = (
  context: Context.Context<never>,
  { inputTokens, method, model = "", ms, outputTokens, route, status }: ServedRequest
): void => {
  const name = `${method} ${route} ${status} ${model}`
  let found = series.get(name)
  if (found === undefined) {
    const isFull = series.size >= MAX_SERIES
    found = seriesOf(route, method, String(status), isFull ? "other" : model)
    if (!isFull) series.set(name, found)
  }
  found.requests.updateUnsafe(1, context)
  found.seconds.updateUnsafe(ms / 1000, context)
  if (model === "") return
  if (inputTokens !== undefined) found.input.updateUnsafe(inputTokens, context)
  if (outputTokens !== undefined) found.output.updateUnsafe(outputTokens, context)
}
