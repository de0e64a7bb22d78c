/** What a question may be answered from, as it travels: the `Filter` of `@sluice/rag`, or a short form of it. */
import type * as Rag from "@sluice/rag"
import { Schema } from "effect"

/** Characters of a text of a question at most: the question itself, a path, a value. */
export const MAX_TEXT = 10_240

/** Values of one list, and conditions of one condition, at most. */
const MAX_LIST = 1_000

/** Conditions within conditions at most. */
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

/** Written out level by level: what is deeper than all of them is refused like anything that does not fit. */
const within = (depth: number): Schema.Codec<Rag.Filter> => {
  if (depth === MAX_DEPTH) return Schema.Union(leaves).annotate({ identifier: `Filter${depth}` })
  const inner = within(depth + 1)
  return Schema.Union([
    ...leaves,
    Schema.Struct({ _tag: Schema.Literals(["And", "Or"]), filters: listOf(inner) }),
    Schema.Struct({ _tag: Schema.Literal("Not"), filter: inner })
  ]).annotate({ identifier: depth === 1 ? "Filter" : `Filter${depth}` })
}

/** The typed condition: equals, in, range, prefix, and, or, not; `MAX_DEPTH` of them within each other at most. */
export const Filter: Schema.Codec<Rag.Filter> = within(1)

/** What a passage is. */
export const KINDS = ["passage", "figure", "table"] as const

const pageNumber = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))

/**
 * The short form: what is given must all hold. What can hold of nothing is refused: an empty list, pages that go
 * backwards, a document that is not there, metadata that no document has.
 *
 * **Details.** `documents` are identifiers or paths; a path that ends with `/` stands for all below it. `kinds` are
 * what a passage is. `pages` counts from 1, both ends included; documents without pages have none. `metadata` compares
 * values that were attached at the upload, a list meaning any of it. `where` is the typed condition beside them.
 */
export const ShortFilter = Schema.Struct({
  documents: Schema.optionalKey(listOf(Text)),
  kinds: Schema.optionalKey(listOf(Schema.Literals(KINDS))),
  pages: Schema.optionalKey(Schema.Struct({ from: pageNumber, to: pageNumber })),
  metadata: Schema.optionalKey(Schema.Record(Text, Schema.Union([Scalar, listOf(Scalar)]))),
  where: Schema.optionalKey(Filter)
}).annotate({ identifier: "ShortFilter" })
export type ShortFilter = typeof ShortFilter.Type

export const QuestionFilter = Schema.Union([Filter, ShortFilter])
export type QuestionFilter = typeof QuestionFilter.Type
