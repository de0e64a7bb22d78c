/** Effect's `LanguageModel` over a chat model of the gateway. */
import { Effect, Layer, Result, Stream } from "effect"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Response from "effect/ai/Response"
import { type ChatCall, type ChatEnd, type ChatPart, Gateway } from "../gateway/Gateway.ts"
import { GatewayError } from "../contract/GatewayError.ts"
import { aiError } from "./AiFailure.ts"
import { messagesOf } from "./ChatMessages.ts"
import { askForJson, jsonOf } from "./JsonAnswer.ts"

interface GatewayLanguageModelOptions {
  readonly model: string
  /** The most tokens of one answer. Default: the model's limit. */
  readonly maxTokens?: number | undefined
  /** 0 to 2. Default: the model's. */
  readonly temperature?: number | undefined
}

/**
 * Derives `LanguageModel` from `Gateway`.
 *
 * **When to use.** For programs written for Effect's AI services.
 *
 * **Details.** Supports `generateText`, `streamText` and `generateObject`, with text and images. Failures are `AiError`s,
 * see `aiError`. The client retries already. Unknown token counts are `undefined`.
 *
 * **Gotchas.** The interface has neither tools nor response formats. A toolkit fails with `InvalidRequestError` before
 * sending. `generateObject` requests JSON in the prompt, and fails with `StructuredOutputError` if the model does not comply.
 *
 * ```ts
 * const program = LanguageModel.generateText({ prompt: "Say hello." })
 * const models = Layer.provide(GatewayLanguageModel.layer({ model: "chat-model" }), gateway)
 * program.pipe(Effect.provide(models))
 * ```
 */
export const layer = (
  settings: GatewayLanguageModelOptions
): Layer.Layer<LanguageModel.LanguageModel, never, Gateway> =>
  Layer.effect(
    LanguageModel.LanguageModel,
    Effect.flatMap(Gateway, (gateway) =>
      LanguageModel.make({
        generateText: Effect.fnUntraced(function* (options) {
          const call = yield* makeCall("generateText", settings, options)
          const answer = yield* Effect.mapError(gateway.chat(call), failed("generateText"))
          const text = options.responseFormat.type === "json" ? jsonOf(answer.text) : answer.text
          return [...(text === "" ? [] : [{ type: "text" as const, text }]), finishPart(answer)]
        }),
        streamText: (options) =>
          Stream.unwrap(
            Effect.map(makeCall("streamText", settings, options), (call) =>
              gateway.chatStream(call).pipe(
                Stream.mapError(failed("streamText")),
                Stream.mapAccum((): boolean => false, toStreamParts)
              )
            )
          )
      })
    )
  )

/** A `Model` of the provider `sluice`, for execution plans and `Effect.provide`. */
export const languageModel = (
  name: string,
  options: Omit<GatewayLanguageModelOptions, "model"> = {}
): Model.Model<"sluice", LanguageModel.LanguageModel, Gateway> =>
  Model.make("sluice", name, layer({ ...options, model: name }))

type Method = "generateText" | "streamText"

const failed = (method: Method) => (error: GatewayError) =>
  aiError({ module: "GatewayLanguageModel", method, path: "/v1/chat/completions" }, error)

const makeCall = Effect.fnUntraced(function* (
  method: Method,
  { maxTokens, model, temperature }: GatewayLanguageModelOptions,
  options: LanguageModel.ProviderOptions
): Effect.fn.Return<ChatCall, AiError.AiError> {
  const refuse = (reason: AiError.AiErrorReason) =>
    AiError.make({ module: "GatewayLanguageModel", method, reason })
  if (options.tools.length > 0) {
    const description = "The gateway's chat does not support tools. Remove the toolkit."
    return yield* refuse(new AiError.InvalidRequestError({ parameter: "tools", description }))
  }
  const plain = yield* Effect.mapError(messagesOf(options.prompt), (reason) =>
    failed(method)(new GatewayError({ operation: "chat", model, reason }))
  )
  const { responseFormat } = options
  const messages =
    responseFormat.type === "text"
      ? plain
      : yield* Effect.fromResult(
          Result.mapError(askForJson(plain, responseFormat), (description) =>
            refuse(new AiError.UnsupportedSchemaError({ description }))
          )
        )
  return { model, messages, maxTokens, temperature }
})

/** An answer has one text. */
const id = "0"

const toStreamParts = (
  started: boolean,
  part: ChatPart
): readonly [boolean, ReadonlyArray<Response.StreamPartEncoded>] => {
  if (part.type === "end")
    return [false, [...(started ? [{ type: "text-end" as const, id }] : []), finishPart(part)]]
  if (part.text === "") return [started, []]
  const delta = { type: "text-delta" as const, id, delta: part.text }
  return [true, started ? [delta] : [{ type: "text-start", id }, delta]]
}

const finishPart = (end: ChatEnd): Response.FinishPartEncoded => ({
  type: "finish",
  reason: end.finishReason === undefined ? "unknown" : (REASONS.get(end.finishReason) ?? "other"),
  usage: {
    inputTokens: { ...NO_DETAILS, total: end.promptTokens || undefined },
    outputTokens: { total: end.completionTokens || undefined, text: undefined, reasoning: undefined }
  },
  response: undefined
})

const NO_DETAILS = { uncached: undefined, cacheRead: undefined, cacheWrite: undefined }

const REASONS: ReadonlyMap<string, Response.FinishReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content-filter"],
  ["error", "error"]
])
