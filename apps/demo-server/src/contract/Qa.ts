/** Ask the documents. */
import { failures, MalformedRequest } from "@sluice/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { Answer, AnswerEvent } from "./Answer.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))

/** `recall` passages are recalled (20), the best `keep` of them are read (3). */
export const Question = Schema.Struct({
  question: Schema.String,
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
    })
  )
  .middleware(Access)
  .middleware(MalformedRequest) {}
