/** Which passages a question may be answered from: a typed condition, never text that a database would read. */
import { Schema } from "effect"

/** What can be asked of a passage or its document. A value of the document's metadata is named by its path of keys. */
export const FilterField = Schema.Union([
  Schema.Literals(["document", "path", "title", "format", "kind", "page"]),
  Schema.TupleWithRest(Schema.Tuple([Schema.Literal("metadata"), Schema.String]), [Schema.String])
])
export type FilterField = typeof FilterField.Type

const Scalar = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])
export type FilterValue = typeof Scalar.Type

/**
 * A condition. `document` is an identifier, `path` and `title` are texts, `format` is a `Format`, `kind` is `passage`,
 * `figure` or `table`, `page` counts from 1.
 *
 * **Details.** `Range` includes both ends; texts are compared by code unit. A metadata value that is a list holds when
 * one of its elements does. A missing value equals only `null`; `Not` of a condition on a missing value holds.
 */
export type Filter =
  | { readonly _tag: "Equals"; readonly field: FilterField; readonly value: FilterValue }
  | { readonly _tag: "In"; readonly field: FilterField; readonly values: ReadonlyArray<FilterValue> }
  | {
      readonly _tag: "Range"
      readonly field: FilterField
      readonly from?: string | number | undefined
      readonly to?: string | number | undefined
    }
  | { readonly _tag: "Prefix"; readonly field: FilterField; readonly prefix: string }
  | { readonly _tag: "And" | "Or"; readonly filters: ReadonlyArray<Filter> }
  | { readonly _tag: "Not"; readonly filter: Filter }

const bound = Schema.optional(Schema.Union([Schema.String, Schema.Finite]))
const inner = Schema.suspend((): Schema.Codec<Filter> => Filter)

/** The same as it comes from outside. */
export const Filter: Schema.Codec<Filter> = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Equals"), field: FilterField, value: Scalar }),
  Schema.Struct({ _tag: Schema.Literal("In"), field: FilterField, values: Schema.Array(Scalar) }),
  Schema.Struct({ _tag: Schema.Literal("Range"), field: FilterField, from: bound, to: bound }),
  Schema.Struct({ _tag: Schema.Literal("Prefix"), field: FilterField, prefix: Schema.String }),
  Schema.Struct({ _tag: Schema.Literals(["And", "Or"]), filters: Schema.Array(inner) }),
  Schema.Struct({ _tag: Schema.Literal("Not"), filter: inner })
])
