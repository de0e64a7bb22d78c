/** The provider that passes calls on to a gateway: bodies go and come as they are, and nobody decodes them. */
import {
  Account,
  type ApiKey,
  Failure,
  GatewayError,
  InvalidResponse,
  RETRY_NEVER,
  ServerFailure,
  type SystemAccessToken
} from "@sluice/core"
import { AccountClient, exchange, makeCaller } from "@sluice/core/client"
import { Clock, Context, Effect, Layer, Stream } from "effect"
import {
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
  HttpServerResponse
} from "effect/http"
import type { GatewaySettings } from "../Config.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import type { Call, Provider, TaskOperation } from "./Provider.ts"

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
const passOn = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse | NotJson, HttpClientError.HttpClientError> => {
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

const IMAGES = "/v1/images/generations"
const VIDEOS = "/v1/videos"

/** A video, byte by byte as it comes. */
const passFile: typeof passOn = (response) => {
  const contentType = response.headers["content-type"] ?? ""
  return Effect.succeed(
    /^(?:video\/|application\/octet-stream)/.test(contentType)
      ? HttpServerResponse.stream(response.stream, {
          contentType: "video/mp4",
          headers: { "cache-control": "private, no-store" }
        })
      : { notJson: contentType }
  )
}

/** What a removal answers, the interface does not say: that it was no refusal is enough. */
const passNothing: typeof passOn = () => Effect.succeed(HttpServerResponse.empty())

/** The id of a task that an answer begins; none where it has what was asked for already. */
const beginning = ({ body }: HttpServerResponse.HttpServerResponse): { readonly id: string } | undefined => {
  if (body._tag !== "Uint8Array") return undefined
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(body.body))
    const { id } = answer as { readonly id?: unknown }
    return typeof id === "string" && id !== "" ? { id } : undefined
  } catch {
    return undefined
  }
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

/** One request to the gateway, one attempt, and its answer as it is; `read` says what answers there are. */
const makeForward = Effect.fnUntraced(function* (apiKey: ApiKey) {
  const client = yield* HttpClient.HttpClient
  const { call } = makeCaller({ retry: RETRY_NEVER }, apiKey)
  return (
    about: { readonly operation: string; readonly model: string },
    request: HttpClientRequest.HttpClientRequest,
    read = passOn
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError> => {
    const attempt = exchange(client.execute(HttpClientRequest.bearerToken(request, apiKey)), read).pipe(
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
    return call(about, attempt).pipe(
      Effect.map(({ value }) => value),
      Effect.mapError(blameUs("SLUICE_API_KEY"))
    )
  }
})

/**
 * Serves the three configured models by the gateway at `url`, one attempt a call; and whichever models it has for images
 * and videos, which the configuration does not name.
 */
export const upstream = Effect.fnUntraced(function* ({ url, apiKey, accessToken, models }: GatewaySettings) {
  const id = new URL(url).host
  const tasks = yield* MediaTasks
  const send = yield* makeForward(apiKey)

  const post = (path: string, body: string) =>
    HttpClientRequest.bodyText(HttpClientRequest.post(`${url}${path}`), body, "application/json")

  const forward =
    (operation: string, path: string) =>
    ({ request: { model }, body }: Call<{ readonly model: string }>) =>
      send({ operation, model }, post(path, body))

  /** What the gateway begins belongs to whoever asked for it: its id is all that is read. */
  const begin =
    (kind: MediaTask["kind"], path: string) =>
    ({ request: { model }, body, user }: Call<{ readonly model: string }>) =>
      Effect.tap(send({ operation: `${kind}s`, model }, post(path, body)), (answer) => {
        const task = beginning(answer)
        return task === undefined
          ? Effect.void
          : Effect.flatMap(Clock.currentTimeMillis, (created) =>
              tasks.add({
                ...task,
                kind,
                user,
                provider: id,
                model,
                created,
                ended: created,
                status: "in_progress",
                progress: 0,
                files: [],
                request: null,
                told: {}
              })
            )
      })

  const look =
    (path: string): TaskOperation<never> =>
    ({ task: { id, kind, model } }) =>
      send({ operation: `${kind}s`, model }, HttpClientRequest.get(`${url}${path}/${encodeURIComponent(id)}`))

  return {
    id,
    models: [
      { id: models.embedding, operation: "embeddings" },
      { id: models.rerank, operation: "rerank" },
      { id: models.chat, operation: "chat" }
    ],
    anyModelOf: ["images", "videos"],
    operations: {
      embeddings: forward("embeddings", "/v1/embeddings"),
      rerank: forward("rerank", "/v1/rerank"),
      chat: forward("chat", "/v1/chat/completions"),
      images: begin("image", IMAGES),
      videos: begin("video", VIDEOS)
    },
    tasks: {
      image: look(IMAGES),
      video: look(VIDEOS),
      videoContent: ({ task: { id, model } }) =>
        send(
          { operation: "videos", model },
          HttpClientRequest.get(`${url}${VIDEOS}/${encodeURIComponent(id)}/content`),
          passFile
        ),
      removeVideo: ({ task: { id, model } }) =>
        send(
          { operation: "videos", model },
          HttpClientRequest.delete(`${url}${VIDEOS}/${encodeURIComponent(id)}`),
          passNothing
        ).pipe(Effect.andThen(tasks.remove(id)))
    },
    ...(accessToken !== undefined && { account: yield* accountOf(url, accessToken) })
  } satisfies Provider
})
