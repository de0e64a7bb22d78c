/** What a call leaves for those who watch: a span with OpenTelemetry's GenAI attributes, and metrics. */
import { Cause, Clock, Effect, Exit, Metric } from "effect"
import type { ChatEnd } from "../Gateway.ts"
import type { GatewayError } from "../GatewayError.ts"
import type { About } from "./Call.ts"
import { tokensOf } from "./Distrust.ts"
import type { Answer } from "./Exchange.ts"

/** What an answer says of itself, as far as it does. */
export interface Facts {
  readonly id?: string | undefined
  readonly model?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly finishReasons?: ReadonlyArray<string> | undefined
}

/** Powers of 4 and of 2, as OpenTelemetry's conventions set them. */
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i)
const SECONDS = Array.from({ length: 14 }, (_, i) => 0.01 * 2 ** i)

/**
 * What the client counts, in the program's `MetricRegistry`.
 *
 * **Details.** Each by `gen_ai.operation.name` and, where there is one, `gen_ai.request.model`; calls and seconds by
 * `error.type` too where a call failed: the tag of its reason, or `interrupted`. Tokens by `gen_ai.token.type`, `input`
 * or `output`, where the gateway counts them.
 */
export const GatewayMetrics = {
  /** Calls that ended. A call of many texts that is split is several. */
  calls: Metric.counter("sluice.client.calls", { description: "Calls of the gateway", incremental: true }),
  /** Attempts after the first of a call. */
  retries: Metric.counter("sluice.client.retries", { description: "Repeated attempts", incremental: true }),
  /** Tokens of a call. */
  tokens: Metric.histogram("gen_ai.client.token.usage", {
    description: "Tokens of a call",
    boundaries: TOKENS
  }),
  /** Seconds from the start of a call to its end, waits and retries included; of a stream, to its head. */
  seconds: Metric.histogram("gen_ai.client.operation.duration", {
    description: "Seconds of a call",
    boundaries: SECONDS
  })
} as const

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {}
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined
const countOf = (...values: ReadonlyArray<unknown>): number | undefined =>
  tokensOf(values.find((value) => typeof value === "number")) || undefined

/** Reads the names that all the gateway's answers share; no field is believed to be there. */
export const factsOf = (answer: unknown): Facts => {
  const fields = fieldsOf(answer)
  const usage = fieldsOf(fields["usage"])
  const output = countOf(usage["completion_tokens"], usage["output_tokens"])
  const { choices } = fields
  const reasons = Array.isArray(choices)
    ? choices.map((choice) => textOf(fieldsOf(choice)["finish_reason"]))
    : []
  const finishReasons = reasons.filter((reason) => reason !== undefined)
  return {
    id: textOf(fields["id"]) ?? textOf(fieldsOf(fields["extra"])["id"]),
    model: textOf(fields["model"]) ?? textOf(fieldsOf(fields["extra"])["model"]),
    inputTokens: countOf(
      usage["prompt_tokens"],
      usage["input_tokens"],
      output === undefined && usage["total_tokens"]
    ),
    outputTokens: output,
    ...(finishReasons.length > 0 && { finishReasons })
  }
}

/** The same of a stream's end, where 0 tokens means that the gateway does not say. */
export const factsOfEnd = ({ completionTokens, finishReason, promptTokens }: ChatEnd): Facts => ({
  inputTokens: promptTokens || undefined,
  outputTokens: completionTokens || undefined,
  ...(finishReason !== undefined && { finishReasons: [finishReason] })
})

type Attributes = Record<string, string>

const labels = ({ model, operation }: About): Attributes => ({
  "gen_ai.operation.name": operation,
  ...(model !== undefined && { "gen_ai.request.model": model })
})

const present = (attributes: Fields): Fields =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))

/** Puts what an answer said of itself on the current span, and counts its tokens. */
export const recordFacts = (about: About, facts: Facts): Effect.Effect<void> => {
  const { finishReasons, id, inputTokens, model, outputTokens } = facts
  const count = (type: string, tokens: number | undefined) =>
    tokens === undefined
      ? Effect.void
      : Metric.update(
          Metric.withAttributes(GatewayMetrics.tokens, { ...labels(about), "gen_ai.token.type": type }),
          tokens
        )
  return Effect.andThen(
    Effect.annotateCurrentSpan(
      present({
        "gen_ai.response.id": id,
        "gen_ai.response.model": model,
        "gen_ai.response.finish_reasons": finishReasons,
        "gen_ai.usage.input_tokens": inputTokens,
        "gen_ai.usage.output_tokens": outputTokens
      })
    ),
    Effect.andThen(count("input", inputTokens), count("output", outputTokens))
  )
}

const errorType = <A>(exit: Exit.Exit<A, GatewayError>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const error = Cause.findErrorOption(exit.cause)
  if (error._tag === "Some") return error.value.reason._tag
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "defect"
}

/**
 * A call with its span and its metrics.
 *
 * **Details.** The span is a client's, named after operation and model. It carries what the GenAI conventions name, and
 * `http.request.resend_count` where attempts were repeated; no prompt, document, answer or credential.
 */
export const observe =
  (about: About, attempts: () => number) =>
  <A>(self: Effect.Effect<Answer<A>, GatewayError>): Effect.Effect<Answer<A>, GatewayError> =>
    Effect.flatMap(Clock.currentTimeNanos, (start) => {
      // A span keeps what its effect ended with, and an answer may be a new credential.
      let answer: Effect.Effect<Answer<A>> = Effect.never
      return self.pipe(
        Effect.tap(({ facts, requestId }) =>
          Effect.andThen(
            requestId === undefined
              ? Effect.void
              : Effect.annotateCurrentSpan("sluice.request.id", requestId),
            facts === undefined ? Effect.void : recordFacts(about, facts)
          )
        ),
        Effect.map((given) => {
          answer = Effect.succeed(given)
        }),
        Effect.onExit(
          Effect.fnUntraced(function* (exit) {
            const seconds = Number((yield* Clock.currentTimeNanos) - start) / 1e9
            const type = errorType(exit)
            const retries = Math.max(0, attempts() - 1)
            const all = labels(about)
            const ended = type === undefined ? all : { ...all, "error.type": type }
            if (type !== undefined) yield* Effect.annotateCurrentSpan("error.type", type)
            yield* Metric.update(Metric.withAttributes(GatewayMetrics.calls, ended), 1)
            yield* Metric.update(Metric.withAttributes(GatewayMetrics.seconds, ended), seconds)
            if (retries === 0) return
            yield* Effect.annotateCurrentSpan("http.request.resend_count", retries)
            yield* Metric.update(Metric.withAttributes(GatewayMetrics.retries, all), retries)
          })
        ),
        Effect.withSpan(about.model === undefined ? about.operation : `${about.operation} ${about.model}`, {
          kind: "client",
          attributes: { ...labels(about), "gen_ai.provider.name": PROVIDER, ...about.request }
        }),
        Effect.andThen(Effect.suspend(() => answer))
      )
    })

/** The conventions ask for one; which provider stands behind a model only the gateway knows. */
const PROVIDER = "sluice"
