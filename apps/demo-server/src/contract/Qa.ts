/** Ask the documents. */
import { failures, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { Answer, AnswerEvent } from "./Answer.ts"
import { CollectionName } from "./Collections.ts"
import { MAX_TEXT, QuestionFilter } from "./Filter.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

/**
 * `recall` passages are recalled (20), the best `keep` of them are read (3). `collection` is `default` where it is not
 * given; `filter` says which passages may be used. Nothing else may stand beside them.
 */
export const Question = Schema.Struct({
  question: Schema.String.check(Schema.isMaxLength(MAX_TEXT)),
  collection: Schema.optional(Schema.NullOr(CollectionName)),
  filter: Schema.optional(Schema.NullOr(QuestionFilter)),
  recall: Schema.optional(Schema.NullOr(count)),
  keep: Schema.optional(Schema.NullOr(count))
})

export class Qa extends HttpApiGroup.make("qa")
  .add(
    /** JSON by default; server-sent events with `Accept: text/event-stream`. 409 when the library wants a rebuild. */
    HttpApiEndpoint.post("ask", "/qa", {
      headers: { accept: Schema.optionalKey(Schema.String) },
      payload: Question,
      success: [Answer, HttpApiSchema.StreamSse({ data: AnswerEvent })],
      error: failures
      // A misspelt filter that is left out would answer from everything.
    }).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" })
  )
  .middleware(Access)
  .middleware(MalformedRequest) {}
