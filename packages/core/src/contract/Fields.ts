/** The building blocks of the schemas: optional fields, structs that keep undeclared fields, envelopes, task ids. */
import { Option, Predicate, Record, Schema, SchemaGetter, SchemaIssue, SchemaTransformation } from "effect"
import { InvalidRequest } from "./GatewayError.ts"

/** A field with the description, and the value when it is absent, that the OpenAPI document shows. */
export const field = <S extends Schema.Top>(
  description: string,
  schema: S,
  absent?: string | number | boolean
): S["Rebuild"] =>
  schema.annotateKey({ description, ...(absent !== undefined && { default: absent as S["Type"] }) })

/** A whole number in a range, both ends included. */
export const between = (minimum: number, maximum: number): Schema.Int =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/**
 * A field that may be absent. `field` describes it in an open struct, `description` in any struct.
 *
 * **Details.** `null` is decoded as absent, because several clients send it. `undefined` is omitted when encoded;
 * `Schema.optional` alone would send `null`.
 */
export const optional = <S extends Schema.Top>(schema: S, description?: string) =>
  Schema.optionalKey(Schema.NullOr(schema))
    .annotateKey({ description })
    .pipe(
      Schema.decodeTo(Schema.optional(Schema.toType(schema)), {
        decode: SchemaGetter.transformOptional(Option.filter(Predicate.isNotNull)),
        encode: SchemaGetter.transformOptional(Option.filter(Predicate.isNotUndefined))
      })
    )

/**
 * A field outside the interface, of its usual type. Another type is decoded as absent.
 *
 * **Details.** Such a field never fails a response: some gateways use numbers for ids, or fractions for counts.
 */
export const lenient = <S extends Schema.ConstraintCodec<unknown, Schema.Json>>(schema: S) => {
  const fits = Schema.is(Schema.toType(schema))
  return Schema.optionalKey(Schema.Union([schema, Schema.Json])).pipe(
    Schema.decodeTo(Schema.optional(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional(Option.filter(fits)),
      encode: SchemaGetter.transformOptional(Option.filter(Predicate.isNotUndefined))
    })
  )
}

/** Fields of a response beyond the interface, unchanged. */
export const Extra = Schema.Record(Schema.String, Schema.Json)
export type Extra = typeof Extra.Type

type Fields = Readonly<Record<string, unknown>>

const isFields = (u: unknown): u is Fields => Predicate.isObject(u) && !ArrayBuffer.isView(u)

const isJson = Schema.is(Schema.Json)

/** An object whose undeclared fields are JSON. It is documented as a struct of `fields`, which are not decoded. */
const objectOf = (fields: Schema.Struct.Fields, known: ReadonlySet<string>, identifier?: string) => {
  const wire = (schema: Schema.Top) => Schema.toEncoded(Schema.toCodecJson(schema))
  // A codec loses what is said about its field: the document has it from the field itself.
  const documented = Schema.Struct(
    Record.map(fields, (one) =>
      wire(one as Schema.Top).annotateKey(
        Schema.resolveAnnotationsKey(one) as Schema.Annotations.Key<Schema.Json>
      )
    )
  )
  const invalidField = (all: Fields) => {
    for (const name in all) {
      if (!known.has(name) && !isJson(all[name])) return { path: [name], issue: "Expected a JSON value" }
    }
    return undefined
  }
  return Schema.declare(isFields, {
    expected: "object",
    toCodecJson: () => undefined,
    toCodecArbitrary: () => {
      const open = Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Json)])
      return Schema.link<Fields>()(wire(open) as Schema.Codec<Fields>, SchemaTransformation.passthrough())
    }
  }).check(
    Schema.makeFilter(invalidField, {
      identifier,
      representation: { id: "@sluice/core/openStruct", payload: null, schemas: [documented.ast] },
      toJsonSchema: ({ schemas: [properties = {}] }) => properties
    })
  )
}

/** A struct of `F`, which is next to other fields on the wire. Decoded, these are in `extra`, absent if there are none. */
export interface OpenStruct<F extends Schema.Struct.Fields> extends Schema.Codec<
  Schema.Struct.Type<F> & { readonly extra?: Extra },
  Schema.Struct.Encoded<F> & Extra,
  Schema.Struct.DecodingServices<F>,
  Schema.Struct.EncodingServices<F>
> {
  readonly fields: F
}

/**
 * A struct that keeps undeclared fields in `extra`.
 *
 * **Details.** Only undeclared fields are checked as JSON. They are separated before the struct decodes its fields:
 * Effect decodes a struct with an index signature several times slower than one without.
 */
export const openStruct = <const F extends Schema.Struct.Fields>(fields: F): OpenStruct<F> =>
  makeOpenStruct(fields)

/** An open struct that OpenAPI documents refer to by its identifier. */
export const namedOpenStruct = <const F extends Schema.Struct.Fields>(
  identifier: string,
  fields: F
): OpenStruct<F> => makeOpenStruct(fields, identifier)

const makeOpenStruct = <F extends Schema.Struct.Fields>(fields: F, identifier?: string) => {
  const known = new Set(Object.keys(fields))
  const struct = Schema.Struct({ ...fields, extra: Schema.optionalKey(Schema.declare(isFields)) }).annotate({
    identifier
  })
  const schema = objectOf(fields, known, identifier).pipe(
    Schema.decodeTo(Schema.toCodecJson(struct) as unknown as Schema.Codec<Fields>, {
      decode: SchemaGetter.transform((all: Fields) => split(all, known)),
      encode: SchemaGetter.transform(({ extra, ...declared }) => ({
        ...(extra as Extra | undefined),
        ...declared
      }))
    })
  )
  return Object.assign(schema, { fields }) as unknown as OpenStruct<F>
}

const split = (all: Fields, known: ReadonlySet<string>): Fields => {
  let isPlain = true
  for (const name in all) isPlain &&= known.has(name)
  if (isPlain) return all
  const declared: Record<string, unknown> = {}
  const extra: Array<readonly [string, unknown]> = []
  for (const name of Object.keys(all)) {
    if (known.has(name)) declared[name] = all[name]
    else extra.push([name, all[name]])
  }
  return { ...declared, extra: Object.fromEntries(extra) }
}

/**
 * All fields of a decoded response beyond the interface, at their original place.
 *
 * **Details.** `{ choices: [{ message: { reasoning_content: "…" } }] }`: objects and lists of the interface are kept
 * if they contain such a field; a list has `{}` for other elements. Undefined if there are none.
 */
export const extraOf = (answer: unknown): Extra | undefined => {
  if (!isFields(answer)) return undefined
  const found: Array<[string, Schema.Json]> = []
  for (const name of Object.keys(answer)) {
    const value = answer[name]
    if (typeof value !== "object") continue
    if (name === "extra" && isFields(value)) found.unshift(...(Object.entries(value) as typeof found))
    else {
      const inside = Array.isArray(value) ? extrasOf(value) : extraOf(value)
      if (inside !== undefined) found.push([name, inside])
    }
  }
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** Checks only the first element, so that vectors are not scanned. */
const extrasOf = (list: ReadonlyArray<unknown>): ReadonlyArray<Extra> | undefined => {
  if (!isFields(list[0])) return undefined
  const inside = list.map(extraOf)
  return inside.some((extra) => extra !== undefined) ? inside.map((extra) => extra ?? {}) : undefined
}

/** The error if `extra` has a field that the request declares, else undefined. */
export const validateExtra = (
  extra: Extra | undefined,
  { fields }: { readonly fields: Schema.Struct.Fields }
): InvalidRequest | undefined => {
  const named = extra && Object.keys(extra).find((name) => Object.hasOwn(fields, name))
  if (named === undefined) return undefined
  const message = `\`${named}\` is not allowed in \`extra\`: use the field of the call, if it has one.`
  return new InvalidRequest({ message, param: `extra.${named}` })
}

/** A refusal sent with status 200. */
const RefusedResponse = openStruct({
  success: field("False: the call failed.", Schema.Literal(false)),
  message: field("Why.", optional(Schema.String))
})

/** `{data}`, or `{success, message, data}`, or a refusal. */
export const envelopeOf = <S extends Schema.Top>(data: S) =>
  Schema.Union([
    openStruct({
      success: field("Whether the call succeeded.", optional(Schema.Literal(true))),
      message: field("Empty, or why it failed.", optional(Schema.String)),
      data: field("The response.", data) as S
    }),
    RefusedResponse
  ])

/** The longest id: some name a whole operation. A request's head has room for 16 KB. */
export const MAX_TASK_ID = 4096

/** A task's id in a path. `.` and `..` would change the path. */
export const TaskId = Schema.NonEmptyString.check(
  Schema.isMaxLength(MAX_TASK_ID),
  Schema.isPattern(/^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]*$/u, { expected: "an identifier as the gateway gave it" })
)

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** The faults that a schema found. A path is like `messages.0.content`, and empty for the whole value. */
export const faultsOf = (
  issue: SchemaIssue.Issue
): ReadonlyArray<{ readonly path: string; readonly message: string }> =>
  formatIssue(issue).issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => String(typeof step === "object" ? step.key : step)).join(".")
  }))

/** Parses JSON, or returns undefined. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Addresses are joined with paths that begin with a slash. */
export const withoutFinalSlash = (address: string): string => address.replace(/(?<!\/)\/+$/, "")
