/** The filter of a question: the `Filter` of `@sluice/rag`, or a short form of it. */
import type * as Rag from "@sluice/rag"
import { Schema } from "effect"

/** Characters at most of the question, a path, or a value. */
export const MAX_TEXT = 10_240

/** Values in one list, and conditions in one `And` or `Or`, at most. */
const MAX_LIST = 1_000

/** Nesting depth of conditions at most. */
export const MAX_DEPTH = 8

const Text = Schema.String.check(Schema.isMaxLength(MAX_TEXT))
const Scalar = Schema.Union([Text, Schema.Finite, Schema.Boolean, Schema.Null])
const listOf = <S extends Schema.Top>(one: S) => Schema.Array(one).check(Schema.isMaxLength(MAX_LIST))
const Bound = Schema.optional(Schema.Union([Text, Schema.Finite]))

const Field: Schema.Codec<Rag.FilterField> = Schema.Union([
  Schema.Literals(["document", "path", "title", "format", "kind", "page"]),
  Schema.TupleWithRest(Schema.Tuple([Schema.Literal("metadata"), Text]), [Text])
])

const leaves = [
  Schema.Struct({ _tag: Schema.Literal("Equals"), field: Field, value: Scalar }),
  Schema.Struct({ _tag: Schema.Literal("In"), field: Field, values: listOf(Scalar) }),
  Schema.Struct({ _tag: Schema.Literal("Range"), field: Field, from: Bound, to: Bound }),
  Schema.Struct({ _tag: Schema.Literal("Prefix"), field: Field, prefix: Text })
] as const

/** One schema per level, so that a deeper condition is rejected as malformed. */
const within = (depth: number): Schema.Codec<Rag.Filter> => {
  if (depth === MAX_DEPTH) return Schema.Union(leaves).annotate({ identifier: `Filter${depth}` })
  const inner = within(depth + 1)
  return Schema.Union([
    ...leaves,
    Schema.Struct({ _tag: Schema.Literals(["And", "Or"]), filters: listOf(inner) }),
    Schema.Struct({ _tag: Schema.Literal("Not"), filter: inner })
  ]).annotate({ identifier: depth === 1 ? "Filter" : `Filter${depth}` })
}

/** The typed condition: equals, in, range, prefix, and, or, not; nested `MAX_DEPTH` levels deep at most. */
const FilterSchema: Schema.Codec<Rag.Filter> = within(1)

/** Kinds of passages. */
export const KINDS = ["passage", "figure", "table"] as const

const pageNumber = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))

/**
 * The short form. All given fields must hold. A filter that can match nothing is rejected: an empty list, a page range
 * that runs backwards, an unknown document, metadata that no document has.
 *
 * **Details.** `documents` are identifiers or paths; a path that ends with `/` matches everything below it. `pages`
 * counts from 1, both ends included; it matches no document without pages. `metadata` compares values attached at the
 * upload; a list matches any of its values. `where` is an additional typed condition.
 */
export const ShortFilter = Schema.Struct({
  documents: Schema.optionalKey(listOf(Text)),
  kinds: Schema.optionalKey(listOf(Schema.Literals(KINDS))),
  pages: Schema.optionalKey(Schema.Struct({ from: pageNumber, to: pageNumber })),
  metadata: Schema.optionalKey(Schema.Record(Text, Schema.Union([Scalar, listOf(Scalar)]))),
  where: Schema.optionalKey(FilterSchema)
}).annotate({ identifier: "ShortFilter" })
export type ShortFilter = typeof ShortFilter.Type

export const QuestionFilter = Schema.Union([FilterSchema, ShortFilter])
export type QuestionFilter = typeof QuestionFilter.Type
