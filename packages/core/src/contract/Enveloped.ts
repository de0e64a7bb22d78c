/** How `/api` answers: with what was asked for as `data`, or with a refusal that has the status of a success. */
import { Schema } from "effect"
import { open } from "./Open.ts"
import { optional } from "./Optional.ts"

/** A refusal that a gateway of this family sends with status 200. */
export const Refused = Schema.Struct({ success: Schema.Literal(false), message: optional(Schema.String) })

/** `{data}`, or `{success, message, data}`, or a refusal. */
export const enveloped = <S extends Schema.Top>(data: S) =>
  Schema.Union([
    open({ success: optional(Schema.Literal(true)), message: optional(Schema.String), data }),
    Refused
  ])
