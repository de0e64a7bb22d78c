/** `/v1/videos`: create, get, download, delete. */
import { Failure, Video, VideoRequest } from "@sluice/core/contract"
import { Effect, type Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { videosMeter } from "../billing/Meter.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { Providers } from "../routing/Providers.ts"
import { taskOutcome } from "../routing/ResponseBody.ts"
import { checkImages } from "./RequestImages.ts"
import { type FromParts, handleCreation, mediaForm } from "./MediaForm.ts"
import { makeModelCall } from "./ModelCall.ts"
import { completedByFile, failedByDeletion, serveTask } from "./TaskCall.ts"

/** Fields such as `input_reference[image_url]` form an object. */
const fromParts: FromParts = (parts) => {
  const fields = new Map<string, unknown>()
  const inside = new Map<string, string>()
  for (const [name, value] of parts) {
    const [, key] = /^input_reference\[(\w{1,40})\]$/.exec(name) ?? []
    if (key === undefined) fields.set(name, value)
    else inside.set(key, value)
  }
  if (inside.size > 0) fields.set("input_reference", Object.fromEntries(inside))
  return Object.fromEntries(fields)
}

/** The range of `seconds`. No group of the interface creates more than 15 s. */
const LONGEST_SECONDS = 60
const SHORTEST_SECONDS = 0.5

const outOfRange = new Failure({
  status: 400,
  message: `\`seconds\` must be from "${SHORTEST_SECONDS}" to "${LONGEST_SECONDS}". Most models accept fewer. Their group states the limit`,
  param: "seconds"
})

/** An identifier of a gateway, or a media type. */
const IDENTIFIER = /^(?:image\/)?[\w-]{1,200}$/

/** All strings in a JSON value. */
const textsIn = (form: Schema.Json): ReadonlyArray<string> => {
  const texts: Array<string> = []
  const left = [form]
  for (const one of left) {
    if (typeof one === "string") texts.push(one)
    else if (typeof one === "object" && one !== null) for (const value of Object.values(one)) left.push(value)
  }
  return texts
}

const noImage = new Failure({
  status: 400,
  message: "`input_reference` has no image. Send a URL, a data URI or Base64, or leave it out",
  param: "input_reference"
})

/** Checks the images of an `input_reference`. In an object, strings that are not identifiers are images. */
const checkReference = (given: VideoRequest["input_reference"]) => {
  if (typeof given !== "object") return checkImages([given], "input_reference")
  const texts = textsIn(given)
  if (texts.length === 0) return Effect.fail(noImage)
  const images = [given["image_url"], ...texts.filter((text) => !IDENTIFIER.test(text))]
  return checkImages(images, "input_reference")
}

const videoForm = Effect.filterOrFail(
  mediaForm(VideoRequest, fromParts),
  ({ request: { seconds } }) =>
    seconds === undefined || (Number(seconds) >= SHORTEST_SECONDS && Number(seconds) <= LONGEST_SECONDS),
  () => outOfRange
).pipe(Effect.tap(({ request }) => checkReference(request.input_reference)))

const unknownVariant = new Failure({
  status: 400,
  message: "The only variant of a video is `video`. Leave out `variant`",
  param: "variant"
})

/** Whether the MP4 is requested. Common clients request a thumbnail as another variant. */
const isVideo = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  (URL.parse(url, "http://here")?.searchParams.get("variant") ?? "video") === "video"

export const VideosLayer = HttpApiBuilder.group(
  ServedApi,
  "videos",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const create = yield* makeModelCall(providers, videosMeter, ({ videos }) => videos, Video)
    const get = yield* serveTask(providers, "video", (tasks) => tasks.video, taskOutcome)
    const content = yield* serveTask(providers, "video", (tasks) => tasks.videoContent, completedByFile)
    const remove = yield* serveTask(providers, "video", (tasks) => tasks.removeVideo, failedByDeletion)
    return handlers
      .handleRaw("create", handleCreation(videoForm, create), { uninterruptible: true })
      .handle("get", ({ params }) => get(params.id))
      .handle("content", ({ params, request }) =>
        isVideo(request) ? content(params.id) : Effect.fail(unknownVariant)
      )
      .handle("remove", ({ params: { id } }) =>
        // The status is read first, because a completed video is charged.
        Effect.as(Effect.andThen(get(id), remove(id)), { id, object: "video.deleted", deleted: true })
      )
  })
)
