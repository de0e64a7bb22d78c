/**
 * `/v1/videos`: text, or text and an image, to a video; always as a task.
 *
 * Create it, ask for its state every 15 seconds until it is `completed` or `failed` (1 to 5 minutes as a rule), then
 * fetch the MP4. A download link generally lives 24 hours.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { openStruct, optional, TaskId } from "./Fields.ts"

/** Seconds as text, such as "5": a number is refused. */
const Seconds = Schema.String.check(
  Schema.isPattern(/^\d{1,9}(\.\d{1,3})?$/, { expected: 'a duration in seconds as text, such as "5"' })
)

/** A video to make. Interface: “Video create request”. */
export const VideoRequest = openStruct(
  {
    model: Schema.NonEmptyString,
    /** Prompts in Chinese serve the family of groups V-D, V-E, V-F and image-to-video better. */
    prompt: Schema.NonEmptyString,
    /** Always text; which ones a model takes, `VIDEO_GROUPS` says. */
    seconds: optional(Seconds),
    /** Pixels (`1280x720`), lines (`1080p`, `480P`) or an aspect ratio (`16:9`), as the model's group has it. */
    size: optional(Schema.NonEmptyString),
    /** The image to begin with: a public URL, Base64, a data URI; or an object in the gateway's own form. */
    input_reference: optional(
      Schema.Union([Schema.NonEmptyString, Schema.Record(Schema.String, Schema.Json)])
    )
  },
  "VideoRequest"
)
export type VideoRequest = typeof VideoRequest.Type

/**
 * A video task.
 *
 * **Details.** `status` is `queued` (group V-A alone), `in_progress`, `completed` or `failed`; others are met and mean
 * that it has not ended. `error` comes with `failed`, in a form of the gateway's own. Everything else is in `extra`.
 */
export const Video = openStruct(
  {
    /** The task's identifier. */
    id: Schema.NonEmptyString,
    status: optional(Schema.String),
    error: optional(Schema.Json)
  },
  "Video"
)
export type Video = typeof Video.Type

/** What a removal answers, where it answers anything: the interface does not say. */
export const VideoDeletion = openStruct(
  { id: optional(Schema.String), object: optional(Schema.String), deleted: optional(Schema.Boolean) },
  "VideoDeletion"
)
export type VideoDeletion = typeof VideoDeletion.Type

/** The MP4, byte by byte as it comes. */
export const VideoContent = HttpApiSchema.StreamUint8Array({ contentType: "video/mp4" })

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
