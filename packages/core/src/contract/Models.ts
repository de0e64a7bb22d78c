/**
 * The lists of models: `GET /api/models` has all, `GET /api/user/available_models` those that the caller may use. Both
 * require a system access token. `GET /v1/models` is the second list for an API key, at the path of OpenAI clients.
 */
import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { IMAGE_GROUPS, type ImageGroup } from "./ImageModels.ts"
import { VIDEO_GROUPS, type VideoGroup } from "./VideoModels.ts"
import { AccessTokenAuth, ApiKeyAuth } from "./Credentials.ts"
import { field, envelopeOf, namedOpenStruct, lenient } from "./Fields.ts"

/** A model. Interface: “Model entry”. */
export const Model = namedOpenStruct("Model", {
  id: field("The model's id.", Schema.NonEmptyString),
  object: field("`model`.", lenient(Schema.String)),
  created: field("Since when, in seconds since 1970.", lenient(Schema.Int)),
  owned_by: field("The provider.", lenient(Schema.String))
})
export type Model = typeof Model.Type

const WireModels = Schema.Union([
  Schema.Array(Model),
  Schema.Array(Schema.NonEmptyString),
  Schema.Record(Schema.String, Schema.Array(Schema.NonEmptyString))
])

/** Objects with an `id`. Some gateways send strings, or lists of strings by channel. */
const ModelList = WireModels.pipe(
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

export const AccountModels = envelopeOf(ModelList).annotate({ identifier: "AccountModels" })

/** `GET /v1/models`. */
export const ModelsResponse = namedOpenStruct("ModelsResponse", {
  object: field("`list`.", lenient(Schema.String)),
  data: field("The models that the key may use.", ModelList)
})

/** The calls for the lists of models. Interface: “Account management”; `/v1/models` is not part of it. */
export const ModelsGroup = HttpApiGroup.make("models")
  .add(
    HttpApiEndpoint.get("list", "/v1/models", { success: ModelsResponse }).middleware(ApiKeyAuth),
    HttpApiEndpoint.get("all", "/api/models", { success: AccountModels }).middleware(AccessTokenAuth),
    HttpApiEndpoint.get("available", "/api/user/available_models", {
      success: AccountModels
    }).middleware(AccessTokenAuth)
  )
  .annotateMerge(OpenApi.annotations({ title: "Models", description: "The lists of models" }))

/** A group of models, as the interface names it. */
export type ModelGroup = VideoGroup | ImageGroup | "rerank" | "embeddings" | "chat"

const groups = Object.keys(VIDEO_GROUPS) as ReadonlyArray<keyof typeof VIDEO_GROUPS>

/** All groups of models. */
export const MODEL_GROUPS: ReadonlyArray<ModelGroup> = [
  ...groups,
  "image-to-video",
  ...IMAGE_GROUPS,
  "rerank",
  "embeddings",
  "chat"
]
