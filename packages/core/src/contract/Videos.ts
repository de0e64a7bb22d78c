/**
 * `/v1/videos`: creates a video from text, or from text and an image. Always a task.
 *
 * Create it, poll it every 15 seconds until it is `completed` or `failed` (usually 1 to 5 minutes), then download the
 * MP4. Download links usually expire after 24 hours.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { namedOpenStruct, optional, TaskId } from "./Fields.ts"

/** Seconds as text, such as "5". Numbers are refused. */
const Seconds = Schema.String.check(
  Schema.isPattern(/^\d{1,9}(\.\d{1,3})?$/, { expected: 'a duration in seconds as text, such as "5"' })
)

/** A video to create. Interface: “Video create request”. */
export const VideoRequest = namedOpenStruct("VideoRequest", {
  model: Schema.NonEmptyString,
  /** Chinese prompts work better with groups V-D, V-E, V-F and image-to-video. */
  prompt: Schema.NonEmptyString,
  /** `VIDEO_GROUPS` has the values of each group. */
  seconds: optional(Seconds),
  /** Pixels (`1280x720`), lines (`1080p`, `480P`) or an aspect ratio (`16:9`), depending on the model's group. */
  size: optional(Schema.NonEmptyString),
  /** The first image: a public URL, a data URI, Base64, or an object in the gateway's own form. */
  input_reference: optional(Schema.Union([Schema.NonEmptyString, Schema.Record(Schema.String, Schema.Json)]))
})
export type VideoRequest = typeof VideoRequest.Type

/**
 * A video task.
 *
 * **Details.** `status` is `queued` (only group V-A), `in_progress`, `completed` or `failed`; any other value counts as
 * unfinished. The client turns other gateways' final words, such as `SUCCESS` or `cancelled`, into the last two. `error`
 * comes with `failed`, in the gateway's own form.
 */
export const Video = namedOpenStruct("Video", {
  id: Schema.NonEmptyString,
  status: optional(Schema.String),
  error: optional(Schema.Json)
})
export type Video = typeof Video.Type

/** The response to a deletion, if it has a body. The interface does not define it. */
export const VideoDeletion = namedOpenStruct("VideoDeletion", {
  id: optional(Schema.String),
  object: optional(Schema.String),
  deleted: optional(Schema.Boolean)
})
export type VideoDeletion = typeof VideoDeletion.Type

const VideoContent = HttpApiSchema.StreamUint8Array({ contentType: "video/mp4" })

const params = { id: TaskId }

/** The calls of `/v1/videos`. Interface: “Video”. */
export const VideosGroup = HttpApiGroup.make("videos")
  .add(
    HttpApiEndpoint.post("create", "/v1/videos", { payload: VideoRequest, success: Video, error: failures }),
    HttpApiEndpoint.get("get", "/v1/videos/:id", { params, success: Video, error: failures }),
    HttpApiEndpoint.get("content", "/v1/videos/:id/content", {
      params,
      success: VideoContent,
      error: failures
    }),
    HttpApiEndpoint.delete("remove", "/v1/videos/:id", {
      params,
      success: [VideoDeletion, HttpApiSchema.NoContent],
      error: failures
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Videos", description: "Text and images to video" }))
