/**
 * Which models there are: `GET /api/models` all of them, `GET /api/user/available_models` those that the caller may
 * use, both with a system access token; `GET /v1/models` the latter with an API key, where common clients look.
 */
import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { IMAGE_GROUPS, type ImageGroup } from "./ImageModels.ts"
import { VIDEO_GROUPS, type VideoGroup } from "./VideoModels.ts"
import { AccessTokenAuth, ApiKeyAuth } from "./Credentials.ts"
import { envelopeOf, openStruct, lenient } from "./Fields.ts"

/** A model by its id; `created` in seconds since 1970. Interface: “Model entry”. */
export const Model = openStruct(
  {
    id: Schema.NonEmptyString,
    object: lenient(Schema.String),
    created: lenient(Schema.Int),
    owned_by: lenient(Schema.String)
  },
  "Model"
)
export type Model = typeof Model.Type

const WireModels = Schema.Union([
  Schema.Array(Model),
  Schema.Array(Schema.NonEmptyString),
  Schema.Record(Schema.String, Schema.Array(Schema.NonEmptyString))
])

/** Objects with an `id`. Gateways of this family also send plain strings, or lists of them by channel: read as well. */
export const ModelList = WireModels.pipe(
  Schema.decodeTo(
    Schema.Array(Schema.toType(Model)),
    SchemaTransformation.transform({
      decode: (wire): ReadonlyArray<Model> => {
        const models: ReadonlyArray<Model | string> = isList(wire)
          ? wire
          : [...new Set(Object.values(wire).flat())]
        return models.map((model) => (typeof model === "string" ? { id: model } : model))
      },
      encode: (models): typeof WireModels.Type => models
    })
  )
)

const isList = (wire: typeof WireModels.Type): wire is ReadonlyArray<Model> | ReadonlyArray<string> =>
  Array.isArray(wire)

/** `/api` wraps what it answers in `data`. */
export const AccountModels = envelopeOf(ModelList).annotate({ identifier: "AccountModels" })

/** `GET /v1/models`. */
export const ModelsResponse = openStruct(
  { object: lenient(Schema.String), data: ModelList },
  "ModelsResponse"
)

/** The three lists of models. Interface: “Account management”; the one of `/v1` is this project’s own choice. */
export const ModelsGroup = HttpApiGroup.make("models")
  .add(
    HttpApiEndpoint.get("list", "/v1/models", { success: ModelsResponse, error: failures }).middleware(
      ApiKeyAuth
    ),
    HttpApiEndpoint.get("all", "/api/models", { success: AccountModels, error: failures }).middleware(
      AccessTokenAuth
    ),
    HttpApiEndpoint.get("available", "/api/user/available_models", {
      success: AccountModels,
      error: failures
    }).middleware(AccessTokenAuth)
  )
  .annotateMerge(OpenApi.annotations({ title: "Models", description: "Which models there are" }))

/** Every group of models that the interface speaks of. */
export type ModelGroup = VideoGroup | ImageGroup | "rerank" | "embeddings" | "chat"

const groups = Object.keys(VIDEO_GROUPS) as ReadonlyArray<keyof typeof VIDEO_GROUPS>

/** All groups of models, as configuration names them. */
export const MODEL_GROUPS: ReadonlyArray<ModelGroup> = [
  ...groups,
  "image-to-video",
  ...IMAGE_GROUPS,
  "rerank",
  "embeddings",
  "chat"
]
