/** Restricts a question to some passages by a typed condition. */
import { Schema } from "effect"
import type { Metadata, MetadataValue, StoredPassage } from "./Document.ts"

/** A field of a passage or its document. A value of the metadata has a path of keys: `["metadata", "year"]`. */
export const FilterField = Schema.Union([
  Schema.Literals(["document", "path", "title", "format", "kind", "page"]),
  Schema.TupleWithRest(Schema.Tuple([Schema.Literal("metadata"), Schema.String]), [Schema.String])
])
export type FilterField = typeof FilterField.Type

const Scalar = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])
export type FilterValue = typeof Scalar.Type

const bound = Schema.optional(Schema.Union([Schema.String, Schema.Finite]))

const comparisons = [
  Schema.Struct({ _tag: Schema.Literal("Equals"), field: FilterField, value: Scalar }),
  Schema.Struct({ _tag: Schema.Literal("In"), field: FilterField, values: Schema.Array(Scalar) }),
  Schema.Struct({ _tag: Schema.Literal("Range"), field: FilterField, from: bound, to: bound }),
  Schema.Struct({ _tag: Schema.Literal("Prefix"), field: FilterField, prefix: Schema.String })
] as const

/** A condition on one field. */
export type FieldFilter = (typeof comparisons)[number]["Type"]

/**
 * A condition. `document` is an identifier, `format` the identifier of a format, `kind` is `passage`, `figure` or `table`,
 * `page` counts from 1.
 *
 * **Details.** `Range` includes both ends; strings are compared by code unit. An array of metadata matches if one of its
 * elements does. A missing value equals only `null`; `Not` of a condition on a missing value matches.
 */
export type Filter =
  | FieldFilter
  | { readonly _tag: "And" | "Or"; readonly filters: ReadonlyArray<Filter> }
  | { readonly _tag: "Not"; readonly filter: Filter }

const inner = Schema.suspend((): Schema.Codec<Filter> => FilterSchema)

const FilterSchema: Schema.Codec<Filter> = Schema.Union([
  ...comparisons,
  // One struct for each tag, so that the error of another kind of filter is reported alone.
  Schema.Struct({ _tag: Schema.Literal("And"), filters: Schema.Array(inner) }),
  Schema.Struct({ _tag: Schema.Literal("Or"), filters: Schema.Array(inner) }),
  Schema.Struct({ _tag: Schema.Literal("Not"), filter: inner })
])

/**
 * Constructors of filters, and the schema of their JSON.
 *
 * ```ts
 * Filter.and(Filter.in("format", ["pdf", "docx"]), Filter.range(["metadata", "year"], { from: 2020 }))
 * ```
 */
export const Filter = {
  schema: FilterSchema,
  equals: (field: FilterField, value: FilterValue): Filter => ({ _tag: "Equals", field, value }),
  in: (field: FilterField, values: ReadonlyArray<FilterValue>): Filter => ({ _tag: "In", field, values }),
  /** Includes both ends. Without ends it matches every number and string. */
  range: (
    field: FilterField,
    ends: { readonly from?: string | number | undefined; readonly to?: string | number | undefined }
  ): Filter => ({ _tag: "Range", field, ...ends }),
  prefix: (field: FilterField, prefix: string): Filter => ({ _tag: "Prefix", field, prefix }),
  /** Matches if all filters do; without filters always. */
  and: (...filters: ReadonlyArray<Filter>): Filter => ({ _tag: "And", filters }),
  /** Matches if any filter does; without filters never. */
  or: (...filters: ReadonlyArray<Filter>): Filter => ({ _tag: "Or", filters }),
  not: (filter: Filter): Filter => ({ _tag: "Not", filter })
}

/** A passage and the metadata of its document. */
export interface Filterable {
  readonly passage: Pick<StoredPassage, "document" | "page" | "figure">
  readonly metadata?: Metadata | undefined
}

/** Whether a filter matches. Every store must give the same results. */
export const matches = (filter: Filter, of: Filterable): boolean => {
  switch (filter._tag) {
    case "And":
      return filter.filters.every((each) => matches(each, of))
    case "Or":
      return filter.filters.some((each) => matches(each, of))
    case "Not":
      return !matches(filter.filter, of)
    default:
      return holds(filter, valueOf(filter.field, of))
  }
}

const holds = (test: FieldFilter, value: MetadataValue): boolean => {
  if (isList(value)) return value.some((element) => holds(test, element))
  switch (test._tag) {
    case "Equals":
      return value === test.value
    case "In":
      return test.values.some((each) => each === value)
    case "Prefix":
      return typeof value === "string" && value.startsWith(test.prefix)
    case "Range":
      return (
        (typeof value === "string" || typeof value === "number") &&
        (test.from === undefined || (typeof test.from === typeof value && value >= test.from)) &&
        (test.to === undefined || (typeof test.to === typeof value && value <= test.to))
      )
  }
}

/** The value of a field; null if it is missing. */
const valueOf = (field: FilterField, { metadata, passage }: Filterable): MetadataValue => {
  if (typeof field !== "string") {
    return field
      .slice(1)
      .reduce<MetadataValue>(
        (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? (value[key] ?? null) : null),
        metadata ?? null
      )
  }
  switch (field) {
    case "document":
      return passage.document.id
    case "path":
    case "title":
    case "format":
      return passage.document[field]
    case "kind":
      return passage.figure?.kind ?? "passage"
    case "page":
      return passage.page ?? null
  }
}

const isList = (value: MetadataValue): value is ReadonlyArray<MetadataValue> => Array.isArray(value)

const isRecord = (value: MetadataValue): value is Metadata =>
  typeof value === "object" && value !== null && !isList(value)
