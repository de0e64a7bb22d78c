/** Spans with OpenTelemetry's GenAI attributes, and metrics, for each call. */
import { Cause, Clock, Context, Effect, Exit, Metric, References, Tracer } from "effect"
import type { GatewayError } from "../../contract/GatewayError.ts"
import type { CallResult, ResponseMetadata } from "../transport/CallResult.ts"
import type { CallInfo } from "./CallInfo.ts"

/** The histogram boundaries of OpenTelemetry's conventions: powers of 4, and 10 ms doubled. */
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i)
const SECONDS = Array.from({ length: 14 }, (_, i) => 0.01 * 2 ** i)

type Labels = Readonly<Record<string, string>>

const makeMetrics = (attributes?: Labels) => {
  const counter = (name: string, description: string) =>
    Metric.counter(name, { description, incremental: true, attributes })
  const histogram = (name: string, description: string, boundaries: ReadonlyArray<number>) =>
    Metric.histogram(name, { description, boundaries, attributes })
  return {
    /** Completed calls. A call whose texts are split into requests counts once for each. */
    calls: counter("sluice.client.calls", "Calls of the gateway"),
    /** Attempts after the first of a call. */
    retries: counter("sluice.client.retries", "Repeated attempts"),
    tokens: histogram("gen_ai.client.token.usage", "Tokens of a call", TOKENS),
    /** Seconds from the start of a call to its end, with retries and delays; of a stream, to its head. */
    seconds: histogram("gen_ai.client.operation.duration", "Seconds of a call", SECONDS)
  }
}

/**
 * The client's metrics, in the program's `MetricRegistry`.
 *
 * **Details.** All have `gen_ai.operation.name` and, if known, `gen_ai.request.model`: up to some hundred models, then
 * `other`. Calls and seconds of a failed call have `error.type`: the tag of its reason, or `interrupted`. Tokens have
 * `gen_ai.token.type`, `input` or `output`, if the gateway states them.
 */
export const GatewayMetrics = makeMetrics()

const makeSeries = ({ model, operation }: CallInfo, error?: string) => {
  const labels: Labels = {
    "gen_ai.operation.name": operation,
    ...(model !== undefined && { "gen_ai.request.model": model })
  }
  const all = { ...labels, ...(error !== undefined && { "error.type": error }) }
  return {
    attributes: { ...labels, "gen_ai.provider.name": "sluice" },
    ...makeMetrics(all),
    input: makeMetrics({ ...all, "gen_ai.token.type": "input" }).tokens,
    output: makeMetrics({ ...all, "gen_ai.token.type": "output" }).tokens
  }
}

type Series = ReturnType<typeof makeSeries>

/** Metrics by operation, model and error: making one costs more than counting. Model names may be unlimited. */
const cache = new Map<string, Map<string | undefined, Series>>()
let cached = 0
const CACHE_SIZE = 1000
const OTHER = "other"

const seriesOf = (info: CallInfo, error?: string): Series => {
  const { model, operation } = info
  const kind = error === undefined ? operation : `${operation}\n${error}`
  const byModel = cache.get(kind) ?? new Map<string | undefined, Series>()
  const known = byModel.get(model)
  if (known !== undefined) return known
  const series = makeSeries(info, error)
  if (cached >= CACHE_SIZE && model !== undefined && model !== OTHER) {
    return { ...seriesOf({ ...info, model: OTHER }, error), attributes: series.attributes }
  }
  cache.set(kind, byModel.set(model, series))
  cached++
  return series
}

const record = (
  context: Context.Context<never>,
  span: Tracer.Span | undefined,
  info: CallInfo,
  { finishReasons, id, inputTokens, model, outputTokens }: ResponseMetadata
): void => {
  const set = (name: string, value: unknown) => value !== undefined && span?.attribute(name, value)
  set("gen_ai.response.id", id)
  set("gen_ai.response.model", model)
  set("gen_ai.response.finish_reasons", finishReasons)
  set("gen_ai.usage.input_tokens", inputTokens)
  set("gen_ai.usage.output_tokens", outputTokens)
  if (inputTokens !== undefined) seriesOf(info).input.updateUnsafe(inputTokens, context)
  if (outputTokens !== undefined) seriesOf(info).output.updateUnsafe(outputTokens, context)
}

/** Adds the metadata of a response to the current span, and counts its tokens. */
export const recordMetadata = (info: CallInfo, metadata: ResponseMetadata): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.sync(() => {
      const span = Context.getOption(context, Tracer.ParentSpan)
      const isOwn = span._tag === "Some" && span.value._tag === "Span"
      record(context, isOwn ? span.value : undefined, info, metadata)
    })
  )

const errorType = (cause: Cause.Cause<GatewayError>): string => {
  const error = Cause.findErrorOption(cause)
  if (error._tag === "Some") return error.value.reason._tag
  return Cause.hasInterruptsOnly(cause) ? "interrupted" : "defect"
}

/** Whether anyone sees the spans: those of Effect's own tracer stay in this process. Each span costs microseconds. */
const isTraced = (context: Context.Context<never>): boolean =>
  Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer &&
  Context.get(context, References.TracerEnabled)

/** Runs a method in a span that does not store its value, because a response may contain a credential. */
export const withMethodSpan =
  (name: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber(({ context }) => {
      if (!isTraced(context)) return self
      let value: A
      const stored = Effect.map(self, (result) => void (value = result))
      return Effect.map(Effect.withSpan(stored, name), () => value)
    })

/**
 * A call with its metrics, and with its span if the program traces or `alwaysSpan` is set.
 *
 * **Details.** A client span, named after operation and model, with the attributes of the GenAI conventions, and
 * `http.request.resend_count` if attempts were repeated. It has no prompt, document, answer or credential.
 */
export const observe = <A>(
  self: Effect.Effect<CallResult<A>, GatewayError>,
  info: CallInfo,
  attempts: () => number,
  alwaysSpan: boolean
): Effect.Effect<CallResult<A>, GatewayError> =>
  Effect.withFiber(({ context }) => {
    const clock = Context.get(context, Clock.Clock)
    const start = clock.monotonicTimeNanosUnsafe()
    const end = (exit: Exit.Exit<CallResult<A>, GatewayError>, span?: Tracer.Span): undefined => {
      const error = Exit.isSuccess(exit) ? undefined : errorType(exit.cause)
      const { calls, seconds } = seriesOf(info, error)
      calls.updateUnsafe(1, context)
      seconds.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - start) / 1e9, context)
      if (error !== undefined) span?.attribute("error.type", error)
      if (Exit.isSuccess(exit)) {
        const { metadata, requestId } = exit.value
        if (requestId !== undefined) span?.attribute("sluice.request.id", requestId)
        if (metadata !== undefined) record(context, span, info, metadata)
      }
      const repeated = attempts() - 1
      if (repeated > 0) {
        span?.attribute("http.request.resend_count", repeated)
        seriesOf(info).retries.updateUnsafe(repeated, context)
      }
      // A span stores its exit, and a response may contain a credential: the value is left out.
      const isTimed = span !== undefined && Context.get(context, References.TracerTimingEnabled)
      span?.end(isTimed ? clock.currentTimeNanosUnsafe() : 0n, Exit.asVoid(exit))
    }
    if (!alwaysSpan && !isTraced(context)) return Effect.onExitPrimitive(self, (exit) => end(exit))
    const name = info.model === undefined ? info.operation : `${info.operation} ${info.model}`
    const attributes = { ...seriesOf(info).attributes, ...info.request }
    return Effect.useSpan(name, { kind: "client", attributes }, (span) =>
      Effect.onExitPrimitive(Effect.provideService(self, Tracer.ParentSpan, span), (exit) => end(exit, span))
    )
  })
