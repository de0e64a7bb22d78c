/** Usage and cost by day and model. Not part of the gateway interface; needs a system access token or the page's session. */
import { AccessTokenAuth, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DataEnvelope } from "./Administration.ts"

/** The calls to a model on one day, without rejected and refunded ones. */
export const DayUsage = Schema.Struct({
  /** In UTC, such as `2026-11-21`. */
  day: Schema.String,
  model: Schema.String,
  /** `embeddings`, `rerank`, `chat`, `images` or `videos`. */
  operation: Schema.String,
  calls: Schema.Int,
  input_tokens: Schema.Int,
  output_tokens: Schema.Int,
  /** Cost in quota units. */
  quota: Schema.Int
})
export type DayUsage = typeof DayUsage.Type

export class UsageGroup extends HttpApiGroup.make("usage")
  .add(
    /** Oldest day first. Days without calls are left out. */
    HttpApiEndpoint.get("usage", "/api/usage", {
      query: {
        /** Number of days, including today. Default: 30. */
        days: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_660 }))),
        /** A user's id. Default: the caller's. Only administrators can read another user's usage. */
        user: Schema.optionalKey(Schema.NonEmptyString)
      },
      success: DataEnvelope(Schema.Array(DayUsage))
    })
  )
  // A misspelt `user` must not fall back to the caller.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(AccessTokenAuth)
  .middleware(MalformedRequest) {}
