/**
 * `POST /v1/images/generations`: creates images from text and reference images.
 * `GET /v1/images/generations/{task_id}`: the state of a task, for two-step models.
 *
 * Both respond with images, or with the `id` of a task that ends in `completed` or `failed`.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiKeyAuth } from "./Credentials.ts"
import { MAX_IMAGES } from "./ImageLimits.ts"
import { between, field, namedOpenStruct, optional, TaskId } from "./Fields.ts"

/** The fields of all groups of models. `ImageModels.ts` has those of each group. */
export const ImageRequest = namedOpenStruct("ImageRequest", {
  prompt: field("Describes the image.", Schema.NonEmptyString),
  model: field("The model's id.", Schema.NonEmptyString),
  size: field(
    "`1K`, `2K`, `4K`, `auto`, or pixels such as `1024x1024`.",
    optional(Schema.NonEmptyString),
    "auto"
  ),
  n: field("The number of images.", optional(between(1, MAX_IMAGES)), 1),
  quality: field("`low`, `medium`, `high`; for some models `hd`.", optional(Schema.NonEmptyString)),
  image: field(
    "A reference image: a URL, a data URI or Base64. Only group I4 accepts several.",
    optional(Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.NonEmptyString)]))
  ),
  input_fidelity: field("Group I1: likeness to the reference, `high` or `low`.", optional(Schema.String)),
  moderation: field("Group I1: how strictly content is filtered, `auto` or `low`.", optional(Schema.String)),
  output_format: field("Group I1: `png`, `jpeg` or `webp`.", optional(Schema.String)),
  safety_tolerance: field("Group I5: 0, the strictest, to 5.", optional(between(0, 5)), 2),
  aspect_ratio: field("Group I5: width to height, such as `16:9`.", optional(Schema.String)),
  seed: field(
    "I3 from 0, I4 from -1, to 2147483647; I5. The same gives the same image.",
    optional(Schema.Int)
  ),
  raw: field("Group I5: a more natural look.", optional(Schema.Boolean)),
  watermark: field("Groups I3 (default: true) and I4: adds a watermark.", optional(Schema.Boolean)),
  sequential_image_generation: field(
    "Group I4: `auto` may create a series; `disabled`.",
    optional(Schema.String)
  ),
  response_format: field("Group I4: `url` or `base64_json`.", optional(Schema.String), "url")
})
export type ImageRequest = typeof ImageRequest.Type

/** One image: a link, or Base64 under either of two names. */
export const ImageDatum = namedOpenStruct("ImageDatum", {
  url: field("A link to the image. Links of group I4 expire after 24 hours.", optional(Schema.String)),
  b64_json: field("The image in Base64.", optional(Schema.String)),
  base64_json: field("The image in Base64, by the interface's name.", optional(Schema.String))
})
export type ImageDatum = typeof ImageDatum.Type

/** Images, or the `id` of the task that creates them. Interface: “Image generation request”. */
export const ImageResponse = namedOpenStruct("ImageResponse", {
  id: field("The task's id, for two-step models.", optional(Schema.NonEmptyString)),
  status: field("`completed`, `failed`, or the gateway's own value.", optional(Schema.String)),
  data: field("The images.", optional(Schema.Array(ImageDatum))),
  error: field("Why the task failed, in the gateway's own form.", optional(Schema.Json))
})
export type ImageResponse = typeof ImageResponse.Type

/** The calls of `/v1/images/generations`. Interface: “Images”. */
export const ImagesGroup = HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.post("create", "/v1/images/generations", {
      payload: ImageRequest,
      success: ImageResponse
    }),
    HttpApiEndpoint.get("get", "/v1/images/generations/:task_id", {
      params: { task_id: field("The task's id.", TaskId) },
      success: ImageResponse
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Images", description: "Text and images to images" }))
