/** `gateway.videos` over HTTP. */
import { Clock, Duration, Effect, FileSystem, Option, Schema, Stream } from "effect"
import { type HttpClient, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Video } from "../../contract/Videos.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { GatewayError, TimedOut } from "../../contract/GatewayError.ts"
import { readImage } from "../../media/ImageSource.ts"
import { parseJson } from "../../contract/Fields.ts"
import { CurrentRetryPolicy, RETRY, type RetryPolicy, retrySchedule } from "../../gateway/RetryPolicy.ts"
import {
  type InputReference,
  isVideoGroup,
  validateVideoCall,
  type VideoCall
} from "../../contract/VideoModels.ts"
import {
  VIDEO_DEADLINE,
  VIDEO_POLL_INTERVAL,
  type VideoWaitOptions,
  type Videos
} from "../../gateway/Videos.ts"
import type { About, Caller } from "../call/Call.ts"
import { bounded, judgeVideo, mp4Bytes, writeWhole } from "./Download.ts"
import { exchange, judge } from "../transport/Exchange.ts"
import { orGone } from "../call/Gone.ts"
import { outgoing } from "../transport/Outgoing.ts"
import { makeModelGroupOf } from "./ModelGroups.ts"
import { fetching, withRedirects } from "../transport/Redirects.ts"
import { pollTask, taskFailed } from "./Tasks.ts"
import { reasonOfErrorDetails, parseErrorBody } from "../transport/ErrorDetails.ts"
import { DownloadTransport } from "../transport/Transport.ts"

export interface VideosOptions {
  /** How videos are waited for. */
  readonly videos?: VideoWaitOptions
  readonly retry?: RetryPolicy
}

const CREATE = { group: "videos", endpoint: "create" } as const
const GET = { group: "videos", endpoint: "get" } as const
const CONTENT = { group: "videos", endpoint: "content" } as const
const REMOVE = { group: "videos", endpoint: "remove" } as const

const responseMode = "response-only"

/** Any status of success will do: gateways answer a creation with 200, 201 or 202. */
const decodeVideo = HttpClientResponse.schemaBodyJson(Video)

/** A task that failed before it had an id. */
const Unmade = Schema.Struct({ status: Schema.Literal("failed"), error: Schema.optional(Schema.Json) })
const decodeUnmade = HttpClientResponse.schemaBodyJson(Unmade)

const decodeCreation = (response: HttpClientResponse.HttpClientResponse) =>
  decodeVideo(response).pipe(Effect.catch((fault) => Effect.mapError(decodeUnmade(response), () => fault)))

const judgeCreation = (answer: Video | typeof Unmade.Type) =>
  "id" in answer ? Effect.succeed(answer) : Effect.fail(taskFailed(answer.error))

/** The body of a removal can have any form, but not that of a refusal. */
const judgeRemoval = (text: string) => {
  const json = parseJson(text)
  const refuses =
    typeof json === "object" &&
    json !== null &&
    ("error" in json ? json.error : "success" in json && !json.success)
  const told = refuses ? parseErrorBody(json) : undefined
  return told === undefined ? Effect.void : Effect.fail(reasonOfErrorDetails(told))
}

const referenceOf = Effect.fnUntraced(function* (reference: InputReference) {
  if (isObject(reference)) return reference.object
  return (yield* readImage(reference)).wire
})

const isObject = (
  reference: InputReference
): reference is Extract<InputReference, { readonly object: unknown }> =>
  typeof reference === "object" && "object" in reference

/** What the client has already made of its options. */
interface Here {
  readonly baseUrl: string
  /** Knows the base URL. */
  readonly httpClient: HttpClient.HttpClient
  /** Knows nothing, for downloads where there is no transport of theirs. */
  readonly client: HttpClient.HttpClient
}

const what = "the video out: its link ends, generally after 24 hours"

export const makeVideos = Effect.fnUntraced(function* (
  options: VideosOptions,
  { attemptTimeout, call, fail }: Caller,
  { baseUrl, client, httpClient }: Here
) {
  const files = yield* FileSystem.FileSystem
  const known = yield* makeModelGroupOf
  const downloads = Option.getOrElse(yield* Effect.serviceOption(DownloadTransport), () => client)
  const large = outgoing(withRedirects(downloads, baseUrl), baseUrl)
  const postVideo = yield* HttpApiClient.endpoint(GatewayApi, { ...CREATE, httpClient })
  const getVideo = yield* HttpApiClient.endpoint(GatewayApi, { ...GET, httpClient })
  const getContent = yield* HttpApiClient.endpoint(GatewayApi, { ...CONTENT, httpClient: large })
  const deleteVideo = yield* HttpApiClient.endpoint(GatewayApi, { ...REMOVE, httpClient })

  /** The error says which task it is about. */
  const of =
    (task: string) =>
    (error: GatewayError): GatewayError =>
      new GatewayError({ ...error, task })

  /** A loose call, as one of its model's group where the program knows that. */
  const grouped = Effect.fnUntraced(function* (call: VideoCall) {
    const group = call.group ?? (yield* known(call.model))
    // Whether its values are the group's is what is to be found out.
    return isVideoGroup(group) ? ({ ...call, group } as VideoCall) : call
  })

  const create: Videos["create"] = Effect.fn("Gateway.videos.create")(function* (request) {
    const { extra, inputReference, model, prompt, seconds, size } = request
    const about: About = { operation: "videos.create", model, repeat: "creations" }
    const refuse = (reason: GatewayError["reason"]) =>
      fail(about, { reason, requestId: undefined, notExecuted: true })
    const refused = validateVideoCall(yield* grouped(request))
    if (refused !== undefined) return yield* refuse(refused)
    const input_reference =
      inputReference &&
      (yield* referenceOf(inputReference).pipe(
        Effect.provideService(FileSystem.FileSystem, files),
        Effect.mapError(refuse)
      ))
    const named = { model, prompt, seconds, size, input_reference }
    const payload = extra === undefined ? named : { ...named, extra }
    const attempt = exchange(postVideo({ payload, responseMode }), decodeCreation)
    const { value } = yield* call(about, judge(judgeCreation)(attempt))
    return value
  })

  const look = (id: string) =>
    call({ operation: "videos.get" }, exchange(getVideo({ params: { id }, responseMode }), decodeVideo)).pipe(
      Effect.map(({ value }) => value),
      Effect.mapError(of(id))
    )

  const get: Videos["get"] = Effect.fn("Gateway.videos.get")(look)

  const deadlineOf = (patience: VideoWaitOptions) =>
    Duration.fromInputUnsafe(patience.deadline ?? options.videos?.deadline ?? VIDEO_DEADLINE)

  const wait = (
    about: About,
    id: string,
    patience: VideoWaitOptions,
    made: { readonly first?: Video; readonly begun?: number } = {}
  ) =>
    pollTask({
      about,
      id,
      get: look(id),
      fail,
      every: patience.every ?? options.videos?.every ?? VIDEO_POLL_INTERVAL,
      deadline: deadlineOf(patience),
      ...made
    })

  const resumed = (id: string, patience: VideoWaitOptions) =>
    wait({ operation: "videos.resume" }, id, patience)

  const generated = (request: VideoCall, patience: VideoWaitOptions) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const about: About = { operation: "videos.generate", model: request.model }
        const deadline = deadlineOf(patience)
        const begun = yield* Clock.currentTimeMillis
        const orElse = () => {
          const message = `No answer within ${Duration.format(deadline)}.`
          const reason = new TimedOut({ message, scope: "call", after: deadline })
          return Effect.fail(fail({ ...about, repeat: "creations" }, { reason, requestId: undefined }))
        }
        const video = yield* Effect.timeoutOrElse(create(request), { duration: deadline, orElse })
        return wait(about, video.id, patience, { first: video, begun })
      })
    )

  const last = (states: Stream.Stream<Video, GatewayError>) =>
    // A task that fails fails the stream: it ends with one that is done.
    Effect.map(Stream.runLast(states), Option.getOrThrow)

  const open = Effect.fnUntraced(function* (id: string) {
    const about: About = { operation: "videos.content" }
    const content = Effect.flatMap(getContent({ params: { id }, responseMode }), bounded)
    const attempt = fetching({ baseUrl, what }, content, (send) =>
      judge(judgeVideo)(exchange(send, Effect.succeed, baseUrl))
    )
    const { requestId, value } = yield* Effect.mapError(call(about, attempt), of(id))
    return Stream.mapError(mp4Bytes(value, attemptTimeout), (reason) =>
      of(id)(fail(about, { reason, requestId }))
    )
  })

  const download: Videos["download"] = Effect.fn("Gateway.videos.download")(function* (id, path) {
    // The waits are the policy's; a budget of time would count the minutes that bytes came.
    const budget = Duration.infinity
    const policy = { ...(options.retry ?? RETRY), ...(yield* CurrentRetryPolicy), budget }
    let isOpen = false
    const bytes = Stream.unwrap(
      Effect.suspend(() => {
        isOpen = false
        return Effect.tap(open(id), () => Effect.sync(() => (isOpen = true)))
      })
    )
    const refused = (error: GatewayError | GatewayError["reason"]) =>
      error instanceof GatewayError
        ? error
        : of(id)(fail({ operation: "videos.download" }, { reason: error, requestId: undefined }))
    return yield* writeWhole(files, path, bytes).pipe(
      Effect.mapError(refused),
      // Until it is open it is retried as a call; what is cut off later, here.
      Effect.retry({ schedule: retrySchedule(policy), while: () => isOpen })
    )
  })

  const remove: Videos["remove"] = Effect.fn("Gateway.videos.remove")((id) =>
    call(
      { operation: "videos.remove" },
      judge(judgeRemoval)(exchange(deleteVideo({ params: { id }, responseMode }), ({ text }) => text))
    ).pipe(orGone, Effect.mapError(of(id)))
  )

  const videos: Videos = {
    create,
    get,
    generate: Effect.fn("Gateway.videos.generate")((request, patience = {}) =>
      last(generated(request, patience))
    ),
    resume: Effect.fn("Gateway.videos.resume")((id, patience = {}) => last(resumed(id, patience))),
    progress: (task, patience = {}) =>
      Stream.withSpan(
        "id" in task ? resumed(task.id, patience) : generated(task, patience),
        "Gateway.videos.progress"
      ),
    content: (id) => Stream.withSpan(Stream.unwrap(open(id)), "Gateway.videos.content"),
    download,
    remove
  }
  return videos
})
