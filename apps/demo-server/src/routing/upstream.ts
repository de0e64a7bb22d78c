/** The provider that passes calls on to a gateway: bodies go and come as they are, and nobody decodes them. */
import { Account, type Model, RETRY_NEVER, type SystemAccessToken } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import type { GatewaySettings } from "../config/ServerConfig.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import { hasMade } from "../billing/ReportedUsage.ts"
import { concealOf } from "./RedactCredential.ts"
import { type Gateway, makeForward, type Sent } from "./Forward.ts"
import { asksForNothing } from "./ExpectedFields.ts"
import { outgoingBody } from "./ModelName.ts"
import type { Begin, Call, Operations, Provider, ProviderModel, TaskOperation } from "./Provider.ts"
import { askingUsage, hidesUsage } from "./StreamUsage.ts"
import { beginning, isWhole, passFile, passNothing, passOn } from "./UpstreamAnswer.ts"
import { blameUs, goesOn, lost, removesNot, withoutId } from "./UpstreamFaults.ts"

const IMAGES = "/v1/images/generations"
const VIDEOS = "/v1/videos"

/** A model as the upstream knows it, and the names that callers may use for it. */
export interface ServedModel extends ProviderModel {
  readonly aliases: ReadonlyArray<string>
  /** Until the whole answer, or the head of a stream. */
  readonly timeout: Duration.Duration
  /** What an embedding model wants before a text. */
  readonly prefixes?: { readonly query?: string; readonly passage?: string }
  /** Texts of one request for embeddings, where the library makes it. */
  readonly batch?: number
}

/** What is looked at of a request that is passed on. */
interface Asked {
  readonly model: string
  readonly stream?: boolean | undefined
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | undefined
  readonly top_n?: number | null | undefined
}

/** A gateway that calls are passed on to. */
export interface UpstreamSettings extends Gateway {
  readonly id: string
  /** Without a trailing slash. */
  readonly url: string
  /** Absent: what it serves is what is declared here. */
  readonly accessToken?: SystemAccessToken | undefined
  readonly models: ReadonlyArray<ServedModel>
  /** Operations of which it takes any model. */
  readonly anyModelOf?: ReadonlyArray<keyof Operations>
}

/** The account that the system access token opens, one attempt a call. */
const accountOf = Effect.fnUntraced(function* (baseUrl: string, accessToken: SystemAccessToken) {
  const options = { baseUrl, accessToken, retry: RETRY_NEVER }
  const context = yield* Layer.build(AccountClient.layerWithoutTransport(options))
  const { models, availableModels } = Context.get(context, Account)
  const names = { url: "SLUICE_GATEWAY_URL", apiKey: "SLUICE_ACCESS_TOKEN" }
  const blamed = Effect.mapError(blameUs(names))
  const { bytes } = concealOf(Redacted.value(accessToken))
  const concealed = Effect.map(
    (list: ReadonlyArray<Model>) =>
      JSON.parse(bytes(Buffer.from(JSON.stringify(list))).toString()) as ReadonlyArray<Model>
  )
  return { models: concealed(blamed(models)), availableModels: concealed(blamed(availableModels)) }
})

/** Serves the declared models by the gateway at `url`, one attempt a call. */
export const upstream = Effect.fnUntraced(function* (settings: UpstreamSettings) {
  const { accessToken, anyModelOf, id, idle, models, timeout, url } = settings
  const tasks = yield* MediaTasks
  const { conceal, send, sendTo } = yield* makeForward(settings)

  const byName = new Map(
    models.flatMap((model) =>
      [model.id, ...model.aliases].map((name) => [`${model.operation} ${name}`, model] as const)
    )
  )
  const namesOf = (operation: keyof Operations, called: string) => {
    const model = byName.get(`${operation} ${called}`)
    return { operation, called, model: model?.id ?? called, timeout: model?.timeout }
  }

  const pass = (
    operation: keyof Operations,
    path: string,
    { body, request: { model: called } }: Call<{ readonly model: string }>,
    repeat?: "creations"
  ) => {
    const { model, timeout } = namesOf(operation, called)
    const request = HttpClientRequest.bodyText(
      HttpClientRequest.post(`${url}${path}`),
      outgoingBody(body, called, model),
      "application/json"
    )
    return send(
      { operation, model: called, ...(repeat && { repeat }) },
      request,
      passOn(idle, { operation, called, model }, conceal),
      timeout
    )
  }

  /** Models whose gateway refuses to be asked for the usage of a stream. */
  const refusing = new Set<string>()
  const streamed = (operation: keyof Operations, path: string, call: Call<Asked>) => {
    const { model } = call.request
    const plain = pass(operation, path, call)
    if (!hidesUsage(call.request) || refusing.has(model)) return plain
    return Effect.catchIf(
      pass(operation, path, { ...call, body: askingUsage(call.body) }),
      // Nothing was written; another field that is named is the caller's own.
      ({ reason }) => reason._tag === "InvalidRequest" && /^(?:stream_options|$)/.test(reason.param ?? ""),
      () => Effect.tap(plain, () => Effect.sync(() => refusing.add(model)))
    )
  }

  const forward = (operation: keyof Operations, path: string) => {
    const { begin, send } = sendTo(`${url}${path}`)
    const sent = ({ body, request }: Call<Asked>): Sent => {
      const { called, model, timeout } = namesOf(operation, request.model)
      const names = { operation, called, model, mayBeEmpty: asksForNothing(request) }
      return {
        about: { operation, model: called },
        body: outgoingBody(body, called, model),
        names,
        limit: timeout
      }
    }
    return {
      operate: (call: Call<Asked>) =>
        call.request.stream === true ? streamed(operation, path, call) : send(sent(call)),
      begin: ((call: Call<Asked>, context, hear) =>
        call.request.stream === true ? undefined : begin(sent(call), context, hear)) satisfies Begin
    }
  }
  const embeddings = forward("embeddings", "/v1/embeddings")
  const rerank = forward("rerank", "/v1/rerank")
  const chat = forward("chat", "/v1/chat/completions")

  /** What the gateway begins belongs to whoever asked for it: its id is all that is read. */
  const begin = (kind: MediaTask["kind"], path: string) => (call: Call<{ readonly model: string }>) =>
    Effect.tap(pass(`${kind}s`, path, call, "creations"), (answer) => {
      const task = beginning(kind, answer)
      return task === undefined
        ? isWhole(kind, answer)
          ? Effect.void
          : Effect.fail(withoutId(kind, call.request.model))
        : Effect.flatMap(Clock.currentTimeMillis, (created) => {
            const added = tasks.add({
              ...task,
              kind,
              user: call.user,
              provider: id,
              model: call.request.model,
              created,
              ended: created,
              status: "in_progress",
              progress: 0,
              files: [],
              request: null,
              told: {}
            })
            return Effect.mapError(added, (error) => lost(kind, call.request.model, error.reason.message))
          })
    })

  const at = (path: string, id: string, rest = "") => `${url}${path}/${encodeURIComponent(id)}${rest}`

  const look =
    (path: string): TaskOperation<never> =>
    ({ task: { id, kind, model } }) =>
      send(
        { operation: `${kind}s`, model },
        HttpClientRequest.get(at(path, id)),
        passOn(idle, namesOf(`${kind}s`, model), conceal)
      )

  const video = look(VIDEOS)

  return {
    id,
    models: models.flatMap((model) =>
      [model.id, ...model.aliases].map((id): ProviderModel => ({ ...model, id }))
    ),
    passesOn: true,
    ...(anyModelOf !== undefined && { anyModelOf }),
    operations: {
      embeddings: embeddings.operate,
      rerank: rerank.operate,
      chat: chat.operate,
      images: begin("image", IMAGES),
      videos: begin("video", VIDEOS)
    },
    begins: { embeddings: embeddings.begin, rerank: rerank.begin, chat: chat.begin },
    tasks: {
      image: look(IMAGES),
      video,
      videoContent: ({ task: { id, model } }) =>
        send({ operation: "videos", model }, HttpClientRequest.get(at(VIDEOS, id, "/content")), passFile),
      removeVideo: (call) => {
        const { id, model } = call.task
        const request = HttpClientRequest.delete(at(VIDEOS, id))
        return send({ operation: "videos", model }, request, passNothing, timeout, removesNot).pipe(
          Effect.catchIf(removesNot, () =>
            Effect.filterOrFail(
              video(call),
              (answer) => hasMade(answer) !== undefined,
              () => goesOn(model)
            )
          ),
          Effect.andThen(tasks.remove(call.task))
        )
      }
    },
    ...(accessToken !== undefined && { account: yield* accountOf(url, accessToken) })
  } satisfies Provider
})

/** The short form of one upstream, as the environment has it: models by name, and any for images and videos. */
export const ofGateway = ({ accessToken, apiKey, models, url }: GatewaySettings): UpstreamSettings => {
  const timeout = Duration.seconds(60)
  const model = (id: string | undefined, operation: keyof Operations) =>
    id === undefined ? [] : [{ id, operation, aliases: [], timeout }]
  return {
    id: new URL(url).host,
    url,
    apiKey,
    accessToken,
    models: [
      ...model(models.embedding, "embeddings"),
      ...model(models.rerank, "rerank"),
      ...model(models.chat, "chat")
    ],
    anyModelOf: ["images", "videos"],
    timeout,
    idle: timeout,
    names: { url: "SLUICE_GATEWAY_URL", apiKey: "SLUICE_API_KEY" }
  }
}
