/** Usage and cost by day and model. Not part of the gateway interface; needs a system access token or the page's session. */
import { field, AccessTokenAuth, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DataEnvelope } from "./Administration.ts"

/** The calls to a model on one day, without rejected and refunded ones. */
export const DayUsage = Schema.Struct({
  day: field("In UTC, such as `2026-11-21`.", Schema.String),
  model: field("The model's id.", Schema.String),
  operation: field("`embeddings`, `rerank`, `chat`, `images` or `videos`.", Schema.String),
  calls: field("The number of calls.", Schema.Int),
  input_tokens: field("Tokens of the requests.", Schema.Int),
  output_tokens: field("Tokens of the responses.", Schema.Int),
  quota: field("The cost in quota units: 500,000 are 1 USD.", Schema.Int)
})
export type DayUsage = typeof DayUsage.Type

export class UsageGroup extends HttpApiGroup.make("usage")
  .add(
    /** Oldest day first. Days without calls are left out. */
    HttpApiEndpoint.get("usage", "/api/usage", {
      query: {
        days: field(
          "The number of days, including today.",
          Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_660 }))),
          30
        ),
        user: field(
          "A user's id, for administrators. Default: the caller's.",
          Schema.optionalKey(Schema.NonEmptyString)
        )
      },
      success: DataEnvelope(Schema.Array(DayUsage))
    })
  )
  // A misspelt `user` must not fall back to the caller.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(AccessTokenAuth)
  .middleware(MalformedRequest) {}
