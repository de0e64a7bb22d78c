/** What a user has used and paid, by day and model. Beyond the interface; by system access token or the page's session. */
import { AccessTokenAuth, failures, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Enveloped } from "./Enveloped.ts"

/** Days that can be looked back on. */
const MAX_DAYS = 3_660

/** The calls of a day to a model; refused and refunded ones are not among them. */
export const DayUsage = Schema.Struct({
  /** In UTC, such as `2026-11-21`. */
  day: Schema.String,
  model: Schema.String,
  /** `embeddings`, `rerank`, `chat`, `images` or `videos`. */
  operation: Schema.String,
  calls: Schema.Int,
  input_tokens: Schema.Int,
  output_tokens: Schema.Int,
  /** What was paid, in quota units. */
  quota: Schema.Int
})
export type DayUsage = typeof DayUsage.Type

export class Usage extends HttpApiGroup.make("usage")
  .add(
    /** Days without calls are left out; the oldest comes first. */
    HttpApiEndpoint.get("usage", "/api/usage", {
      query: {
        /** How many days, with today: 30. */
        days: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_DAYS }))),
        /** Whose, by id: the caller's own. Another's is told to administrators alone. */
        user: Schema.optionalKey(Schema.NonEmptyString)
      },
      success: Enveloped(Schema.Array(DayUsage)),
      error: failures
    })
  )
  // Another's usage that is asked for by a misspelt name would be one's own.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(AccessTokenAuth)
  .middleware(MalformedRequest) {}
