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

/**
 * A field that the interface does not name, of the type that it usually has; in another one it is read as absent.
 *
 * **Details.** What nobody promised costs no answer: some gateways number what others name, or count in fractions.
 */
export const usual = <S extends Schema.ConstraintCodec<unknown, Schema.Json>>(schema: S) => {
  const fits = Schema.is(Schema.toType(schema))
  return Schema.optionalKey(Schema.Union([schema, Schema.Json])).pipe(
    Schema.decodeTo(Schema.optional(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional(Option.filter(fits)),
      encode: SchemaGetter.transformOptional(Option.filter(Predicate.isNotUndefined))
    })
  )
}
