/** Videos by the animator of this process, each as a task. */
import { GatewayError, InvalidRequest, ServerFailure, type Video } from "@sluice/core"
import { makeDataUri, mediaTypeOf } from "@sluice/core/media"
import { MAX_SEED, type VideoRequest } from "@sluice/core/contract"
import { animate, checkAnimate } from "@sluice/embedded/media"
import { Clock, Effect, FileSystem, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { randomInt, randomUUID } from "node:crypto"
import { ServerConfig } from "../config/ServerConfig.ts"
import { FetchImage } from "../media/FetchImage.ts"
import { expiredResponse } from "../media/FilesRoute.ts"
import { MediaFiles } from "../media/MediaFiles.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import type { Operation, TaskOperation } from "../routing/Provider.ts"
import { makeFairTurns } from "./FairQueue.ts"
import { refusedPrompt, USUAL_TOLERANCE } from "./Moderation.ts"
import { referenceImage } from "./ReferenceImage.ts"
import { refusing } from "./Refusing.ts"
import type { TaskRunner, Work } from "./TaskRunner.ts"
import { FAILING_MODEL, planOf, videoModels } from "./VideoModels.ts"

/** What is kept of a request until its film is made. */
const Job = Schema.Struct({
  prompt: Schema.String,
  seconds: Schema.Finite,
  width: Schema.Int,
  height: Schema.Int,
  seed: Schema.Int,
  /** A data URI. */
  reference: Schema.optional(Schema.String)
})
const decodeJob = Schema.decodeUnknownEffect(Job)

/** An image that came as text, or in an object as common clients send it. */
const sourceOf = (reference: VideoRequest["input_reference"]): string | InvalidRequest | undefined => {
  if (reference === undefined || typeof reference === "string") return reference
  const { image_url: url } = reference
  return typeof url === "string"
    ? url
    : new InvalidRequest({
        message: "`input_reference` is a URL, a data URI, Base64, or an object with `image_url`",
        param: "input_reference"
      })
}

/** Servers of one database know each other's tasks, and have folders of their own. */
const elsewhere = (model: string) =>
  new GatewayError({
    operation: "videos",
    model,
    reason: new ServerFailure({
      status: 503,
      message: "The video is kept by another server of this database, which made it: ask again, or there"
    })
  })

const seconds = (ms: number) => Math.floor(ms / 1000)

export const videos = Effect.fnUntraced(function* (provider: string, runner: TaskRunner) {
  const files = yield* MediaFiles
  const tasks = yield* MediaTasks
  const fs = yield* FileSystem.FileSystem
  const fetchImage = yield* FetchImage
  const { database } = yield* ServerConfig

  const { inTurn } = makeFairTurns()

  const work: Work = Effect.fnUntraced(function* ({ id, model, request, user }) {
    const refuse = refusing("videos", model)
    if (model === FAILING_MODEL) {
      return yield* refuse(new InvalidRequest({ message: `${FAILING_MODEL} fails on purpose, each time` }))
    }
    const { reference, ...job } = yield* Effect.orDie(decodeJob(request))
    const image =
      reference === undefined
        ? undefined
        : yield* Effect.mapError(referenceImage(fetchImage, reference, "input_reference", ""), refuse)
    const making = animate({ ...job, reference: image?.bytes }, (share) =>
      tasks.update(id, { status: "in_progress", progress: Math.min(99, Math.floor(share * 100)) })
    )
    const film = yield* inTurn(user, making)
    return [yield* files.put(film, "mp4")]
  })

  const videoOf = (task: MediaTask): Video => {
    const expires = files.expiryOf(task.files[0] ?? "")
    return {
      id: task.id,
      status: task.status,
      error: task.error ?? null,
      extra: {
        object: "video",
        model: task.model,
        progress: task.progress,
        created_at: seconds(task.created),
        completed_at: task.status === "completed" ? seconds(task.ended ?? task.created) : null,
        expires_at: expires === undefined ? null : seconds(expires),
        remixed_from_video_id: null,
        ...task.told
      }
    }
  }

  const create: Operation<VideoRequest, Video> = ({ origin, request, user }) =>
    Effect.gen(function* () {
      const refuse = refusing("videos", request.model)
      const model = videoModels.find(({ id }) => id === request.model)
      if (model === undefined)
        return yield* refuse(new InvalidRequest({ message: "No model of this process" }))
      const plan = planOf(model, request)
      if (plan instanceof InvalidRequest) return yield* refuse(plan)
      const refused = refusedPrompt(request.prompt, USUAL_TOLERANCE)
      if (refused !== undefined) return yield* refuse(refused)
      const source = sourceOf(request.input_reference)
      if (source instanceof InvalidRequest) return yield* refuse(source)
      const image =
        source === undefined
          ? undefined
          : yield* Effect.mapError(referenceImage(fetchImage, source, "input_reference", origin), refuse)
      const job: typeof Job.Type = {
        prompt: request.prompt,
        seconds: Number(plan.seconds),
        width: plan.width,
        height: plan.height,
        seed: randomInt(MAX_SEED),
        ...(image !== undefined && { reference: makeDataUri(mediaTypeOf(image.format), image.bytes) })
      }
      yield* checkAnimate({ ...job, reference: image?.bytes })
      const task: MediaTask = {
        id: `video_${randomUUID()}`,
        kind: "video",
        user,
        provider,
        model: model.id,
        created: yield* Clock.currentTimeMillis,
        // The interface has it so: of group V-A alone.
        status: model.group === "V-A" ? "queued" : "in_progress",
        progress: 0,
        files: [],
        request: job as Schema.Json,
        told: { seconds: plan.seconds, size: plan.size, prompt: request.prompt }
      }
      yield* runner.start(task, work)
      return videoOf(task)
    })

  const videoContent: TaskOperation<HttpServerResponse.HttpServerResponse> = ({ task }) =>
    Effect.gen(function* () {
      if (task.status !== "completed") {
        const failed = task.status === "failed"
        return yield* new GatewayError({
          operation: "videos",
          model: task.model,
          reason: new InvalidRequest({
            message: failed
              ? "The video failed: there is nothing to download"
              : "The video is not made yet: ask for its status first",
            code: failed ? "video_failed" : "video_not_ready"
          })
        })
      }
      const file = yield* files.find(task.files[0] ?? "")
      if (file === undefined && database !== undefined) return yield* elsewhere(task.model)
      if (file === undefined || file === "expired") return expiredResponse
      return HttpServerResponse.stream(fs.stream(file.path), {
        contentType: "video/mp4",
        contentLength: file.bytes,
        headers: { "cache-control": "private, no-store" }
      })
    })

  const removeVideo: TaskOperation<void> = ({ task }) =>
    runner
      .stop(task.id)
      .pipe(
        Effect.andThen(Effect.forEach(task.files, files.remove, { discard: true })),
        Effect.andThen(tasks.remove(task))
      )

  const video: TaskOperation<Video> = ({ task }) => Effect.succeed(videoOf(task))

  return { create, video, videoContent, removeVideo, work }
})
