/**
 * `POST /v1/embeddings`: turns texts into vectors.
 *
 * `base64` encodes vectors as little-endian float32 numbers. It is much smaller and faster than JSON numbers.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiKeyAuth } from "./Credentials.ts"
import { field, lenient, namedOpenStruct, openStruct, optional } from "./Fields.ts"

/** One text or several. Interface: “Embedding request”. */
export const EmbeddingRequest = namedOpenStruct("EmbeddingRequest", {
  model: field("The model's id.", Schema.NonEmptyString),
  input: field(
    "One text, or several.",
    Schema.Union([Schema.String, Schema.Array(Schema.String).check(Schema.isMinLength(1))])
  ),
  encoding_format: field(
    "`float`: numbers; `base64`: little-endian float32 numbers in Base64.",
    optional(Schema.Literals(["float", "base64"])),
    "float"
  )
})
export type EmbeddingRequest = typeof EmbeddingRequest.Type

const isFloats = (u: unknown): u is ReadonlyArray<number> => {
  if (!Array.isArray(u)) return false
  for (const value of u) if (typeof value !== "number" || value - value !== 0) return false
  return true
}

/** Finite numbers, checked by one predicate. A schema for each number costs three times as much as the transport. */
const Floats = Schema.declare(isFloats, {
  identifier: "Floats",
  expected: "finite numbers",
  toCodecJson: () => undefined,
  toJsonSchema: () => ({ type: "array", items: { type: "number" } })
})

/** The vector of one text. */
export const Embedding = namedOpenStruct("Embedding", {
  object: field("`embedding`.", optional(Schema.String)),
  index: field("Position in the input, from 0.", Schema.Int),
  embedding: field("The vector, in the `encoding_format`.", Schema.Union([Schema.String, Floats]))
})

/** The tokens of a call without an answer. */
export const TextUsage = openStruct({
  prompt_tokens: field("Tokens of the input.", lenient(Schema.Int)),
  total_tokens: field("All tokens.", lenient(Schema.Int))
})

/** One vector per text, in any order: `index` is the text's. Interface: “Embedding response”. */
export const EmbeddingResponse = namedOpenStruct("EmbeddingResponse", {
  object: field("`list`.", optional(Schema.String)),
  data: field("One entry for each text.", Schema.Array(Embedding)),
  model: field("The model's id.", optional(Schema.String)),
  usage: field("The tokens that are billed.", optional(TextUsage))
})
export type EmbeddingResponse = typeof EmbeddingResponse.Type

/** The call of `/v1/embeddings`. Interface: “Embeddings”. */
export const EmbeddingsGroup = HttpApiGroup.make("embeddings")
  .add(
    HttpApiEndpoint.post("create", "/v1/embeddings", {
      payload: EmbeddingRequest,
      success: EmbeddingResponse
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Embeddings", description: "Texts to vectors" }))
