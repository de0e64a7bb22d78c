/**
 * `POST /v1/embeddings`: turns texts into vectors.
 *
 * `base64` carries little-endian float32 numbers, at a fraction of the size and of the time of JSON numbers.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { openStruct, optional } from "./Fields.ts"

/** One text or several. Interface: “Embedding request”. */
export const EmbeddingRequest = openStruct(
  {
    model: Schema.NonEmptyString,
    input: Schema.Union([Schema.String, Schema.Array(Schema.String).check(Schema.isMinLength(1))]),
    /** `float` when not given. */
    encoding_format: optional(Schema.Literals(["float", "base64"]))
  },
  "EmbeddingRequest"
)
export type EmbeddingRequest = typeof EmbeddingRequest.Type

const isFloats = (u: unknown): u is ReadonlyArray<number> => {
  if (!Array.isArray(u)) return false
  for (const value of u) if (typeof value !== "number" || value - value !== 0) return false
  return true
}

/** Finite numbers, checked by one predicate: a schema for each number costs three times the transport. */
export const Floats = Schema.declare(isFloats, {
  identifier: "Floats",
  expected: "finite numbers",
  toCodecJson: () => undefined,
  toJsonSchema: () => ({ type: "array", items: { type: "number" } })
})

/** The vector of one text. */
export const Embedding = openStruct(
  {
    object: optional(Schema.String),
    /** Position in the input, from 0. */
    index: Schema.Int,
    embedding: Schema.Union([Schema.String, Floats])
  },
  "Embedding"
)

/** One vector for each text, not always in their order: `index` says whose it is. Interface: “Embedding response”. */
export const EmbeddingResponse = openStruct(
  {
    object: optional(Schema.String),
    data: Schema.Array(Embedding),
    model: optional(Schema.String),
    usage: optional(openStruct({ prompt_tokens: optional(Schema.Int), total_tokens: optional(Schema.Int) }))
  },
  "EmbeddingResponse"
)
export type EmbeddingResponse = typeof EmbeddingResponse.Type

/** The call of `/v1/embeddings`. Interface: “Embeddings”. */
export const EmbeddingsGroup = HttpApiGroup.make("embeddings")
  .add(
    HttpApiEndpoint.post("create", "/v1/embeddings", {
      payload: EmbeddingRequest,
      success: EmbeddingResponse,
      error: failures
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Embeddings", description: "Texts to vectors" }))
