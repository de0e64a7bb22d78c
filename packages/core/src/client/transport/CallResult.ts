/** The outcome of one attempt: a value with metadata for spans and metrics, or a failure. */
import { type Effect, Predicate } from "effect"
import type { GatewayReason } from "../../contract/GatewayError.ts"
import type { ChatEnd, ResponseOrigin } from "../../gateway/Gateway.ts"

export interface CallResult<A> {
  readonly value: A
  readonly requestId: string | undefined
  readonly metadata?: ResponseMetadata
  /** The body of the response, for the error of a value that turns out to be unusable. */
  readonly body?: Effect.Effect<string | undefined>
}

/** Why an attempt failed. */
export interface AttemptFailure {
  readonly reason: GatewayReason
  readonly requestId?: string | undefined
  /** The body of a successful response that could not be used. */
  readonly response?: string | undefined
  /** The attempt had no effect: nothing was sent, or the response was 429. */
  readonly notExecuted?: boolean
  /** The client refused the attempt before sending it: this says nothing about the gateway. */
  readonly local?: boolean
}

/** What a response states about itself, for spans and metrics. */
export interface ResponseMetadata {
  readonly id?: string | undefined
  readonly model?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly finishReasons?: ReadonlyArray<string> | undefined
}

/** A token count; 0 if it is missing or not a count. */
export const tokensOf = (count: number | undefined): number =>
  count !== undefined && Number.isSafeInteger(count) && count > 0 ? count : 0

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** The id and the model of a response, if it states them. */
export const originOf = (response: { readonly id?: unknown; readonly model?: unknown }): ResponseOrigin => {
  const [id, model] = [textOf(response.id), textOf(response.model)]
  return { ...(id !== undefined && { id }), ...(model !== undefined && { model }) }
}

/** The fields of an object; none of any other value. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isObject(value) ? value : {}

const countOf = (...values: ReadonlyArray<unknown>): number | undefined =>
  tokensOf(values.find((value) => typeof value === "number")) || undefined

/** The metadata of a decoded response of any endpoint. Every field may be missing or of another type. */
export const responseMetadata = (response: unknown): ResponseMetadata => {
  const fields = fieldsOf(response)
  const extra = fieldsOf(fields["extra"])
  const usage = fieldsOf(fields["usage"])
  const output = countOf(usage["completion_tokens"], usage["output_tokens"])
  const { choices } = fields
  const finishReasons = (Array.isArray(choices) ? choices : [])
    .map((choice) => textOf(fieldsOf(choice)["finish_reason"]))
    .filter((reason) => reason !== undefined)
  return {
    id: textOf(fields["id"]) ?? textOf(extra["id"]),
    model: textOf(fields["model"]) ?? textOf(extra["model"]),
    inputTokens: countOf(
      usage["prompt_tokens"],
      usage["input_tokens"],
      output === undefined && usage["total_tokens"]
    ),
    outputTokens: output,
    ...(finishReasons.length > 0 && { finishReasons })
  }
}

/** The metadata at the end of a stream. 0 tokens means that the gateway does not state them. */
export const streamMetadata = ({
  completionTokens,
  finishReason,
  promptTokens
}: ChatEnd): ResponseMetadata => ({
  inputTokens: promptTokens || undefined,
  outputTokens: completionTokens || undefined,
  ...(finishReason !== undefined && { finishReasons: [finishReason] })
})
