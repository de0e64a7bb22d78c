/** What a call leaves for those who watch: a span with OpenTelemetry's GenAI attributes, and metrics. */
import { Cause, Clock, Context, Effect, Exit, Metric, References, Tracer } from "effect"
import type { GatewayError } from "../../contract/GatewayError.ts"
import type { CallInfo } from "./CallInfo.ts"
import type { CallResult, ResponseMetadata } from "../transport/CallResult.ts"

/** Powers of 4 and of 2, as OpenTelemetry's conventions set them. */
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i)
const SECONDS = Array.from({ length: 14 }, (_, i) => 0.01 * 2 ** i)

type Labels = Readonly<Record<string, string>>

const calls = (attributes?: Labels) =>
  Metric.counter("sluice.client.calls", {
    description: "Calls of the gateway",
    incremental: true,
    attributes
  })
const retries = (attributes?: Labels) =>
  Metric.counter("sluice.client.retries", { description: "Repeated attempts", incremental: true, attributes })
const tokens = (attributes?: Labels) =>
  Metric.histogram("gen_ai.client.token.usage", {
    description: "Tokens of a call",
    boundaries: TOKENS,
    attributes
  })
const seconds = (attributes?: Labels) =>
  Metric.histogram("gen_ai.client.operation.duration", {
    description: "Seconds of a call",
    boundaries: SECONDS,
    attributes
  })

/**
 * What the client counts, in the program's `MetricRegistry`.
 *
 * **Details.** Each by `gen_ai.operation.name` and, where there is one, `gen_ai.request.model`, of which there are some
 * hundred at most and then `other`; calls and seconds by
 * `error.type` too where a call failed: the tag of its reason, or `interrupted`. Tokens by `gen_ai.token.type`, `input`
 * or `output`, where the gateway counts them.
 */
export const GatewayMetrics = {
  /** Calls that ended. A call of many texts that is split is several. */
  calls: calls(),
  /** Attempts after the first of a call. */
  retries: retries(),
  /** Tokens of a call. */
  tokens: tokens(),
  /** Seconds from the start of a call to its end, waits and retries included; of a stream, to its head. */
  seconds: seconds()
} as const

/** The conventions ask for one; which provider stands behind a model only the gateway knows. */
const PROVIDER = "sluice"

const labels = ({ model, operation }: CallInfo): Labels => ({
  "gen_ai.operation.name": operation,
  ...(model !== undefined && { "gen_ai.request.model": model })
})

const attributesOf = (info: CallInfo) => ({ ...labels(info), "gen_ai.provider.name": PROVIDER })

const counters = (all: Labels) => ({
  retries: retries(all),
  input: tokens({ ...all, "gen_ai.token.type": "input" }),
  output: tokens({ ...all, "gen_ai.token.type": "output" }),
  calls: calls(all),
  seconds: seconds(all)
})

const seriesOf = (info: CallInfo, error?: string) => ({
  attributes: attributesOf(info),
  ...counters({ ...labels(info), ...(error !== undefined && { "error.type": error }) })
})

/**
 * Making a metric's name costs more than counting, and one metric of two series would make it each time. Operations are
 * few; models are as many as the program names, and a program may take names from others: beyond so many series they are
 * one.
 */
const known = new Map<string, ReturnType<typeof seriesOf>>()
const KNOWN = 1000
const OTHER = "other"

const series = (info: CallInfo, error?: string): ReturnType<typeof seriesOf> => {
  const key = `${info.operation}\n${info.model ?? ""}\n${error ?? ""}`
  const found = known.get(key)
  if (found !== undefined) return found
  if (known.size >= KNOWN && info.model !== undefined && info.model !== OTHER) {
    return { ...series({ ...info, model: OTHER }, error), attributes: attributesOf(info) }
  }
  const made = seriesOf(info, error)
  known.set(key, made)
  return made
}

const spanOf = (context: Context.Context<never>): Tracer.Span | undefined => {
  const span = Context.getOption(context, Tracer.ParentSpan)
  return span._tag === "Some" && span.value._tag === "Span" ? span.value : undefined
}

const record = (
  context: Context.Context<never>,
  span: Tracer.Span | undefined,
  info: CallInfo,
  metadata: ResponseMetadata
): void => {
  const { finishReasons, id, inputTokens, model, outputTokens } = metadata
  if (id !== undefined) span?.attribute("gen_ai.response.id", id)
  if (model !== undefined) span?.attribute("gen_ai.response.model", model)
  if (finishReasons !== undefined) span?.attribute("gen_ai.response.finish_reasons", finishReasons)
  if (inputTokens !== undefined) {
    span?.attribute("gen_ai.usage.input_tokens", inputTokens)
    series(info).input.updateUnsafe(inputTokens, context)
  }
  if (outputTokens !== undefined) {
    span?.attribute("gen_ai.usage.output_tokens", outputTokens)
    series(info).output.updateUnsafe(outputTokens, context)
  }
}

/** Puts what an answer said of itself on the current span, and counts its tokens. */
export const recordMetadata = (info: CallInfo, metadata: ResponseMetadata): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.sync(() => record(context, spanOf(context), info, metadata))
  )

const errorType = (cause: Cause.Cause<GatewayError>): string => {
  const error = Cause.findErrorOption(cause)
  if (error._tag === "Some") return error.value.reason._tag
  return Cause.hasInterruptsOnly(cause) ? "interrupted" : "defect"
}

/** Counts a call that ends at `now`, and puts what is known of it on its span. */
const tell = <A>(
  context: Context.Context<never>,
  span: Tracer.Span | undefined,
  info: CallInfo,
  [since, now]: readonly [since: bigint, now: bigint],
  exit: Exit.Exit<CallResult<A>, GatewayError>
): void => {
  const error = Exit.isSuccess(exit) ? undefined : errorType(exit.cause)
  const { calls, seconds } = series(info, error)
  calls.updateUnsafe(1, context)
  seconds.updateUnsafe(Number(now - since) / 1e9, context)
  if (error !== undefined) span?.attribute("error.type", error)
  if (Exit.isFailure(exit)) return
  const { metadata, requestId } = exit.value
  if (requestId !== undefined) span?.attribute("sluice.request.id", requestId)
  if (metadata !== undefined) record(context, span, info, metadata)
}

/**
 * A call with its span and its metrics.
 *
 * **Details.** The span is a client's, named after operation and model. It carries
 * what the GenAI conventions name, and
 * `http.request.resend_count` where attempts were repeated; no prompt, document, answer or credential.
 */
export const observe =
  (info: CallInfo, attempts: () => number) =>
  <A>(self: Effect.Effect<CallResult<A>, GatewayError>): Effect.Effect<CallResult<A>, GatewayError> => {
    const watched = (span?: Tracer.Span) =>
      Effect.withFiber((fiber) => {
        const { context } = fiber
        const clock = Context.get(context, Clock.Clock)
        const start = clock.currentTimeNanosUnsafe()
        const ended = (exit: Exit.Exit<CallResult<A>, GatewayError>): undefined => {
          const now = clock.currentTimeNanosUnsafe()
          tell(context, span, info, [start, now], exit)
          if (attempts() > 1) {
            span?.attribute("http.request.resend_count", attempts() - 1)
            series(info).retries.updateUnsafe(attempts() - 1, context)
          }
          // A span keeps what its effect ended with, and an answer may be a new credential: it goes past the span.
          const timed = Context.get(context, References.TracerTimingEnabled)
          span?.end(timed ? now : 0n, Exit.asVoid(exit))
        }
        const call = span === undefined ? self : Effect.provideService(self, Tracer.ParentSpan, span)
        return Effect.onExitPrimitive(call, ended)
      })
    const name = info.model === undefined ? info.operation : `${info.operation} ${info.model}`
    const attributes = () => ({ ...series(info).attributes, ...info.request })
    return Effect.flatMap(References.TracerEnabled, (enabled) =>
      enabled ? Effect.useSpan(name, { kind: "client", attributes: attributes() }, watched) : watched()
    )
  }
