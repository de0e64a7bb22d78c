/** `gateway.images` over HTTP. */
import { Clock, Effect, FileSystem, Option, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { ApiKey } from "../../contract/Credentials.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { GatewayError } from "../../contract/GatewayError.ts"
import { type ImageCall, type ImageGroup, isImageGroup } from "../../contract/ImageModels.ts"
import { ImageResponse } from "../../contract/Images.ts"
import { IMAGE_WAIT, type ImageAnswer, type ImageWaitOptions, type Images } from "../../gateway/Images.ts"
import { parseTask, tolerateImages } from "../../tolerance/Tasks.ts"
import { type CallOptions, generationOptions, makeCaller } from "../call/Caller.ts"
import { type CallInfo, currentMiddleware } from "../call/CallInfo.ts"
import { decodeJson } from "../transport/DecodeJson.ts"
import { mapResult, sendAndDecode } from "../transport/SendAndDecode.ts"
import { makeImageDownload } from "./ImageDownload.ts"
import { imagePayload } from "./ImagePayload.ts"
import { hasImageResult, isDone, parseImages, requireImages, validateCreation } from "./ImageResponse.ts"
import type { MediaContext } from "./MediaContext.ts"
import { createWithin, pollTask, type StartedTask, waitOptions, withTask } from "./Tasks.ts"
import { spanned } from "../call/Telemetry.ts"

export interface ImagesOptions {
  /** How to wait for images. */
  readonly images?: ImageWaitOptions | undefined
}

interface ImageTask extends StartedTask<ImageAnswer> {
  readonly group: ImageGroup | undefined
}

const responseMode = "response-only"

/** Accepts any 2xx status: gateways answer a creation with 200, 201 or 202. */
const decode = decodeJson(ImageResponse, tolerateImages, parseTask)

const decodeImages = (group: ImageGroup | undefined) => (response: HttpClientResponse.HttpClientResponse) =>
  Effect.zipWith(decode(response), Clock.currentTimeMillis, (body, now) => parseImages(body, group, now))

export const makeImages = Effect.fnUntraced(function* (
  options: ImagesOptions & CallOptions & { readonly apiKey: ApiKey },
  context: MediaContext
) {
  const { caller, files, groupOf, httpClient } = context
  const { call, fail } = caller
  const defaults = waitOptions(options.images, IMAGE_WAIT)
  const send = yield* HttpApiClient.group(GatewayApi, { group: "images", httpClient })
  const creations = makeCaller(generationOptions(options), options.apiKey, yield* currentMiddleware)

  const imageGroupOf = ({ group, model }: ImageCall) =>
    group === undefined
      ? Effect.map(groupOf(model), (group) => (isImageGroup(group) ? group : undefined))
      : Effect.succeed(group)

  const create: Images["create"] = spanned("Gateway.images.create")(
    Effect.fnUntraced(function* (given: { readonly model: string }) {
      // `imagePayload` checks it.
      const request = given as ImageCall
      const info: CallInfo = { operation: "images.create", model: request.model, repeat: "creations" }
      const group = yield* imageGroupOf(request)
      const payload = yield* imagePayload(request, group).pipe(
        Effect.provideService(FileSystem.FileSystem, files),
        Effect.mapError((reason) => fail(info, { reason, notExecuted: true }))
      )
      const attempt = sendAndDecode(send.create({ payload, responseMode }), decodeImages(group))
      const warning = "Interrupted; the images may have been created and charged."
      return yield* Effect.onInterrupt(creations.call(info, mapResult(validateCreation)(attempt)), () =>
        Effect.annotateLogs(Effect.logWarning(warning), { operation: info.operation, model: request.model })
      )
    })
  )

  const getState = (id: string, group: ImageGroup | undefined) =>
    call(
      { operation: "images.get" },
      sendAndDecode(send.get({ params: { task_id: id }, responseMode }), decodeImages(group))
    ).pipe(
      Effect.map((state): ImageAnswer => ({ ...state, id })),
      Effect.mapError(withTask(id))
    )

  const wait = Effect.fnUntraced(function* (task: ImageTask, wanted: ImageWaitOptions) {
    const { first, group, id, info } = task
    const states = pollTask({
      ...task,
      ...waitOptions(wanted, defaults),
      get: getState(id, group),
      fail,
      isDone
    })
    let seen = first
    const last = yield* Stream.runLast(Stream.tap(states, (state) => Effect.sync(() => (seen = state)))).pipe(
      // The stream has a state or fails, so the last one exists.
      Effect.map(Option.getOrThrow),
      // At the deadline of an unfinished task, the images present are returned: they are charged.
      Effect.catch((error) =>
        error.reason._tag === "TimedOut" && error.operation === info.operation && seen?.images.length
          ? Effect.succeed(seen)
          : Effect.fail(error)
      )
    )
    const taskCreated = first === undefined ? {} : { taskCreated: true }
    return yield* Effect.mapError(
      requireImages(last),
      (reason) => new GatewayError({ ...fail(info, { reason }), task: id, ...taskCreated })
    )
  })

  const images: Images = {
    create,
    get: spanned("Gateway.images.get")((id, origin = {}) => getState(id, origin.group)),
    generate: spanned("Gateway.images.generate")(
      Effect.fnUntraced(function* (given: { readonly model: string }, wanted: ImageWaitOptions = {}) {
        const request = given as ImageCall
        const info: CallInfo = { operation: "images.generate", model: request.model }
        const { deadline } = waitOptions(wanted, defaults)
        const { begun, first } = yield* createWithin(deadline, create(request), info, fail)
        if (first.id === undefined || hasImageResult(first)) return first
        return yield* wait({ info, id: first.id, group: yield* imageGroupOf(request), first, begun }, wanted)
      })
    ),
    resume: spanned("Gateway.images.resume")((id, wanted = {}) =>
      wait({ info: { operation: "images.resume" }, id, group: wanted.group }, wanted)
    ),
    ...makeImageDownload(options, context)
  }
  return images
})
