/** `gateway.videos` over HTTP. */
import { Effect, Exit, FileSystem, Schema, Stream } from "effect"
import { parseJson } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import type { GatewayError } from "../../contract/GatewayError.ts"
import {
  type InputReference,
  isVideoGroup,
  validateVideoCall,
  type VideoCall
} from "../../contract/VideoModels.ts"
import { Video } from "../../contract/Videos.ts"
import type { RetryPolicy } from "../../gateway/RetryPolicy.ts"
import { VIDEO_WAIT, type VideoWaitOptions, type Videos } from "../../gateway/Videos.ts"
import { readImage } from "../../media/ImageSource.ts"
import { tolerateVideo } from "../../tolerance/Tasks.ts"
import { ignoreRepeatedNotFound } from "../call/Caller.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import { decodeJson, readTask } from "../transport/DecodeJson.ts"
import { isRefused, reasonOfBody } from "../transport/ErrorDetails.ts"
import { mapResult, responseText, sendAndDecode } from "../transport/SendAndDecode.ts"
import type { MediaContext } from "./MediaContext.ts"
import {
  createWithin,
  lastState,
  pollTask,
  type StartedTask,
  taskFailed,
  waitOptions,
  warnTaskContinues,
  withTask
} from "./Tasks.ts"
import { makeVideoDownload } from "./VideoDownload.ts"

export interface VideosOptions {
  /** How to wait for videos. */
  readonly videos?: VideoWaitOptions | undefined
  readonly retry?: RetryPolicy | undefined
}

/** Accepts any 2xx status: gateways answer a creation with 200, 201 or 202. */
const decodeVideo = decodeJson(Video, tolerateVideo, readTask)

/** A task, or one that failed before it had an id. */
const CreatedVideo = Schema.Union([
  Video,
  Schema.Struct({ status: Schema.Literal("failed"), error: Schema.optional(Schema.Json) })
])
const decodeCreation = decodeJson(CreatedVideo, tolerateVideo, readTask)

const validateCreation = (created: typeof CreatedVideo.Type) =>
  "id" in created ? Effect.succeed(created) : Effect.fail(taskFailed(created.error))

/** The body of a removal may have any form except that of an error. */
const validateRemoval = (text: string) => {
  const json = parseJson(text)
  const reason = isRefused(json) ? reasonOfBody(json) : undefined
  return reason === undefined ? Effect.void : Effect.fail(reason)
}

const wireReference = Effect.fnUntraced(function* (reference: InputReference) {
  if (typeof reference === "object" && "object" in reference) return reference.object
  return (yield* readImage(reference)).wire
})

export const makeVideos = (options: VideosOptions, context: MediaContext): Videos => {
  const { caller, files, groupOf, send } = context
  const { call, fail } = caller
  const defaults = waitOptions(options.videos, VIDEO_WAIT)
  const { endpoints } = GatewayApi.groups.videos

  const create: Videos["create"] = Effect.fnUntraced(function* (given: { readonly model: string }) {
    const request = given as VideoCall
    const { extra, inputReference, model, prompt, seconds, size } = request
    const info: CallInfo = { operation: "videos.create", model, repeat: "creations" }
    const refuse = (reason: GatewayError["reason"]) => fail(info, { reason, notExecuted: true })
    const group = request.group ?? (yield* groupOf(model))
    // `validateVideoCall` checks the fields against the group.
    const refused = validateVideoCall(isVideoGroup(group) ? ({ ...request, group } as VideoCall) : request)
    if (refused !== undefined) return yield* refuse(refused)
    const input_reference =
      inputReference &&
      (yield* wireReference(inputReference).pipe(
        Effect.provideService(FileSystem.FileSystem, files),
        Effect.mapError(refuse)
      ))
    const payload = { model, prompt, seconds, size, input_reference, ...(extra !== undefined && { extra }) }
    const attempt = sendAndDecode(send(endpoints.create)({ payload }), decodeCreation)
    return yield* call(info, mapResult(validateCreation)(attempt))
  })

  const getState = (id: string) =>
    Effect.mapError(
      call({ operation: "videos.get" }, sendAndDecode(send(endpoints.get)({ params: { id } }), decodeVideo)),
      withTask(id)
    )

  const removeTask = (id: string) =>
    call(
      { operation: "videos.remove" },
      mapResult(validateRemoval)(sendAndDecode(send(endpoints.remove)({ params: { id } }), responseText))
    ).pipe(ignoreRepeatedNotFound, Effect.mapError(withTask(id)))

  const isRemoved = ({ onInterrupt = options.videos?.onInterrupt }: VideoWaitOptions) =>
    onInterrupt === "remove"

  const removeInterrupted = ({ operation }: CallInfo, id: string) =>
    removeTask(id).pipe(
      Effect.catch(({ reason }) =>
        warnTaskContinues(operation, id, `Interrupted, and not removed: ${reason.message}`)
      )
    )

  const poll = (task: StartedTask<Video>, wait: VideoWaitOptions, onInterrupt?: Effect.Effect<void>) =>
    pollTask({ ...task, ...waitOptions(wait, defaults), onInterrupt, get: getState(task.id), fail })

  const resumeTask = (id: string, wait: VideoWaitOptions) => {
    const info: CallInfo = { operation: "videos.resume" }
    return poll({ info, id }, wait, isRemoved(wait) ? removeInterrupted(info, id) : undefined)
  }

  const generateTask = (request: VideoCall, wait: VideoWaitOptions) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const info: CallInfo = { operation: "videos.generate", model: request.model }
        const { deadline } = waitOptions(wait, defaults)
        const created = createWithin(deadline, create(request), info, fail)
        const remove = ({ first }: { readonly first: Video }, exit: Exit.Exit<unknown, unknown>) =>
          Exit.hasInterrupts(exit) ? removeInterrupted(info, first.id) : Effect.void
        // Then the creation is not interrupted: without its response, the task could not be removed.
        const { begun, first } = yield* isRemoved(wait) ? Effect.acquireRelease(created, remove) : created
        return poll({ info, id: first.id, first, begun }, wait, isRemoved(wait) ? Effect.void : undefined)
      })
    )

  return {
    create,
    get: getState,
    generate: (request: { readonly model: string }, wait: VideoWaitOptions = {}) =>
      lastState(generateTask(request as VideoCall, wait)),
    resume: (id, wait = {}) => lastState(resumeTask(id, wait)),
    progress: (task, wait = {}) => ("id" in task ? resumeTask(task.id, wait) : generateTask(task, wait)),
    ...makeVideoDownload(context, options.retry),
    remove: removeTask
  }
}
