/** Video generation by the embedded animator. Each video is a task. */
import { GatewayError, InvalidRequest, ServerFailure, type Video } from "@sluice/core"
import { type LoadedImage, makeDataUri, mediaTypeOf } from "@sluice/core/media"
import { MAX_SEED, type VideoRequest } from "@sluice/core/contract"
import { animate, checkAnimate } from "@sluice/embedded/media"
import { Clock, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { randomInt, randomUUID } from "node:crypto"
import { ServerConfig } from "../config/ServerConfig.ts"
import { FetchImage, loadReference } from "../media/FetchImage.ts"
import { expiredResponse } from "../media/FileLinks.ts"
import { MediaFiles } from "../media/MediaFiles.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import type { Operation, TaskOperation } from "../routing/Provider.ts"
import { checkPrompt, DEFAULT_TOLERANCE, rejectedBy } from "./InvalidRequests.ts"
import type { TaskRunner, TaskWork } from "./TaskRunner.ts"
import { FAILING_MODEL, planVideo, type VideoPlan, videoModels } from "./VideoModels.ts"

/** A stored request, until its video is made. */
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

/** A reference image as text, or in an object as common clients send it. */
const referenceOf = (
  reference: VideoRequest["input_reference"]
): Effect.Effect<string | undefined, InvalidRequest> => {
  if (typeof reference !== "object") return Effect.succeed(reference)
  const { image_url: url } = reference
  const message = "`input_reference` must be a URL, a data URI, Base64, or an object with `image_url`"
  return typeof url === "string"
    ? Effect.succeed(url)
    : new InvalidRequest({ message, param: "input_reference" })
}

/** Servers that share a database know each other's tasks. Without `SLUICE_DOCUMENTS`, each has its own files. */
const atOtherServer = (model: string) => {
  const message = "The video is stored at another server of this database. Try again, or ask that server"
  return new GatewayError({ operation: "videos", model, reason: new ServerFailure({ status: 503, message }) })
}

/** Why a task has no video to download. */
const noContent = ({ model, status }: MediaTask) => {
  const [message, code] =
    status === "failed"
      ? ["The video failed. There is nothing to download", "video_failed"]
      : ["The video is not ready. Check its status first", "video_not_ready"]
  return rejectedBy("videos", model)(new InvalidRequest({ message, code }))
}

const seconds = (ms: number) => Math.floor(ms / 1000)

/** Checks a request and loads its reference image. */
const parseRequest = (fetchImage: FetchImage["Service"], request: VideoRequest, origin: string) =>
  Effect.gen(function* () {
    const model = videoModels.find(({ id }) => id === request.model)
    if (model === undefined) return yield* new InvalidRequest({ message: "Not an embedded model" })
    const plan = yield* planVideo(model, request)
    yield* checkPrompt(request.prompt, DEFAULT_TOLERANCE)
    const given = yield* referenceOf(request.input_reference)
    const image =
      given === undefined ? undefined : yield* loadReference(fetchImage, given, "input_reference", origin)
    return { image, model, plan }
  }).pipe(Effect.mapError(rejectedBy("videos", request.model)))

const makeJob = (
  prompt: string,
  { height, seconds, width }: VideoPlan,
  image: LoadedImage | undefined
): typeof Job.Type => ({
  prompt,
  seconds: Number(seconds),
  width,
  height,
  seed: randomInt(MAX_SEED),
  ...(image !== undefined && { reference: makeDataUri(mediaTypeOf(image.format), image.bytes) })
})

/** The operations. `runner` runs the tasks. */
export const makeVideoOperations = Effect.fnUntraced(function* (provider: string, runner: TaskRunner) {
  const files = yield* MediaFiles
  const tasks = yield* MediaTasks
  const fetchImage = yield* FetchImage
  const { data, database, documents } = yield* ServerConfig

  const work: TaskWork = Effect.fnUntraced(function* ({ id, model, request }) {
    const reject = rejectedBy("videos", model)
    if (model === FAILING_MODEL) {
      return yield* reject(new InvalidRequest({ message: `${FAILING_MODEL} always fails` }))
    }
    const { reference, ...job } = yield* Effect.orDie(decodeJob(request))
    const image =
      reference === undefined
        ? undefined
        : yield* Effect.mapError(loadReference(fetchImage, reference, "input_reference", ""), reject)
    const animation = animate({ ...job, reference: image?.bytes }, (share) =>
      tasks.update(id, { status: "in_progress", progress: Math.min(99, Math.floor(share * 100)) })
    )
    return [yield* files.put(yield* animation, "mp4")]
  })

  const toVideo = (task: MediaTask): Video => {
    const expires = files.expiryOf(task.files[0] ?? "")
    return {
      id: task.id,
      status: task.status,
      ...(task.error !== undefined && { error: task.error }),
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
      const { image, model, plan } = yield* parseRequest(fetchImage, request, origin)
      const job = makeJob(request.prompt, plan, image)
      yield* checkAnimate({ ...job, reference: image?.bytes })
      const task: MediaTask = {
        id: `video_${randomUUID()}`,
        kind: "video",
        user,
        provider,
        model: model.id,
        created: yield* Clock.currentTimeMillis,
        // As the interface has it for group V-A.
        status: model.group === "V-A" ? "queued" : "in_progress",
        progress: 0,
        files: [],
        request: job as Schema.Json,
        told: { seconds: plan.seconds, size: plan.size, prompt: request.prompt }
      }
      yield* runner.start(task, work)
      return toVideo(task)
    })

  const videoContent: TaskOperation<HttpServerResponse.HttpServerResponse> = ({ task }) =>
    Effect.gen(function* () {
      if (task.status !== "completed") return yield* noContent(task)
      const file = yield* files.find(task.files[0] ?? "")
      if (file === undefined && database !== undefined && documents === data)
        return yield* atOtherServer(task.model)
      if (file === undefined || file === "expired") return expiredResponse
      return HttpServerResponse.stream(file.stream, {
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

  const video: TaskOperation<Video> = ({ task }) => Effect.succeed(toVideo(task))

  return { create, tasks: { video, videoContent, removeVideo }, work }
})
