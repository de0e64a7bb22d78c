import { Option, Predicate, Schema, SchemaGetter } from "effect"

/**
 * A field that may be absent.
 *
 * **Details.** Several well-known clients send `null` for what they do not give: it is read as absent. What is
 * `undefined` is left out when it is sent, where `Schema.optional` alone would send `null`.
 */
export const optional = <S extends Schema.Top>(schema: S) =>
  Schema.optionalKey(Schema.NullOr(schema)).pipe(
    Schema.decodeTo(Schema.optional(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional(Option.filter(Predicate.isNotNull)),
      encode: SchemaGetter.transformOptional(Option.filter(Predicate.isNotUndefined))
    })
  )
