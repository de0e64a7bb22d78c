/** The provider that forwards calls to an upstream gateway. Bodies are not decoded. */
import { Account, type Model, RETRY_NEVER, type SystemAccessToken } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import type { ChatRequest, RerankRequest } from "@sluice/core/contract"
import { gateway } from "@sluice/providers"
import { Clock, Context, Duration, Effect, Layer, Record, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import { CurrentCharge, taskIdOf } from "../media/TaskIds.ts"
import { outgoingBody } from "./ModelName.ts"
import type { Call, Operations, Provider, ProviderModel, TaskOperation, TaskOperations } from "./Provider.ts"
import { makeSendEmbeddings } from "./EmbeddingFormat.ts"
import { makeRedactor } from "./RedactCredential.ts"
import { fieldOf, isText, taskOutcome } from "./ResponseBody.ts"
import { includeUsage, hidesUsage } from "./StreamUsage.ts"
import { type UpstreamConnection, makeUpstreamClient, type UpstreamRequest } from "./UpstreamClient.ts"
import {
  rewordConfigurationErrors,
  cannotCancel,
  untrackedTask,
  cannotDelete,
  taskWithoutId
} from "./UpstreamFaults.ts"
import { countUpstreamCall } from "./UpstreamMetrics.ts"
import {
  allowsNoResults,
  createdTask,
  forwardVideo,
  ignoreBody,
  forwardResponse,
  withTaskId
} from "./UpstreamResponse.ts"

/** The path of an operation in the interface. The dialect's client replaces it. */
const pathOf = (operation: keyof Operations): string => gateway.operations[operation].path

/** A model under the upstream's name, and its aliases for callers. */
export interface ServedModel extends ProviderModel {
  readonly aliases: ReadonlyArray<string>
  /** Until the whole response, or the head of a stream. */
  readonly timeout: Duration.Duration
  /** Prefixes that an embedding model expects. */
  readonly prefixes?: { readonly query?: string; readonly passage?: string } | undefined
  /** Texts in one embeddings request of the library at most. */
  readonly batch?: number | undefined
}

/** The fields of a request that affect how it is forwarded. */
type Forwarded = Pick<ChatRequest, "model" | "stream" | "stream_options"> &
  Partial<Pick<RerankRequest, "top_n">>

/** Long answers and images take minutes. An abandoned one is still charged. */
const GENERATIONS: ReadonlySet<keyof Operations> = new Set(["chat", "images"])

/** The time for a response, unless the operator sets one. */
export const responseTimeout = (operation: keyof Operations): Duration.Duration =>
  GENERATIONS.has(operation) ? Duration.minutes(10) : Duration.minutes(1)

/** A gateway to which calls are forwarded. */
export interface UpstreamSettings extends UpstreamConnection {
  readonly id: string
  /** Opens the gateway's account, which lists its models. Without it, `models` is the list. */
  readonly accessToken?: SystemAccessToken | undefined
  readonly models: ReadonlyArray<ServedModel>
  /** Whether the vendor has not listed its models yet. */
  readonly isUnlisted?: boolean
  /** Operations for which any model is forwarded. */
  readonly anyModelOf?: ReadonlyArray<keyof Operations>
}

/** The upstream's account, by its system access token. One attempt for each call. */
const accountOf = Effect.fnUntraced(function* (baseUrl: string, accessToken: SystemAccessToken) {
  const options = { baseUrl, accessToken, retry: RETRY_NEVER }
  const context = yield* Layer.build(AccountClient.layerAccountWithoutTransport(options))
  const { availableModels, models } = Context.get(context, Account)
  const reword = Effect.mapError(
    rewordConfigurationErrors({ url: "SLUICE_GATEWAY_URL", apiKey: "SLUICE_ACCESS_TOKEN" })
  )
  const { bytes } = makeRedactor(Redacted.value(accessToken))
  const redact = Effect.map(
    (list: ReadonlyArray<Model>) =>
      JSON.parse(bytes(Buffer.from(JSON.stringify(list))).toString()) as ReadonlyArray<Model>
  )
  return { models: redact(reword(models)), availableModels: redact(reword(availableModels)) }
})

/** The address before the interface's paths. The dialect's client replaces it where the vendor's differs. */
const interfaceUrl = ({ url }: UpstreamSettings) => url.replace(/\/v1$/, "")

/** Forwards requests under the upstream's names for models. */
const makeForward = Effect.fnUntraced(function* (settings: UpstreamSettings) {
  const { idle, models } = settings
  const url = interfaceUrl(settings)
  const { redactor, send: sendUncounted } = yield* makeUpstreamClient(settings)
  const byName = new Map<string, ServedModel>(
    models.flatMap((model) =>
      [model.id, ...model.aliases].map((name) => [`${model.operation} ${name}`, model] as const)
    )
  )
  const send = (request: UpstreamRequest) => {
    const { model = "", operation } = request.about
    const { group = operation } = byName.get(`${operation} ${model}`) ?? {}
    return countUpstreamCall({ upstream: settings.id, operation, group })(sendUncounted(request))
  }

  /** Models whose gateway rejects requests for the usage of a stream. */
  const withoutUsage = new Set<string>()

  /** The upstream's name and timeout of a model, and how its responses are read. */
  const reading = (operation: keyof Operations, called: string, mayBeEmpty = false) => {
    const served = byName.get(`${operation} ${called}`)
    const model = served?.id ?? called
    const read = forwardResponse(idle, { operation, called, model, mayBeEmpty }, redactor)
    return { model, read, limit: served?.timeout }
  }

  const forwardCall = (
    operation: keyof Operations,
    { body, request: { model: called, stream, ...request } }: Call<Forwarded>,
    repeat?: "creations"
  ) => {
    const { limit, model, read } = reading(operation, called, allowsNoResults(request))
    return send({
      about: repeat === undefined ? { operation, model: called } : { operation, model: called, repeat },
      request: HttpClientRequest.bodyText(
        HttpClientRequest.post(url + pathOf(operation)),
        outgoingBody(body, called, model),
        "application/json"
      ),
      read,
      limit: limit ?? responseTimeout(operation),
      stream: stream === true
    })
  }

  /** Forwards a stream, and requests its usage for billing. */
  const forwardStream = (call: Call<Forwarded>) => {
    const { model } = call.request
    const plain = forwardCall("chat", call)
    if (!hidesUsage(call.request) || withoutUsage.has(model)) return plain
    return Effect.catchIf(
      forwardCall("chat", { ...call, body: includeUsage(call.body) }),
      // The gateway may not know `stream_options`. An error about another field is the caller's.
      ({ reason }) => reason._tag === "InvalidRequest" && /^(?:stream_options|$)/.test(reason.param ?? ""),
      () => Effect.tap(plain, () => Effect.sync(() => withoutUsage.add(model)))
    )
  }
  return { forwardCall, forwardStream, reading, send }
})

type Forward = Effect.Success<ReturnType<typeof makeForward>>

/** Whether this server gives the tasks their ids, because the vendor's protocol has none of the interface. */
const hasOwnIds = ({ dialect }: UpstreamSettings, kind: MediaTask["kind"]): boolean =>
  dialect?.operations[`${kind}s`]?.task !== undefined

/** Fields of a request that vendors do not repeat. The price depends on them. */
const REPEATED = ["seconds", "size", "quality"]

const repeatedFields = (request: object): MediaTask["told"] =>
  Record.filter(
    Record.fromIterableWith(REPEATED, (name) => [name, fieldOf(request, name)]),
    isText
  )

/** Creates an image or a video. If the response starts a task, it is recorded with its owner. */
const creationOf =
  (
    kind: MediaTask["kind"],
    settings: UpstreamSettings,
    { forwardCall }: Forward,
    tasks: MediaTasks["Service"]
  ) =>
  (call: Call<{ readonly model: string }>) =>
    Effect.flatMap(
      forwardCall(`${kind}s`, call, "creations"),
      Effect.fnUntraced(function* (response) {
        const task = createdTask(kind, response)
        const { model } = call.request
        if (task === "completed") return response
        if (task === undefined) return yield* taskWithoutId(kind, model)
        const created = yield* Clock.currentTimeMillis
        const ids = hasOwnIds(settings, kind)
          ? { id: taskIdOf(kind, yield* CurrentCharge), reference: task.id }
          : task
        const record: MediaTask = {
          ...ids,
          kind,
          user: call.user,
          provider: settings.id,
          model,
          created,
          ended: created,
          status: "in_progress",
          progress: 0,
          files: [],
          request: null,
          told: hasOwnIds(settings, kind) ? repeatedFields(call.request) : {}
        }
        yield* Effect.mapError(tasks.add(record), (error) => untrackedTask(kind, model, error.reason.message))
        return withTaskId(response, record)
      })
    )

const taskOperations = (
  settings: UpstreamSettings,
  { reading, send }: Forward,
  tasks: MediaTasks["Service"]
) => {
  const url = interfaceUrl(settings)
  const sendTask = (
    method: "GET" | "DELETE",
    { id, kind, model, reference = id }: MediaTask,
    path: "" | "/content",
    options: Omit<UpstreamRequest, "about" | "request">
  ) => {
    const operation = `${kind}s` as const
    const address = `${url}${pathOf(operation)}/${encodeURIComponent(reference)}${path}`
    return send({ about: { operation, model }, request: HttpClientRequest.make(method)(address), ...options })
  }
  const status: TaskOperation<never> = ({ task }) =>
    Effect.map(sendTask("GET", task, "", { read: reading(`${task.kind}s`, task.model).read }), (response) =>
      withTaskId(response, task)
    )
  return {
    image: status,
    video: status,
    videoContent: ({ task }) => sendTask("GET", task, "/content", { read: forwardVideo }),
    removeVideo: (call) =>
      sendTask("DELETE", call.task, "", {
        read: ignoreBody,
        limit: settings.timeout,
        expected: cannotDelete
      }).pipe(
        Effect.catchIf(cannotDelete, () =>
          Effect.filterOrFail(
            status(call),
            (response) => taskOutcome(response) !== undefined,
            () => cannotCancel(call.task.model)
          )
        ),
        Effect.andThen(tasks.remove(call.task))
      )
  } satisfies TaskOperations
}

/** Makes the provider of an upstream gateway. It makes one attempt for each call. */
export const upstream = Effect.fnUntraced(function* (settings: UpstreamSettings) {
  const { accessToken, anyModelOf, id, isUnlisted = false, models } = settings
  const tasks = yield* MediaTasks
  const forward = yield* makeForward(settings)
  const { forwardCall, forwardStream } = forward
  return {
    id,
    models: models.flatMap((model) =>
      [model.id, ...model.aliases].map((id): ProviderModel => ({ ...model, id }))
    ),
    isUnlisted,
    ...(anyModelOf !== undefined && { anyModelOf }),
    operations: {
      embeddings: makeSendEmbeddings((call) => forwardCall("embeddings", call)),
      rerank: (call) => forwardCall("rerank", call),
      chat: (call) => (call.request.stream === true ? forwardStream(call) : forwardCall("chat", call)),
      images: creationOf("image", settings, forward, tasks),
      videos: creationOf("video", settings, forward, tasks)
    },
    tasks: taskOperations(settings, forward, tasks),
    ...(accessToken !== undefined && { account: yield* accountOf(interfaceUrl(settings), accessToken) })
  } satisfies Provider
})
