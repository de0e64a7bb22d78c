/** `Gateway` over HTTP. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Duration, Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { validateChatImages } from "../gateway/ChatImages.ts"
import { ApiKey } from "../contract/Credentials.ts"
import { ChatRequest, ChatResponse } from "../contract/Chat.ts"
import { type Extra, extraOf, validateExtra } from "../contract/Fields.ts"
import { type ChatAnswer, type ChatCall, type ChatPart, Gateway } from "../gateway/Gateway.ts"
import { ModelsResponse } from "../contract/Models.ts"
import { GatewayApi } from "../contract/GatewayApi.ts"
import { type GatewayError, InvalidResponse } from "../contract/GatewayError.ts"
import { ApiKeyAuth } from "../contract/Credentials.ts"
import { type CallInfo, makeCaller } from "./call/Caller.ts"
import { chatParts, endOf, type StreamTimeouts } from "./chat/ChatStream.ts"
import { baseUrlOf, type ClientOptions, gatewayUrl, required } from "./call/ClientOptions.ts"
import type { EmbedOptions } from "./retrieval/EmbedAll.ts"
import { makeEmbeddings } from "./retrieval/Embeddings.ts"
import { sendAndDecode, mapResult } from "./transport/SendAndDecode.ts"
import { currentMiddleware } from "./call/CallInfo.ts"
import { withBaseUrl } from "./transport/Outgoing.ts"
import { streamMetadata } from "./transport/CallResult.ts"
import { type ImagesOptions, makeImages } from "./media/Images.ts"
import { makeMediaContext } from "./media/MediaContext.ts"
import { makeRerank } from "./retrieval/Rerank.ts"
import { recordMetadata } from "./call/Telemetry.ts"
import { layerTransport } from "./transport/Transport.ts"
import { makeVideos, type VideosOptions } from "./media/Videos.ts"

export interface GatewayClientOptions extends ClientOptions, VideosOptions, ImagesOptions {
  readonly apiKey: ApiKey
  /** How texts are split into requests, and how many of these are under way at once. */
  readonly embeddings?: EmbedOptions
}

const CHAT = { group: "chat", endpoint: "create" } as const
const MODELS = { group: "models", endpoint: "list" } as const

const decodeModels = HttpClientResponse.schemaBodyJson(ModelsResponse)

const responseMode = "response-only"

const decodeChat = HttpClientResponse.schemaBodyJson(ChatResponse)

/** Whether the answer comes as events; not every gateway streams because it is asked to, or names its JSON. */
const isStreamed = ({ headers }: HttpClientResponse.HttpClientResponse) =>
  (headers["content-type"] ?? "").trimStart().toLowerCase().startsWith("text/event-stream")

/** Tools that the caller named in `extra`: asking them is all that the answer says. */
const asksTools = ({ message }: ChatResponse["choices"][number]): boolean => {
  const calls = message.extra?.["tool_calls"]
  return Array.isArray(calls) && calls.length > 0
}

const answerOf = (answer: ChatResponse): Effect.Effect<ChatAnswer, InvalidResponse> => {
  const [choice] = answer.choices
  const text = choice?.message.content ?? (choice && asksTools(choice) ? "" : undefined)
  if (text !== undefined) {
    return Effect.succeed({ text, ...endOf(answer, choice?.finish_reason), ...beyond(answer) })
  }
  const why = choice?.finish_reason ?? "no reason given"
  return Effect.fail(new InvalidResponse({ message: `The answer carries no text (${why}).` }))
}

/** What a question is about; not a word of it. */
const asking = ({ maxTokens, model, temperature }: ChatCall): CallInfo => ({
  operation: "chat",
  model,
  request: {
    ...(maxTokens !== undefined && { "gen_ai.request.max_tokens": maxTokens }),
    ...(temperature !== undefined && { "gen_ai.request.temperature": temperature })
  }
})

/** What the interface does not name, where there is any. */
const beyond = (answer: object): { readonly extra?: Extra } => {
  const extra = extraOf(answer)
  return extra === undefined ? {} : { extra }
}

const whole = ({ text, ...end }: ChatAnswer): Stream.Stream<ChatPart> =>
  Stream.make<ReadonlyArray<ChatPart>>({ type: "text", text }, { type: "end", ...end })

const make = Effect.fnUntraced(function* (options: GatewayClientOptions) {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const client = yield* HttpClient.HttpClient
  const httpClient = withBaseUrl(client, baseUrl, "buffered")
  const postChat = yield* HttpApiClient.endpoint(GatewayApi, { ...CHAT, httpClient })
  const streaming = withBaseUrl(client, baseUrl)
  const streamChat = yield* HttpApiClient.endpoint(GatewayApi, { ...CHAT, httpClient: streaming })
  const getModels = yield* HttpApiClient.endpoint(GatewayApi, { ...MODELS, httpClient })
  const caller = makeCaller(options, options.apiKey, yield* currentMiddleware)
  const { attemptTimeout, call, callTimeout, callWithResult, fail } = caller
  const patience: StreamTimeouts =
    options.idleTimeout === undefined
      ? { silence: attemptTimeout, silenceBy: "attemptTimeout", pause: callTimeout }
      : {
          silence: Duration.fromInputUnsafe(options.idleTimeout),
          silenceBy: "idleTimeout",
          pause: Duration.infinity
        }
  const embeddings = yield* makeEmbeddings(options.embeddings, caller, httpClient)
  const rerank = yield* makeRerank(caller, httpClient)
  const media = yield* makeMediaContext({ caller, baseUrl, httpClient, client })
  const videos = yield* makeVideos(options, media)
  const images = yield* makeImages(options, media)

  const ask = (request: ChatCall, stream: boolean) => {
    const { extra, maxTokens: max_tokens, messages, model, temperature } = request
    const payload: ChatRequest = {
      model,
      messages,
      max_tokens,
      temperature,
      ...(extra !== undefined && { extra }),
      ...(stream && { stream, stream_options: { include_usage: true } })
    }
    return (stream ? streamChat : postChat)({ payload, responseMode })
  }

  const refusedChat = (request: ChatCall): GatewayError | undefined => {
    const reason = validateChatImages(request.messages) ?? validateExtra(request.extra, ChatRequest)
    return reason && fail(asking(request), { reason, requestId: undefined, notExecuted: true })
  }

  const chat: Gateway["Service"]["chat"] = Effect.fn("Gateway.chat")(function* (request) {
    const refused = refusedChat(request)
    if (refused !== undefined) return yield* refused
    const attempt = mapResult(answerOf)(sendAndDecode(ask(request, false), decodeChat))
    return yield* call(asking(request), attempt)
  })

  const chatStream = (request: ChatCall): Stream.Stream<ChatPart, GatewayError> => {
    const info = asking(request)
    const attempt = sendAndDecode(ask(request, true), (response) =>
      isStreamed(response)
        ? Effect.succeed(chatParts(response, patience))
        : Effect.map(decodeChat(response), (answer) => Stream.unwrap(Effect.map(answerOf(answer), whole)))
    )
    const refused = refusedChat(request)
    if (refused !== undefined) return Stream.fail(refused)
    const open = Effect.map(callWithResult(info, attempt), ({ requestId, value }) =>
      value.pipe(
        Stream.mapError((reason) => fail(info, { reason, requestId })),
        Stream.tap((part) => (part.type === "end" ? recordMetadata(info, streamMetadata(part)) : Effect.void))
      )
    )
    return Stream.withSpan(Stream.unwrap(open), "Gateway.chatStream")
  }

  const models = Effect.map(
    call({ operation: "models" }, sendAndDecode(getModels({ responseMode }), decodeModels)),
    ({ data }) => data
  ).pipe(Effect.withSpan("Gateway.models"))

  return Gateway.of({ rerank, embeddings, chat, chatStream, videos, images, models })
})

/** `Gateway` over the `HttpClient` that the program provides: for tests in memory, proxies and other transports. */
export const layerWithoutTransport = (
  options: GatewayClientOptions
): Layer.Layer<Gateway, GatewayError, HttpClient.HttpClient> =>
  Layer.effect(Gateway, make(options)).pipe(
    Layer.provide(
      HttpApiMiddleware.layerClient(ApiKeyAuth, ({ next, request }) =>
        next(HttpClientRequest.bearerToken(request, options.apiKey))
      )
    ),
    Layer.provide(NodeFileSystem.layer)
  )

/**
 * `Gateway` over HTTP, with a pool of its own.
 *
 * ```ts
 * GatewayClient.layer({ baseUrl: "https://gateway.example.com", apiKey: apiKey("sk-…") })
 * ```
 */
export const layer = (options: GatewayClientOptions): Layer.Layer<Gateway, GatewayError> =>
  Layer.provide(layerWithoutTransport(options), layerTransport(options))

/** `Gateway` over HTTP, at `SLUICE_GATEWAY_URL` with `SLUICE_API_KEY`. Without either it refuses and says which. */
export const layerConfig = (options: Omit<GatewayClientOptions, "baseUrl" | "apiKey"> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const baseUrl = yield* gatewayUrl
      const apiKey = yield* required(ApiKey, "SLUICE_API_KEY", "the API key for its /v1")
      return layer({ ...options, baseUrl, apiKey })
    })
  )
