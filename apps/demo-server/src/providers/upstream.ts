/** The provider that passes calls on to a gateway: bodies go and come as they are, and nobody decodes them. */
import {
  Account,
  type ApiKey,
  GatewayError,
  type GatewayReason,
  InvalidRequest,
  InvalidResponse,
  type Model,
  RETRY_NEVER,
  ServerFailure,
  type SystemAccessToken
} from "@sluice/core"
import {
  type About,
  AccountClient,
  type Answer,
  DirectTransport,
  DownloadTransport,
  exchange,
  makeCaller,
  posted,
  type Problem,
  reasonTold,
  requestIdOf,
  type Rest,
  type Usual
} from "@sluice/core/client"
import { Clock, Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest, type HttpServerResponse } from "effect/http"
import type { GatewaySettings } from "../Config.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import { hasMade } from "../money/Reported.ts"
import { concealOf } from "./Conceal.ts"
import { asksForNothing } from "./Given.ts"
import { outgoingBody } from "./ModelName.ts"
import type { Begin, Call, Operations, Outcome, Provider, ProviderModel, TaskOperation } from "./Provider.ts"
import { askingUsage, hidesUsage } from "./StreamUsage.ts"
import {
  beginning,
  isWhole,
  type Names,
  type NoAnswer,
  passFile,
  passJson,
  passNothing,
  passOn,
  type Read
} from "./UpstreamAnswer.ts"
import { blameUs, goesOn, removesNot, withoutId } from "./UpstreamFaults.ts"

type Response = HttpServerResponse.HttpServerResponse

const SUCCESS = 200
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

/** A call as it is sent. */
interface Sent {
  readonly about: About
  readonly body: string
  readonly names: Names
  readonly limit: Duration.Duration | undefined
}

/** A gateway that calls are passed on to. */
export interface UpstreamSettings {
  readonly id: string
  /** Without a trailing slash. */
  readonly url: string
  readonly apiKey: ApiKey
  /** Absent: what it serves is what is declared here. */
  readonly accessToken?: SystemAccessToken | undefined
  readonly models: ReadonlyArray<ServedModel>
  /** Operations of which it takes any model. */
  readonly anyModelOf?: ReadonlyArray<keyof Operations>
  /** Of models that are not declared. */
  readonly timeout: Duration.Duration
  /** Between two events of a stream. */
  readonly idle: Duration.Duration
  /** What the messages call these settings. */
  readonly names: { readonly url: string; readonly apiKey: string }
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

/** One request to the gateway, one attempt, and its answer as it is; `read` says what answers there are. */
const makeForward = Effect.fnUntraced(function* ({ apiKey, idle, names, timeout }: UpstreamSettings) {
  const small = yield* HttpClient.HttpClient
  const large = yield* DownloadTransport
  // Of the two limits that there are, that of an attempt is the one that is meant.
  const callerOf = (attemptTimeout: Duration.Duration) =>
    makeCaller({ retry: RETRY_NEVER, attemptTimeout, callTimeout: Duration.times(attemptTimeout, 2) }, apiKey)
  const callers = new Map([[Duration.toMillis(timeout), callerOf(timeout)]])
  const callerWithin = (limit: Duration.Duration) => {
    const known = callers.get(Duration.toMillis(limit)) ?? callerOf(limit)
    callers.set(Duration.toMillis(limit), known)
    return known
  }
  const blame = Effect.mapError(blameUs(names))
  const conceal = concealOf(Redacted.value(apiKey))
  const faultOf = ({ contentType, error }: NoAnswer): GatewayReason => {
    if (error === "nothing") {
      const message = "The gateway answered with status 200 and without anything of what was asked for"
      return new ServerFailure({ message, status: SUCCESS })
    }
    if (!error) {
      const what = `${contentType || "no content-type"} that is no JSON object: check ${names.url}`
      return new InvalidResponse({ message: `The gateway answered with ${what}` })
    }
    const reason = reasonTold(error)
    if (reason._tag !== "ServerFailure") return reason
    const { code, param } = error
    // A field that is named is the caller's.
    if (param !== undefined) return new InvalidRequest({ message: reason.message, param, code })
    const message = `The gateway answered with status 200 and an error: ${reason.message}`
    // Whose fault it is, nothing says: the status is all there is.
    return code === undefined
      ? new ServerFailure({ message, status: SUCCESS, final: true })
      : new InvalidResponse({ message })
  }
  const failed = (answer: NoAnswer, requestId: string | undefined): Problem => {
    const reason = faultOf(answer)
    return { reason, requestId, unmade: reason._tag === "RateLimited" }
  }
  const checked = (attempt: Effect.Effect<Answer<Response | NoAnswer>, Problem>) =>
    Effect.flatMap(attempt, ({ value, requestId }) =>
      "error" in value
        ? Effect.fail(failed(value, requestId))
        : Effect.succeed<Answer<Response>>({ value, requestId })
    )
  const valueOf = ({ value }: Answer<Response>) => value

  /** `known`: a failure that is nobody's fault. */
  const send = (
    about: About,
    request: HttpClientRequest.HttpClientRequest,
    read: Read,
    limit: Duration.Duration = timeout,
    known: (error: GatewayError) => boolean = () => false
  ): Effect.Effect<Response, GatewayError> => {
    const client = read === passFile ? large : small
    const attempt = exchange(client.execute(HttpClientRequest.bearerToken(request, apiKey)), read)
    const called = callerWithin(limit).call(about, checked(attempt))
    return Effect.mapError(Effect.map(called, valueOf), (error) =>
      known(error) ? error : blameUs(names)(error)
    )
  }

  const direct = Option.getOrUndefined(yield* Effect.serviceOption(DirectTransport))
  /** JSON to one address, whose answer is waited for as a whole: what is usual in it takes the shortest way. */
  const sendTo = (address: string) => {
    const post = direct?.post(
      HttpClientRequest.post(address).pipe(
        HttpClientRequest.bearerToken(apiKey),
        HttpClientRequest.setHeader("content-type", "application/json"),
        HttpClientRequest.setHeader("accept-encoding", "identity")
      )
    )
    const usual =
      (names: Names): Usual<Response> =>
      ({ received }, bytes) => {
        // Of an upstream that says it twice, a list.
        const contentType = [received["content-type"] ?? ""].flat().join(", ")
        const value = passJson(contentType, bytes, names, conceal)
        return value && { value, requestId: requestIdOf(received) }
      }
    const rest =
      (names: Names): Rest<Response> =>
      (sent) =>
        checked(exchange(sent, passOn(idle, names, conceal)))
    const ended = (call: Effect.Effect<Answer<Response>, GatewayError>) => blame(Effect.map(call, valueOf))
    return {
      send: ({ about, body, limit = timeout, names }: Sent): Effect.Effect<Response, GatewayError> => {
        if (post === undefined) {
          const request = HttpClientRequest.bodyText(
            HttpClientRequest.post(address),
            body,
            "application/json"
          )
          return send(about, request, passOn(idle, names, conceal), limit)
        }
        return ended(callerWithin(limit).call(about, posted(post, body, usual(names), rest(names))))
      },
      begin: (
        { about, body, limit = timeout, names }: Sent,
        context: Context.Context<never>,
        hear: (outcome: Outcome) => void
      ) =>
        post &&
        callerWithin(limit).begin<Response>(
          about,
          context,
          (heard) => post(body, usual(names), rest(names), heard),
          (outcome) => hear(Effect.isEffect(outcome) ? ended(outcome) : outcome.value)
        )
    }
  }
  return { send, sendTo, conceal }
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
      const task = beginning(answer)
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
            return Effect.mapError(added, (error) => new GatewayError({ ...error, inDoubt: true }))
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
