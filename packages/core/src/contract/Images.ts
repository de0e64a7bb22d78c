/**
 * `POST /v1/images/generations`: a text, and images where the model takes them, to images.
 * `GET /v1/images/generations/{task_id}`: how far that is, for models that answer in two steps.
 *
 * One form of answer for both: images at once, or the `id` of a task that ends in `completed` or `failed`.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { openStruct, optional, TaskId } from "./Fields.ts"

/** Images made by one request, at most. */
export const MAX_IMAGES = 10
/** The largest seed of any group. */
export const MAX_SEED = 2_147_483_647

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What every model takes, and what single groups take; which group takes what is said in `ImageModels.ts`. */
export const ImageRequest = openStruct(
  {
    prompt: Schema.NonEmptyString,
    model: Schema.NonEmptyString,
    /** `1K`, `2K`, `4K`, `auto` (when not given), or pixels such as `1024x1024`. */
    size: optional(Schema.NonEmptyString),
    /** 1 when not given. */
    n: optional(between(1, MAX_IMAGES)),
    /** `low`, `medium`, `high`; `hd` where a model takes it. */
    quality: optional(Schema.NonEmptyString),
    /** A URL, a data URI or Base64; several for group I4 alone. */
    image: optional(Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.NonEmptyString)])),
    /** Group I1: how closely the reference image is kept, `high` or `low`. */
    input_fidelity: optional(Schema.String),
    /** Group I1: `auto` or `low`. */
    moderation: optional(Schema.String),
    /** Group I1: `png`, `jpeg` or `webp`. */
    output_format: optional(Schema.String),
    /** Group I5: 0 to 5, 2 when not given. */
    safety_tolerance: optional(between(0, 5)),
    /** Group I5: such as `16:9`. */
    aspect_ratio: optional(Schema.String),
    /** Groups I3 (from 0), I4 (from -1) and I5: the same seed gives the same image. */
    seed: optional(Schema.Int),
    /** Group I5: a natural look. */
    raw: optional(Schema.Boolean),
    /** Groups I3 (true when not given) and I4. */
    watermark: optional(Schema.Boolean),
    /** Group I4: `auto` or `disabled`. */
    sequential_image_generation: optional(Schema.String),
    /** Group I4: `url` or `base64_json`. */
    response_format: optional(Schema.String)
  },
  "ImageRequest"
)
export type ImageRequest = typeof ImageRequest.Type

/** One image: a link to it, or its bytes in Base64 under either of two names. */
export const ImageDatum = openStruct(
  {
    url: optional(Schema.String),
    b64_json: optional(Schema.String),
    base64_json: optional(Schema.String)
  },
  "ImageDatum"
)
export type ImageDatum = typeof ImageDatum.Type

/** Images, or the `id` of the task that makes them. Interface: “Image generation request”, its response. */
export const ImageResponse = openStruct(
  {
    /** Of the task, where the model answers in two steps. */
    id: optional(Schema.NonEmptyString),
    /** `completed`: the data is there. `failed`: it will not be. Others are the gateway's own. */
    status: optional(Schema.String),
    data: optional(Schema.Array(ImageDatum)),
    /** Why the task failed, in any form. */
    error: optional(Schema.Json)
  },
  "ImageResponse"
)
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
