/** The filter of a question: the `Filter` of `@sluice/rag`, or a short form of it. */
import { field } from "@sluice/core/contract"
import type * as Rag from "@sluice/rag"
import { Schema } from "effect"

const { optionalKey } = Schema

/** Characters at most of the question, a path, or a value. */
export const MAX_TEXT = 10_240

/** Values in one list, and conditions in one `And` or `Or`, at most. */
const MAX_LIST = 1_000

/** Nesting depth of conditions at most. */
export const MAX_DEPTH = 8

export const Text = Schema.String.check(Schema.isMaxLength(MAX_TEXT))
const Scalar = Schema.Union([Text, Schema.Finite, Schema.Boolean, Schema.Null])
const listOf = <S extends Schema.Top>(one: S) => Schema.Array(one).check(Schema.isMaxLength(MAX_LIST))
const Bound = Schema.optional(Schema.Union([Text, Schema.Finite]))

const Field: Schema.Codec<Rag.FilterField> = Schema.Union([
  Schema.Literals(["document", "path", "title", "format", "kind", "page"]),
  Schema.TupleWithRest(Schema.Tuple([Schema.Literal("metadata"), Text]), [Text])
])

/** A condition of a field. */
const condition = <const Tag extends string, Fields extends Schema.Struct.Fields>(
  tag: Tag,
  what: string,
  fields: Fields
) =>
  Schema.Struct({
    _tag: field(`The kind of the condition: the field ${what}.`, Schema.Literal(tag)),
    field: field("What is compared: a property, or a path in the metadata.", Field),
    ...fields
  })

const leaves = [
  condition("Equals", "has the value", { value: field("The value.", Scalar) }),
  condition("In", "has one of the values", { values: field("The values.", listOf(Scalar)) }),
  condition("Range", "is within the range", {
    from: field("The least value. Default: no limit.", Bound),
    to: field("The largest value, included. Default: no limit.", Bound)
  }),
  condition("Prefix", "begins with the text", { prefix: field("The text.", Text) })
] as const

/** One schema per level, so that a deeper condition is rejected as malformed. */
const within = (depth: number): Schema.Codec<Rag.Filter> => {
  if (depth === MAX_DEPTH) return Schema.Union(leaves).annotate({ identifier: `Filter${depth}` })
  const inner = within(depth + 1)
  return Schema.Union([
    ...leaves,
    Schema.Struct({
      _tag: field("All conditions hold, or at least one.", Schema.Literals(["And", "Or"])),
      filters: field("The conditions.", listOf(inner))
    }),
    Schema.Struct({
      _tag: field("The condition does not hold.", Schema.Literal("Not")),
      filter: field("The condition.", inner)
    })
  ]).annotate({ identifier: depth === 1 ? "Filter" : `Filter${depth}` })
}

/** The typed condition: equals, in, range, prefix, and, or, not; nested `MAX_DEPTH` levels deep at most. */
const FilterSchema: Schema.Codec<Rag.Filter> = within(1)

/** Kinds of passages. */
export const KINDS = ["passage", "figure", "table"] as const

const pageNumber = optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))

/**
 * The short form. All given fields must hold. A filter that can match nothing is rejected: an empty list, a page range
 * that runs backwards, an unknown document, metadata that no document has.
 */
export const ShortFilter = Schema.Struct({
  documents: field(
    "Ids or paths. A path with `/` at the end matches all below it.",
    optionalKey(listOf(Text))
  ),
  kinds: field("Kinds of passages.", optionalKey(listOf(Schema.Literals(KINDS)))),
  pages: field(
    "Pages, both ends included. Documents without pages do not match.",
    optionalKey(
      Schema.Struct({
        from: field("The first page, from 1. Default: 1.", pageNumber),
        to: field("The last page. Default: the last one.", pageNumber)
      })
    )
  ),
  metadata: field(
    "Values attached at the upload; a list matches any of its values.",
    optionalKey(Schema.Record(Text, Schema.Union([Scalar, listOf(Scalar)])))
  ),
  where: field("An additional condition.", optionalKey(FilterSchema))
}).annotate({ identifier: "ShortFilter" })
export type ShortFilter = typeof ShortFilter.Type

export const QuestionFilter = Schema.Union([FilterSchema, ShortFilter])
export type QuestionFilter = typeof QuestionFilter.Type
