/**
 * `/v1/videos`: creates a video from text, or from text and an image. Always a task.
 *
 * Create it, poll it every 15 seconds until it is `completed` or `failed` (usually 1 to 5 minutes), then download the
 * MP4. Download links usually expire after 24 hours.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKeyAuth } from "./Credentials.ts"
import { field, namedOpenStruct, optional, TaskId } from "./Fields.ts"

/** Seconds as text, such as "5". Numbers are refused. */
const Seconds = Schema.String.check(
  Schema.isPattern(/^\d{1,9}(\.\d{1,3})?$/, { expected: 'a duration in seconds as text, such as "5"' })
)

/** A video to create. Interface: “Video create request”. */
export const VideoRequest = namedOpenStruct("VideoRequest", {
  model: field("The model's id.", Schema.NonEmptyString),
  prompt: field(
    "Describes the video. V-D, V-E, V-F and image-to-video prefer Chinese.",
    Schema.NonEmptyString
  ),
  seconds: field("Seconds as text, such as `5`; each group has its values.", optional(Seconds)),
  size: field("By group: `1280x720`, `1080p`, `480P` or `16:9`.", optional(Schema.NonEmptyString)),
  input_reference: field(
    "The first image: a public URL, a data URI, Base64, or an object in the gateway's own form.",
    optional(Schema.Union([Schema.NonEmptyString, Schema.Record(Schema.String, Schema.Json)]))
  )
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
  id: field("The task's id.", Schema.NonEmptyString),
  status: field("`queued` (only V-A), `in_progress`, `completed` or `failed`.", optional(Schema.String)),
  error: field("Why the task failed, in the gateway's own form. Only with `failed`.", optional(Schema.Json))
})
export type Video = typeof Video.Type

/** The response to a deletion, if it has a body. The interface does not define it. */
export const VideoDeletion = namedOpenStruct("VideoDeletion", {
  id: field("The id of the removed task.", optional(Schema.String)),
  object: field("`video.deleted`.", optional(Schema.String)),
  deleted: field("Whether it was removed.", optional(Schema.Boolean))
})
export type VideoDeletion = typeof VideoDeletion.Type

const VideoContent = HttpApiSchema.StreamUint8Array({ contentType: "video/mp4" })

const params = { id: field("The task's id.", TaskId) }

/** The calls of `/v1/videos`. Interface: “Video”. */
export const VideosGroup = HttpApiGroup.make("videos")
  .add(
    HttpApiEndpoint.post("create", "/v1/videos", { payload: VideoRequest, success: Video }),
    HttpApiEndpoint.get("get", "/v1/videos/:id", { params, success: Video }),
    HttpApiEndpoint.get("content", "/v1/videos/:id/content", {
      params,
      success: VideoContent
    }),
    HttpApiEndpoint.delete("remove", "/v1/videos/:id", {
      params,
      success: [VideoDeletion, HttpApiSchema.NoContent]
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Videos", description: "Text and images to video" }))
