/** Effect's `LanguageModel` of any chat model of the gateway. */
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

export interface GatewayLanguageModelOptions {
  readonly model: string
  /** Tokens of one answer at most; the model's own limit when not given. */
  readonly maxTokens?: number
  /** 0 to 2; the model's own when not given. */
  readonly temperature?: number
}

/**
 * Derives `LanguageModel` from `Gateway`.
 *
 * **When to use.** For programs written for Effect's AI services: they run on the gateway's models unchanged.
 *
 * **Details.** `generateText`, `streamText` and `generateObject`, with texts and images. Failures are `AiError`s, see
 * `aiError`. Retries are the gateway's: do not add your own for the same reasons. Token counts that the gateway does
 * not give are `undefined`.
 *
 * **Gotchas.** The gateway's interface knows neither tools nor a response format. A toolkit is refused with
 * `InvalidRequestError`, before anything is sent; `generateObject` asks for JSON in words, finds it in the answer, and
 * fails with `StructuredOutputError` when the model did not obey.
 *
 * ```ts
 * const program = LanguageModel.generateText({ prompt: "Say hello." })
 * const models = Layer.provide(GatewayLanguageModel.layer({ model: "chat-model" }), gateway)
 * program.pipe(Effect.provide(models))
 * ```
 */
export const layer = (
  options: GatewayLanguageModelOptions
): Layer.Layer<LanguageModel.LanguageModel, never, Gateway> =>
  Layer.effect(
    LanguageModel.LanguageModel,
    Effect.flatMap(Gateway, (gateway) =>
      LanguageModel.make({
        generateText: Effect.fnUntraced(function* (asked) {
          const call = yield* callOf("generateText", options, asked)
          const answer = yield* Effect.mapError(gateway.chat(call), failed("generateText"))
          const text = asked.responseFormat.type === "json" ? jsonOf(answer.text) : answer.text
          return [...(text === "" ? [] : [{ type: "text" as const, text }]), finishOf(answer)]
        }),
        streamText: (asked) =>
          Stream.unwrap(
            Effect.map(callOf("streamText", options, asked), (call) =>
              gateway.chatStream(call).pipe(
                Stream.mapError(failed("streamText")),
                Stream.mapAccum((): boolean => false, partsOf)
              )
            )
          )
      })
    )
  )

/** As a `Model` of the provider `sluice`, for execution plans and `Effect.provide`. */
export const languageModel = (
  name: string,
  options: Omit<GatewayLanguageModelOptions, "model"> = {}
): Model.Model<"sluice", LanguageModel.LanguageModel, Gateway> =>
  Model.make("sluice", name, layer({ ...options, model: name }))

type Method = "generateText" | "streamText"

const failed = (method: Method) => (error: GatewayError) =>
  aiError({ module: "GatewayLanguageModel", method, path: "/v1/chat/completions" }, error)

const callOf = Effect.fnUntraced(function* (
  method: Method,
  { maxTokens, model, temperature }: GatewayLanguageModelOptions,
  asked: LanguageModel.ProviderOptions
): Effect.fn.Return<ChatCall, AiError.AiError> {
  const refuse = (reason: AiError.AiErrorReason) =>
    AiError.make({ module: "GatewayLanguageModel", method, reason })
  if (asked.tools.length > 0) {
    const description = "The gateway's chat takes no tools. Leave out the toolkit."
    return yield* refuse(new AiError.InvalidRequestError({ parameter: "tools", description }))
  }
  const said = yield* Effect.mapError(messagesOf(asked.prompt), (reason) =>
    failed(method)(new GatewayError({ operation: "chat", model, reason }))
  )
  const { responseFormat } = asked
  const messages =
    responseFormat.type === "text"
      ? said
      : yield* Effect.fromResult(
          Result.mapError(askForJson(said, responseFormat), (description) =>
            refuse(new AiError.UnsupportedSchemaError({ description }))
          )
        )
  return {
    model,
    messages,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature })
  }
})

/** There is one text in an answer. */
const id = "0"

const partsOf = (
  begun: boolean,
  part: ChatPart
): readonly [boolean, ReadonlyArray<Response.StreamPartEncoded>] => {
  if (part.type === "end")
    return [false, [...(begun ? [{ type: "text-end" as const, id }] : []), finishOf(part)]]
  if (part.text === "") return [begun, []]
  const delta = { type: "text-delta" as const, id, delta: part.text }
  return [true, begun ? [delta] : [{ type: "text-start", id }, delta]]
}

const finishOf = ({ completionTokens, finishReason, promptTokens }: ChatEnd): Response.FinishPartEncoded => ({
  type: "finish",
  reason: finishReason === undefined ? "unknown" : (REASONS.get(finishReason) ?? "other"),
  usage: {
    inputTokens: {
      total: promptTokens || undefined,
      uncached: undefined,
      cacheRead: undefined,
      cacheWrite: undefined
    },
    outputTokens: { total: completionTokens || undefined, text: undefined, reasoning: undefined }
  },
  response: undefined
})

const REASONS: ReadonlyMap<string, Response.FinishReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content-filter"],
  ["error", "error"]
])
