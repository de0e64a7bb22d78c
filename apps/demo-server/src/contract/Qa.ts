/** Questions about the documents. */
import { MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { AnswerBody, AnswerStreamEvent, RetrievalBody } from "./Answer.ts"
import { CollectionName } from "./Names.ts"
import { MAX_TEXT, QuestionFilter } from "./Filter.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

/** Tokens of passages that a question may send to a model at most. */
const MAX_CONTEXT = 200_000

/** What a language model reads: see `ContextOptions` of `@sluice/rag`. */
const Context = Schema.Struct({
  passages: Schema.optionalKey(count),
  tokens: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_CONTEXT }))),
  section: Schema.optionalKey(Schema.Boolean)
})

/**
 * Recalls `recall` passages (default 20) and keeps the best `keep` of them (default 3). `filter` limits the passages that
 * may be used. `options` are other options of retrieval, such as `diversity`. Unknown fields are rejected.
 */
const RetrievalRequest = Schema.Struct({
  question: Schema.String.check(Schema.isMaxLength(MAX_TEXT)),
  collection: Schema.optional(Schema.NullOr(CollectionName)),
  filter: Schema.optional(Schema.NullOr(QuestionFilter)),
  recall: Schema.optional(Schema.NullOr(count)),
  keep: Schema.optional(Schema.NullOr(count)),
  options: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.Json)))
})

/**
 * Answers from the passages that are kept. `context` is what a language model reads. `verify` says what becomes of
 * sentences that their quotes do not support.
 */
export const QuestionRequest = Schema.Struct({
  ...RetrievalRequest.fields,
  context: Schema.optional(Schema.NullOr(Context)),
  verify: Schema.optional(Schema.NullOr(Schema.Literals(["mark", "drop", "off"])))
})
export type QuestionRequest = typeof QuestionRequest.Type

export class QaGroup extends HttpApiGroup.make("qa")
  .add(
    /** Returns JSON, or server-sent events with `Accept: text/event-stream`. 409 if the library needs a rebuild. */
    HttpApiEndpoint.post("ask", "/qa", {
      headers: { accept: Schema.optionalKey(Schema.String) },
      payload: QuestionRequest,
      success: [AnswerBody, HttpApiSchema.StreamSse({ data: AnswerStreamEvent })]
      // Ignoring a misspelt `filter` would answer from everything.
    }).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" }),
    /** The passages without an answer. Costs an embedding and a reranking. */
    HttpApiEndpoint.post("retrieve", "/retrieve", {
      payload: RetrievalRequest,
      success: RetrievalBody
    }).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" })
  )
  .middleware(Access)
  .middleware(MalformedRequest) {}
