/** `gateway.images` over HTTP. */
import { Clock, Effect, FileSystem, Record, Stream, String } from "effect"
import type { HttpClientResponse } from "effect/http"
import type { ApiKey } from "../../contract/Credentials.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { validateExtra } from "../../contract/Fields.ts"
import { GatewayError, InvalidRequest } from "../../contract/GatewayError.ts"
import {
  type AnyImageCall,
  type ImageCall,
  type ImageGroup,
  type ImageSource,
  isImageGroup,
  validateImageCall
} from "../../contract/ImageModels.ts"
import { ImageRequest, ImageResponse } from "../../contract/Images.ts"
import { IMAGE_WAIT, type ImageAnswer, type ImageWaitOptions, type Images } from "../../gateway/Images.ts"
import { readImage } from "../../media/ImageSource.ts"
import { tolerateImages } from "../../tolerance/Tasks.ts"
import type { CallOptions } from "../call/Caller.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import { decodeJson, readTask } from "../transport/DecodeJson.ts"
import { mapResult, sendAndDecode } from "../transport/SendAndDecode.ts"
import { makeImageDownload } from "./ImageDownload.ts"
import { hasImageResult, isDone, parseImages, requireImages, validateCreation } from "./ImageResponse.ts"
import type { MediaContext } from "./MediaContext.ts"
import { createWithin, lastState, pollTask, type StartedTask, waitOptions, withTask } from "./Tasks.ts"

export interface ImagesOptions {
  /** How to wait for images. */
  readonly images?: ImageWaitOptions | undefined
}

interface ImageTask extends StartedTask<ImageAnswer> {
  readonly group: ImageGroup | undefined
}

/** Accepts any 2xx status: gateways answer a creation with 200, 201 or 202. */
const decode = decodeJson(ImageResponse, tolerateImages, readTask)

const decodeImages = (group: ImageGroup | undefined) => (response: HttpClientResponse.HttpClientResponse) =>
  Effect.zipWith(decode(response), Clock.currentTimeMillis, (body, now) => parseImages(body, group, now))

/** The states of a task. Fails after the last one if it has no image. */
const untilImages = (
  states: Stream.Stream<ImageAnswer, GatewayError>,
  { first, info }: ImageTask,
  toError: (reason: GatewayError["reason"]) => GatewayError
): Stream.Stream<ImageAnswer, GatewayError> => {
  let last = first
  const check = Effect.suspend(() => (last === undefined ? Effect.void : requireImages(last)))
  return states.pipe(
    Stream.tap((state) => Effect.sync(() => (last = state))),
    // At the deadline of an unfinished task, the images present are returned: they are charged.
    Stream.catch((error) =>
      error.reason._tag === "TimedOut" && error.operation === info.operation && last?.images.length
        ? Stream.empty
        : Stream.fail(error)
    ),
    Stream.concat(Stream.fromEffectDrain(Effect.mapError(check, toError)))
  )
}

const isList = (image: AnyImageCall["image"]): image is ReadonlyArray<ImageSource> => Array.isArray(image)

/** The request of a call, validated against its group if that is known. Reads image files. */
const imagePayload = Effect.fnUntraced(function* (request: ImageCall, group: ImageGroup | undefined) {
  const grouped = group === undefined ? request : ({ ...request, group } as ImageCall)
  const call: Omit<AnyImageCall, "group"> & { readonly group?: ImageGroup | undefined } =
    yield* Effect.fromResult(validateImageCall(grouped))
  const { image } = call
  const sources = image === undefined ? [] : isList(image) ? image : [image]
  const images = yield* Effect.mapError(
    Effect.forEach(sources, (source) => Effect.map(readImage(source), ({ wire }) => wire)),
    ({ code, message }) => new InvalidRequest({ message, code, param: "image" })
  )
  const { extra, group: _, ...fields } = { ...call, image: isList(image) ? images : images[0] }
  const refused = validateExtra(extra, ImageRequest)
  if (refused !== undefined) return yield* refused
  // The fields of the request are those of the call, in snake case.
  const payload = Record.mapKeys(fields, String.camelToSnake) as unknown as ImageRequest
  return extra === undefined ? payload : { ...payload, extra }
})

export const makeImages = (
  options: ImagesOptions & CallOptions & { readonly apiKey: ApiKey },
  context: MediaContext
): Images => {
  const { caller, files, generating, groupOf, send } = context
  const { call, fail } = caller
  const defaults = waitOptions(options.images, IMAGE_WAIT)
  const { endpoints } = GatewayApi.groups.images

  const imageGroupOf = ({ group, model }: ImageCall) =>
    group === undefined
      ? Effect.map(groupOf(model), (group) => (isImageGroup(group) ? group : undefined))
      : Effect.succeed(group)

  const create: Images["create"] = Effect.fnUntraced(function* (given: { readonly model: string }) {
    // `imagePayload` checks it.
    const request = given as ImageCall
    const info: CallInfo = { operation: "images.create", model: request.model, repeat: "creations" }
    const group = yield* imageGroupOf(request)
    const payload = yield* imagePayload(request, group).pipe(
      Effect.provideService(FileSystem.FileSystem, files),
      Effect.mapError((reason) => fail(info, { reason, notExecuted: true }))
    )
    const attempt = sendAndDecode(send(endpoints.create)({ payload }), decodeImages(group))
    const warning = "Interrupted; the images may have been created and charged."
    return yield* Effect.onInterrupt(generating.call(info, mapResult(validateCreation)(attempt)), () =>
      Effect.annotateLogs(Effect.logWarning(warning), { operation: info.operation, model: request.model })
    )
  })

  const getState = (id: string, group: ImageGroup | undefined) =>
    call(
      { operation: "images.get" },
      sendAndDecode(send(endpoints.get)({ params: { task_id: id } }), decodeImages(group))
    ).pipe(
      Effect.map((state): ImageAnswer => ({ ...state, id })),
      Effect.mapError(withTask(id))
    )

  const statesOf = (task: ImageTask, wanted: ImageWaitOptions) => {
    const { first, group, id, info } = task
    const get = getState(id, group)
    const taskCreated = first === undefined ? {} : { taskCreated: true }
    return untilImages(
      pollTask({ ...task, ...waitOptions(wanted, defaults), get, fail, isDone }),
      task,
      (reason) => new GatewayError({ ...fail(info, { reason }), task: id, ...taskCreated })
    )
  }

  const resumeTask = (id: string, wanted: ImageWaitOptions, group: ImageGroup | undefined) =>
    statesOf({ info: { operation: "images.resume" }, id, group }, wanted)

  const generateTask = (request: ImageCall, wanted: ImageWaitOptions) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const info: CallInfo = { operation: "images.generate", model: request.model }
        const { deadline } = waitOptions(wanted, defaults)
        const { begun, first } = yield* createWithin(deadline, create(request), info, fail)
        if (first.id === undefined || hasImageResult(first)) return Stream.succeed(first)
        return statesOf({ info, id: first.id, group: yield* imageGroupOf(request), first, begun }, wanted)
      })
    )

  return {
    create,
    get: (id, origin = {}) => getState(id, origin.group),
    generate: (request: { readonly model: string }, wanted: ImageWaitOptions = {}) =>
      lastState(generateTask(request as ImageCall, wanted)),
    resume: (id, wanted = {}) => lastState(resumeTask(id, wanted, wanted.group)),
    progress: (task, wanted = {}) =>
      "id" in task ? resumeTask(task.id, wanted, task.group) : generateTask(task, wanted),
    ...makeImageDownload(options, context)
  }
}
