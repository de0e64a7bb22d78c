/**
 * `POST /v1/rerank`: orders documents by relevance to a query.
 *
 * Usually the second stage of retrieval: recall 20 passages by embeddings, rerank, keep 3.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiKeyAuth } from "./Credentials.ts"
import { TextUsage } from "./Embeddings.ts"
import { field, namedOpenStruct, openStruct, optional, lenient } from "./Fields.ts"

/** A text, or an object with one (Cohere's first version). */
const RerankDocument = Schema.Union([
  Schema.String,
  Schema.Struct({ text: field("The document's text.", Schema.String) })
])

/** A query, and the documents to order. Interface: “Rerank request”. */
export const RerankRequest = namedOpenStruct("RerankRequest", {
  model: field("The model's id.", Schema.NonEmptyString),
  query: field("The text to which the documents are compared.", Schema.NonEmptyString),
  documents: field(
    "The documents to order: texts, or objects with a `text`.",
    Schema.Array(RerankDocument).check(Schema.isMinLength(1))
  ),
  top_n: field(
    "The number of results, the best first. Default: all.",
    optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
  ),
  return_documents: field("Whether each result carries its document's text.", optional(Schema.Boolean), false)
})
export type RerankRequest = typeof RerankRequest.Type

/** The relevance of one document. */
const RerankResult = namedOpenStruct("RerankResult", {
  index: field("The position in the request's documents, from 0.", Schema.Int),
  relevance_score: field("Higher is better. The range depends on the model.", Schema.Finite),
  document: field(
    "The document. Only with `return_documents`.",
    optional(openStruct({ text: field("The document's text.", Schema.String) }))
  )
})

/** A result for each document, or for the best `top_n`. Interface: “Rerank response”. */
export const RerankResponse = namedOpenStruct("RerankResponse", {
  id: field("The gateway's id of the call.", lenient(Schema.String)),
  model: field("The model's id.", lenient(Schema.String)),
  results: field("Best first.", Schema.Array(RerankResult)),
  usage: field("The tokens that are billed.", optional(TextUsage)),
  meta: field(
    "Fields of Cohere's form. `@ai-sdk/cohere` fails without this key.",
    optional(Schema.Record(Schema.String, Schema.Json))
  )
})
export type RerankResponse = typeof RerankResponse.Type

const options = { payload: RerankRequest, success: RerankResponse }

/** The call of `/v1/rerank`. Interface: “Rerank”. */
export const RerankGroup = HttpApiGroup.make("rerank")
  .add(
    HttpApiEndpoint.post("create", "/v1/rerank", options),
    /** The path that Cohere's newer clients use. */
    HttpApiEndpoint.post("createV2", "/v2/rerank", options).annotate(OpenApi.Exclude, true)
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Rerank", description: "Documents by relevance to a query" }))
