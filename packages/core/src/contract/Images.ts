/**
 * `POST /v1/images/generations`: creates images from text and reference images.
 * `GET /v1/images/generations/{task_id}`: the state of a task, for two-step models.
 *
 * Both respond with images, or with the `id` of a task that ends in `completed` or `failed`.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { MAX_IMAGES } from "./ImageLimits.ts"
import { namedOpenStruct, optional, TaskId } from "./Fields.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The fields of all groups of models. `ImageModels.ts` has those of each group. */
export const ImageRequest = namedOpenStruct("ImageRequest", {
  prompt: Schema.NonEmptyString,
  model: Schema.NonEmptyString,
  /** `1K`, `2K`, `4K`, `auto` (default), or pixels such as `1024x1024`. */
  size: optional(Schema.NonEmptyString),
  /** Default: 1. */
  n: optional(between(1, MAX_IMAGES)),
  /** `low`, `medium` or `high`; some models accept `hd`. */
  quality: optional(Schema.NonEmptyString),
  /** A URL, a data URI or Base64. Only group I4 accepts several. */
  image: optional(Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.NonEmptyString)])),
  /** Group I1: similarity to the reference image, `high` or `low`. */
  input_fidelity: optional(Schema.String),
  /** Group I1: `auto` or `low`. */
  moderation: optional(Schema.String),
  /** Group I1: `png`, `jpeg` or `webp`. */
  output_format: optional(Schema.String),
  /** Group I5: 0 to 5. Default: 2. */
  safety_tolerance: optional(between(0, 5)),
  /** Group I5: such as `16:9`. */
  aspect_ratio: optional(Schema.String),
  /** Groups I3 (from 0), I4 (from -1) and I5: the same seed gives the same image. */
  seed: optional(Schema.Int),
  /** Group I5: a more natural look. */
  raw: optional(Schema.Boolean),
  /** Groups I3 (default: true) and I4. */
  watermark: optional(Schema.Boolean),
  /** Group I4: `auto` or `disabled`. */
  sequential_image_generation: optional(Schema.String),
  /** Group I4: `url` or `base64_json`. */
  response_format: optional(Schema.String)
})
export type ImageRequest = typeof ImageRequest.Type

/** One image: a link, or Base64 under either of two names. */
export const ImageDatum = namedOpenStruct("ImageDatum", {
  url: optional(Schema.String),
  b64_json: optional(Schema.String),
  base64_json: optional(Schema.String)
})
export type ImageDatum = typeof ImageDatum.Type

/** Images, or the `id` of the task that creates them. Interface: “Image generation request”. */
export const ImageResponse = namedOpenStruct("ImageResponse", {
  /** The task's id, for two-step models. */
  id: optional(Schema.NonEmptyString),
  /** `completed`, `failed`, or the gateway's own value. */
  status: optional(Schema.String),
  data: optional(Schema.Array(ImageDatum)),
  /** The gateway's own form. */
  error: optional(Schema.Json)
})
export type ImageResponse = typeof ImageResponse.Type

/** The calls of `/v1/images/generations`. Interface: “Images”. */
export const ImagesGroup = HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.post("create", "/v1/images/generations", {
      payload: ImageRequest,
      success: ImageResponse,
      error: failures
    }),
    HttpApiEndpoint.get("get", "/v1/images/generations/:task_id", {
      params: { task_id: TaskId },
      success: ImageResponse,
      error: failures
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Images", description: "Text and images to images" }))
