/**
 * `POST /v1/rerank`: orders documents by relevance to a query.
 *
 * Usually the second stage of retrieval: recall 20 passages by embeddings, rerank, keep 3.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { namedOpenStruct, openStruct, optional, lenient } from "./Fields.ts"

/** A text, or an object with one (Cohere's first version). */
const RerankDocument = Schema.Union([Schema.String, Schema.Struct({ text: Schema.String })])

/** A query, and the documents to order. Interface: “Rerank request”. */
export const RerankRequest = namedOpenStruct("RerankRequest", {
  model: Schema.NonEmptyString,
  query: Schema.NonEmptyString,
  documents: Schema.Array(RerankDocument).check(Schema.isMinLength(1)),
  /** Return the best N; 0 returns none, more than the documents returns all. */
  top_n: optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  return_documents: optional(Schema.Boolean)
})
export type RerankRequest = typeof RerankRequest.Type

/** The relevance of one document. */
const RerankResult = namedOpenStruct("RerankResult", {
  /** The position in the request's documents, from 0. */
  index: Schema.Int,
  /** Higher is better. The range depends on the model. */
  relevance_score: Schema.Finite,
  document: optional(openStruct({ text: Schema.String }))
})

/** A result for each document, or for the best `top_n`. Interface: “Rerank response”. */
export const RerankResponse = namedOpenStruct("RerankResponse", {
  id: lenient(Schema.String),
  model: lenient(Schema.String),
  /** Best first. */
  results: Schema.Array(RerankResult),
  usage: optional(openStruct({ prompt_tokens: lenient(Schema.Int), total_tokens: lenient(Schema.Int) })),
  /** `@ai-sdk/cohere` fails without this key. */
  meta: optional(Schema.Record(Schema.String, Schema.Json))
})
export type RerankResponse = typeof RerankResponse.Type

const options = { payload: RerankRequest, success: RerankResponse, error: failures }

/** The call of `/v1/rerank`. Interface: “Rerank”. */
export const RerankGroup = HttpApiGroup.make("rerank")
  .add(
    HttpApiEndpoint.post("create", "/v1/rerank", options),
    /** The path that Cohere's newer clients use. */
    HttpApiEndpoint.post("createV2", "/v2/rerank", options).annotate(OpenApi.Exclude, true)
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Rerank", description: "Documents by relevance to a query" }))
