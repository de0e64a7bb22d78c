/** `Gateway` over HTTP. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Option } from "effect"
import { HttpClient } from "effect/http"
import { ApiKey } from "../contract/Credentials.ts"
import { GatewayApi } from "../contract/GatewayApi.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import { ModelsResponse } from "../contract/Models.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { tolerateModels } from "../tolerance/Account.ts"
import { publicMethods, withCheckedOptions } from "./call/Arguments.ts"
import { generationOptions, makeCaller } from "./call/Caller.ts"
import { currentMiddleware } from "./call/CallInfo.ts"
import { baseUrlOf, type ClientOptions, gatewayUrl, required } from "./call/ClientOptions.ts"
import { makeChat } from "./chat/Chat.ts"
import { type ImagesOptions, makeImages } from "./media/Images.ts"
import { makeMediaContext } from "./media/MediaContext.ts"
import { makeVideos, type VideosOptions } from "./media/Videos.ts"
import type { EmbedOptions } from "./retrieval/EmbedAll.ts"
import { makeEmbeddings } from "./retrieval/Embeddings.ts"
import { makeRerank } from "./retrieval/Rerank.ts"
import { decodeJson } from "./transport/DecodeJson.ts"
import { withHeaders, withTraceparent } from "./transport/Outgoing.ts"
import { makeSend } from "./transport/Send.ts"
import { sendAndDecode } from "./transport/SendAndDecode.ts"
import { DownloadTransport, layerTransport } from "./transport/Transport.ts"

export interface GatewayClientOptions extends ClientOptions, VideosOptions, ImagesOptions {
  readonly apiKey: ApiKey
  /** How texts are split into requests, and how many of these run concurrently. */
  readonly embeddings?: EmbedOptions | undefined
}

const decodeModels = decodeJson(ModelsResponse, tolerateModels)

const make = Effect.fnUntraced(function* (options: GatewayClientOptions) {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const traced = (client: HttpClient.HttpClient) => withTraceparent(client, baseUrl, options.traceparent)
  const outgoing = (client: HttpClient.HttpClient) => withHeaders(traced(client), baseUrl, options.headers)
  const raw = yield* HttpClient.HttpClient
  const client = outgoing(raw)
  const downloads = Option.match(yield* Effect.serviceOption(DownloadTransport), {
    onNone: () => client,
    onSome: outgoing
  })
  const sendOptions = { baseUrl, credential: options.apiKey, headers: options.headers }
  const send = makeSend(traced(raw), { ...sendOptions, isBuffered: true })
  const makeStreamed = (client: HttpClient.HttpClient) =>
    makeSend(client, { ...sendOptions, isBuffered: false })
  const middleware = yield* currentMiddleware
  const caller = makeCaller(options, options.apiKey, middleware)
  const generating = makeCaller(generationOptions(options), options.apiKey, middleware)
  const media = yield* makeMediaContext({
    caller,
    generating,
    baseUrl,
    send,
    makeStreamed,
    client,
    downloads
  })
  const models = sendAndDecode(send(GatewayApi.groups.models.endpoints.list)({}), decodeModels)

  const gateway = Gateway.of({
    ...makeChat(options, generating, { buffered: send, streamed: makeStreamed(traced(raw)) }),
    embeddings: makeEmbeddings({ ...options.embeddings, baseUrl }, caller, send),
    rerank: makeRerank(caller, send),
    images: publicMethods("Gateway.", makeImages(options, media), "images."),
    videos: publicMethods("Gateway.", makeVideos(options, media), "videos."),
    models: Effect.map(caller.call({ operation: "models" }, models), ({ data }) => data)
  })
  return publicMethods("Gateway.", gateway)
})

/** `Gateway` over the `HttpClient` that the program provides: for tests in memory, proxies and other transports. */
export const layerWithoutTransport = (
  options: GatewayClientOptions
): Layer.Layer<Gateway, GatewayError, HttpClient.HttpClient> =>
  Layer.effect(Gateway, withCheckedOptions(options.apiKey, "apiKey", make(options))).pipe(
    Layer.provide(NodeFileSystem.layer)
  )

/**
 * `Gateway` over HTTP, with its own connection pool.
 *
 * ```ts
 * GatewayClient.layer({ baseUrl: "https://gateway.example.com", apiKey: apiKey("sk-…") })
 * ```
 */
export const layer = (options: GatewayClientOptions): Layer.Layer<Gateway, GatewayError> =>
  Layer.provide(layerWithoutTransport(options), layerTransport(options))

/** `Gateway` over HTTP, configured by `SLUICE_GATEWAY_URL` and `SLUICE_API_KEY`. Fails if either is missing. */
export const layerConfig = (options: Omit<GatewayClientOptions, "baseUrl" | "apiKey"> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const baseUrl = yield* gatewayUrl
      const apiKey = yield* required(ApiKey, "SLUICE_API_KEY", "the API key for its /v1")
      return layer({ ...options, baseUrl, apiKey })
    })
  )
