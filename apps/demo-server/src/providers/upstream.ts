/** The provider that passes calls on to a gateway: bodies go and come as they are, and nobody decodes them. */
import {
  Account,
  Failure,
  GatewayError,
  InvalidResponse,
  RETRY_NEVER,
  ServerFailure,
  type SystemAccessToken
} from "@sluice/core"
import { AccountClient, exchange, makeCaller } from "@sluice/core/client"
import { Context, Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse, HttpServerResponse } from "effect/http"
import type { GatewaySettings } from "../Config.ts"
import type { Call, Provider } from "./Provider.ts"

const isEventStream = (type: string): boolean => type.startsWith("text/event-stream")
const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/.test(type)

/** Every answer of the contract is an object: cut or garbled ones are told apart without reading what is in them. */
const isObject = (body: string): boolean => {
  const text = body.trim()
  return text.startsWith("{") && text.endsWith("}")
}

/** A stream that breaks off, or from which nothing comes for so long, ends in an error event. */
const STALLED = "60 seconds"
const brokenOff = Stream.suspend(() => {
  const message = "The gateway's stream broke off: ask again"
  const { body } = new Failure({ status: 502, message, code: "upstream_broke_off", retryable: true })
  return Stream.make(new TextEncoder().encode(`data: ${JSON.stringify(body)}\n\n`))
})

/**
 * What the gateway answered, as it is: JSON whole, events as they come. Of its headers only the content type travels
 * on; anything else, a page of HTML with status 200 among it, is no answer.
 */
const passOn = (response: HttpClientResponse.HttpClientResponse) => {
  const contentType = response.headers["content-type"] ?? ""
  if (isEventStream(contentType)) {
    const events = response.stream.pipe(
      Stream.timeoutOrElse({ duration: STALLED, orElse: () => brokenOff }),
      Stream.catch(() => brokenOff)
    )
    return Effect.succeed(HttpServerResponse.stream(events, { contentType }))
  }
  return Effect.map(response.text, (body): HttpServerResponse.HttpServerResponse | NotJson =>
    isJson(contentType) && isObject(body)
      ? HttpServerResponse.text(body, { contentType })
      : { notJson: contentType }
  )
}

/** An answer that is none; its content type says what it is. */
interface NotJson {
  readonly notJson: string
}

/** Our credential was refused, not the caller's: its 401 would send the caller to look at the wrong one. */
const blameUs =
  (name: "SLUICE_API_KEY" | "SLUICE_ACCESS_TOKEN") =>
  (error: GatewayError): GatewayError => {
    if (error.reason._tag !== "Unauthorized") return error
    const message = `The gateway refused this server's ${name}: ${error.reason.message}`
    return new GatewayError({ ...error, reason: new ServerFailure({ message, status: 502, final: true }) })
  }

/** The account that the system access token opens, one attempt a call. */
const accountOf = Effect.fnUntraced(function* (baseUrl: string, accessToken: SystemAccessToken) {
  const options = { baseUrl, accessToken, retry: RETRY_NEVER }
  const context = yield* Layer.build(AccountClient.layerWithoutTransport(options))
  const { models, availableModels } = Context.get(context, Account)
  const blamed = Effect.mapError(blameUs("SLUICE_ACCESS_TOKEN"))
  return { models: blamed(models), availableModels: blamed(availableModels) }
})

/** Serves the three configured models by the gateway at `url`, one attempt a call. */
export const upstream = Effect.fnUntraced(function* ({ url, apiKey, accessToken, models }: GatewaySettings) {
  const client = yield* HttpClient.HttpClient
  const { call } = makeCaller({ retry: RETRY_NEVER }, apiKey)

  const forward =
    (operation: string, path: string) =>
    ({
      request: { model },
      body
    }: Call<{ readonly model: string }>): Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      GatewayError
    > => {
      const request = HttpClientRequest.post(`${url}${path}`).pipe(
        HttpClientRequest.bearerToken(apiKey),
        HttpClientRequest.bodyText(body, "application/json")
      )
      const attempt = exchange(client.execute(request), passOn).pipe(
        Effect.flatMap(({ value, requestId }) =>
          "notJson" in value
            ? Effect.fail({
                reason: new InvalidResponse({
                  message: `The gateway answered with ${value.notJson || "no content-type"} that is no JSON object: check SLUICE_GATEWAY_URL`
                }),
                requestId
              })
            : Effect.succeed({ value, requestId })
        )
      )
      return call({ operation, model }, attempt).pipe(
        Effect.map(({ value }) => value),
        Effect.mapError(blameUs("SLUICE_API_KEY"))
      )
    }

  return {
    id: new URL(url).host,
    models: [
      { id: models.embedding, operation: "embeddings" },
      { id: models.rerank, operation: "rerank" },
      { id: models.chat, operation: "chat" }
    ],
    operations: {
      embeddings: forward("embeddings", "/v1/embeddings"),
      rerank: forward("rerank", "/v1/rerank"),
      chat: forward("chat", "/v1/chat/completions")
    },
    ...(accessToken !== undefined && { account: yield* accountOf(url, accessToken) })
  } satisfies Provider
})
