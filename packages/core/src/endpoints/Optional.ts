import { Schema } from "effect"

/** A field that may be absent or, as several well-known clients send it, `null`: both mean that it was not given. */
export const optional = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))
