/** `gateway.images` over HTTP. */
import { Clock, Duration, Effect, FileSystem, Option, Result, Stream } from "effect"
import { type HttpClient, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { ApiKey } from "../../contract/Credentials.ts"
import { ImageRequest, ImageResponse } from "../../contract/Images.ts"
import { validateExtra } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import {
  GatewayError,
  type GatewayReason,
  InvalidRequest,
  InvalidResponse,
  TimedOut
} from "../../contract/GatewayError.ts"
import {
  validateImageCall,
  type ImageCall,
  type ImageGroup,
  type ImageSource,
  isImageGroup,
  type AnyImageCall
} from "../../contract/ImageModels.ts"
import {
  IMAGE_CREATION_TIMEOUT,
  IMAGE_DEADLINE,
  IMAGE_POLL_INTERVAL,
  type ImageAnswer,
  type ImageWaitOptions,
  type Images
} from "../../gateway/Images.ts"
import { decodeBase64 } from "../../contract/Base64.ts"
import { readImage } from "../../media/ImageSource.ts"
import { loadImage } from "../../media/ImageFormat.ts"
import { type About, type Caller, type CallOptions, makeCaller } from "../call/Call.ts"
import { writeWhole } from "./Download.ts"
import { exchange, judge } from "../transport/Exchange.ts"
import { Guards } from "../call/Guard.ts"
import { answerOf, isDone, isMade, judgeCreation, judgeImages } from "./ImageAnswers.ts"
import { fetchImage } from "./ImageDownload.ts"
import { makeModelGroupOf } from "./ModelGroups.ts"
import { pollTask } from "./Tasks.ts"

export interface ImagesOptions {
  /** How images are waited for. */
  readonly images?: ImageWaitOptions
}

/** What the client has already made of its options. */
interface Here {
  readonly baseUrl: string
  /** Knows the base URL. */
  readonly httpClient: HttpClient.HttpClient
  /** Knows nothing, for links. */
  readonly client: HttpClient.HttpClient
}

const CREATE = { group: "images", endpoint: "create" } as const
const GET = { group: "images", endpoint: "get" } as const

const responseMode = "response-only"

/** Any status of success will do: a task that is made is answered with 200, 201 or 202. */
const decode = HttpClientResponse.schemaBodyJson(ImageResponse)

const isSeveral = (image: AnyImageCall["image"]): image is ReadonlyArray<ImageSource> => Array.isArray(image)

/** The call as it is sent, checked as one of its group where that is known; files are read for it. */
const payloadOf = Effect.fnUntraced(function* (unchecked: ImageCall, group: ImageGroup | undefined) {
  const known = group === undefined ? unchecked : ({ ...unchecked, group } as ImageCall)
  const call: Omit<AnyImageCall, "group"> = yield* Effect.fromResult(validateImageCall(known))
  const { extra, image, model, n, prompt, quality, raw, seed, size, watermark } = call
  const sources = image === undefined ? [] : isSeveral(image) ? image : [image]
  const read = (source: ImageSource) => Effect.map(readImage(source), ({ wire }) => wire)
  const wires = yield* Effect.mapError(
    Effect.forEach(sources, read),
    ({ code, message }) => new InvalidRequest({ message, code, param: "image" })
  )
  const payload: ImageRequest = {
    model,
    prompt,
    size,
    n,
    quality,
    image: image !== undefined && isSeveral(image) ? wires : wires[0],
    input_fidelity: call.inputFidelity,
    moderation: call.moderation,
    output_format: call.outputFormat,
    safety_tolerance: call.safetyTolerance,
    aspect_ratio: call.aspectRatio,
    seed,
    raw,
    watermark,
    sequential_image_generation: call.sequentialImageGeneration,
    response_format: call.responseFormat
  }
  const refused = validateExtra(extra, ImageRequest)
  if (refused !== undefined) return yield* refused
  return extra === undefined ? payload : { ...payload, extra }
})

export const makeImages = Effect.fnUntraced(function* (
  options: ImagesOptions & CallOptions & { readonly apiKey: ApiKey },
  { call, fail }: Caller,
  { baseUrl, client, httpClient }: Here
) {
  const files = yield* FileSystem.FileSystem
  const known = yield* makeModelGroupOf
  const postImage = yield* HttpApiClient.endpoint(GatewayApi, { ...CREATE, httpClient })
  const getImage = yield* HttpApiClient.endpoint(GatewayApi, { ...GET, httpClient })
  const patient = {
    ...options,
    attemptTimeout: options.attemptTimeout ?? IMAGE_CREATION_TIMEOUT,
    callTimeout: options.callTimeout ?? IMAGE_CREATION_TIMEOUT
  }
  const creations = makeCaller(patient, options.apiKey, yield* Guards)
  /** Without guards: another host's trouble is not the gateway's. */
  const downloads = makeCaller(options, options.apiKey)

  const refusal = (about: About) => (reason: GatewayReason) =>
    fail(about, { reason, requestId: undefined, notExecuted: true })

  /** The group that the call names, or else that which the program has for its model. */
  const groupOf = ({ group, model }: ImageCall) =>
    group === undefined
      ? Effect.map(known(model), (group) => (isImageGroup(group) ? group : undefined))
      : Effect.succeed(group)

  const read = (group: ImageGroup | undefined) => (response: HttpClientResponse.HttpClientResponse) =>
    Effect.zipWith(decode(response), Clock.currentTimeMillis, (answer, now) => answerOf(answer, group, now))

  const create: Images["create"] = Effect.fn("Gateway.images.create")(function* (request) {
    const about: About = { operation: "images.create", model: request.model, repeat: "creations" }
    const group = yield* groupOf(request)
    const payload = yield* payloadOf(request, group).pipe(
      Effect.provideService(FileSystem.FileSystem, files),
      Effect.mapError(refusal(about))
    )
    const attempt = exchange(postImage({ payload, responseMode }), read(group))
    const { value } = yield* creations
      .call(about, judge(judgeCreation)(attempt))
      .pipe(
        Effect.onInterrupt(() =>
          Effect.logWarning("Interrupted; the images may be made and paid for all the same.").pipe(
            Effect.annotateLogs({ operation: about.operation, model: request.model })
          )
        )
      )
    return value
  })

  const look = (id: string, group: ImageGroup | undefined, operation = "images.get") =>
    call({ operation }, exchange(getImage({ params: { task_id: id }, responseMode }), read(group))).pipe(
      Effect.map(({ value }): ImageAnswer => ({ ...value, id })),
      Effect.mapError((error) => new GatewayError({ ...error, task: id }))
    )

  const deadlineOf = (patience: ImageWaitOptions) =>
    Duration.fromInputUnsafe(patience.deadline ?? options.images?.deadline ?? IMAGE_DEADLINE)

  const wait = Effect.fnUntraced(function* (
    about: About,
    task: {
      readonly id: string
      readonly group: ImageGroup | undefined
      readonly first?: ImageAnswer
      readonly begun?: number
    },
    patience: ImageWaitOptions
  ) {
    const { begun, first, group, id } = task
    const every = patience.every ?? options.images?.every ?? IMAGE_POLL_INTERVAL
    const deadline = deadlineOf(patience)
    const states = pollTask({
      about,
      id,
      get: look(id, group),
      fail,
      every,
      deadline,
      isDone,
      ...(first && { first }),
      ...(begun !== undefined && { begun })
    })
    let seen = first
    // A task that fails fails the stream: it ends with one that is done.
    const last = yield* Stream.runLast(Stream.tap(states, (state) => Effect.sync(() => (seen = state)))).pipe(
      Effect.map(Option.getOrThrow),
      // What was paid for and has come is not thrown away because the gateway never says that it is all.
      Effect.catch((error) =>
        error.reason._tag === "TimedOut" && error.operation === about.operation && seen?.images.length
          ? Effect.succeed(seen)
          : Effect.fail(error)
      )
    )
    return yield* Effect.mapError(
      judgeImages(last),
      (reason) =>
        new GatewayError({
          ...fail(about, { reason, requestId: undefined }),
          task: id,
          ...(first !== undefined && { taskCreated: true })
        })
    )
  })

  const generate: Images["generate"] = Effect.fn("Gateway.images.generate")(function* (
    request,
    patience = {}
  ) {
    const about: About = { operation: "images.generate", model: request.model }
    const deadline = deadlineOf(patience)
    const begun = yield* Clock.currentTimeMillis
    const orElse = () => {
      const message = `No answer within ${Duration.format(deadline)}.`
      const reason = new TimedOut({ message, scope: "call", after: deadline })
      return Effect.fail(fail({ ...about, repeat: "creations" }, { reason, requestId: undefined }))
    }
    const first = yield* Effect.timeoutOrElse(create(request), { duration: deadline, orElse })
    if (first.id === undefined || isMade(first)) return first
    return yield* wait(about, { id: first.id, group: yield* groupOf(request), first, begun }, patience)
  })

  const resume: Images["resume"] = Effect.fn("Gateway.images.resume")((id, patience = {}) =>
    wait({ operation: "images.resume" }, { id, group: patience.group }, patience)
  )

  const load: Images["load"] = Effect.fn("Gateway.images.load")(function* ({ base64, url }) {
    const about: About = { operation: "images.load" }
    const loaded = (bytes: Uint8Array) =>
      Result.mapError(loadImage(bytes), (message) => new InvalidResponse({ message }))
    if (base64 !== undefined) {
      const bytes = decodeBase64(base64)
      const image =
        bytes === undefined
          ? Result.fail(new InvalidResponse({ message: "The image's Base64 is damaged." }))
          : loaded(bytes)
      return yield* Effect.mapError(Effect.fromResult(image), refusal(about))
    }
    if (url === undefined) {
      const message = "The image has neither Base64 nor a link: there is nothing to load."
      return yield* refusal(about)(new InvalidRequest({ message }))
    }
    const attempt = fetchImage({ apiKey: options.apiKey, baseUrl, client }, url)
    const judged = judge((bytes: Uint8Array) => Effect.fromResult(loaded(bytes)))(attempt)
    const { value } = yield* downloads.call(about, judged)
    return value
  })

  const save: Images["save"] = Effect.fn("Gateway.images.save")(function* (image, path) {
    const loaded = yield* load(image)
    yield* Effect.mapError(
      writeWhole(files, path, Stream.succeed(loaded.bytes)),
      refusal({ operation: "images.save" })
    )
    return loaded
  })

  const images: Images = {
    create,
    get: Effect.fn("Gateway.images.get")((id, origin = {}) => look(id, origin.group)),
    generate,
    resume,
    load,
    save
  }
  return images
})
