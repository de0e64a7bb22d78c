/** Filters as SQL for LanceDB. Only quoted literals of a filter reach the SQL. */
import { Effect } from "effect"
import {
  checkFilter,
  fieldFiltersOf,
  isJunction,
  isSameForDocument,
  isDocumentField
} from "../../document/CheckFilter.ts"
import type { DocumentInfo, StoredPassage } from "../../document/Document.ts"
import { type FieldFilter, type Filter, type FilterValue, matches } from "../../document/Filter.ts"
import type { RagError } from "../../document/RagError.ts"
import { sqlIn, sqlString } from "./Lance.ts"

export interface LanceFilter {
  /** Applied by LanceDB before it searches. */
  readonly where: string
  /** Checks a hit again: documents may have changed since `where` was made. */
  readonly holds: (passage: StoredPassage) => boolean
}

type Junction = Extract<Filter, { readonly _tag: "And" | "Or" }>
type Column = Extract<FieldFilter["field"], string>

/**
 * Fails with `Malformed` for an invalid filter, such as one with an unknown field, and with `TooLarge` for one that is too
 * large.
 *
 * **Details.** LanceDB compares columns. Conditions on metadata, and ranges of texts (ordered by code units here, by bytes
 * in LanceDB), are evaluated on the rows of the documents and become conditions on document identifiers. The rows are read
 * only for such a filter.
 */
export const lanceFilter = Effect.fn("LanceFilter.make")(function* (
  given: Filter,
  documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>,
  formats: ReadonlyArray<string>
) {
  const filter = yield* checkFilter(given, formats)
  if (!needsDocuments(filter)) {
    return { where: sqlOf(filter, false, []), holds: () => true } satisfies LanceFilter
  }
  const known = yield* documents
  const metadata = new Map(known.map((info) => [info.id, info.metadata]))
  return {
    where: sqlOf(filter, false, known),
    holds: (passage) =>
      metadata.has(passage.document.id) &&
      matches(filter, { passage, metadata: metadata.get(passage.document.id) })
  } satisfies LanceFilter
})

/** A comparison that LanceDB cannot make, or makes in another way. */
const isOfDocuments = (filter: FieldFilter): boolean =>
  typeof filter.field !== "string" || (filter._tag === "Range" && isDocumentField(filter.field))

const needsDocuments = (filter: Filter): boolean => fieldFiltersOf(filter).some(isOfDocuments)

/**
 * The SQL is true or false for each row, never null. `Not` is pushed down to the comparisons, because each one around a
 * condition doubles the time in LanceDB.
 */
const sqlOf = (filter: Filter, not: boolean, documents: ReadonlyArray<DocumentInfo>): string => {
  if (filter._tag === "Not") return sqlOf(filter.filter, !not, documents)
  if (needsDocuments(filter) && isSameForDocument(filter)) return documentsSql(filter, not, documents)
  return isJunction(filter) ? junctionSql(filter, not, documents) : comparisonSql(filter, not)
}

const junctionSql = (
  { _tag, filters }: Junction,
  not: boolean,
  documents: ReadonlyArray<DocumentInfo>
): string => {
  const all = (_tag === "And") !== not
  const parts = filters.map((each) => sqlOf(each, not, documents))
  return balanced(
    parts.filter((part) => part !== constant(all)),
    all ? "AND" : "OR",
    constant(all)
  )
}

/** A balanced tree: LanceDB parses a long chain by recursion as deep as it is long. */
const balanced = (parts: ReadonlyArray<string>, operator: string, none: string): string => {
  if (parts.length <= 1) return parts[0] ?? none
  const half = parts.length >> 1
  return `(${balanced(parts.slice(0, half), operator, none)} ${operator} ${balanced(parts.slice(half), operator, none)})`
}

const constant = (value: boolean): string => (value ? "true" : "false")

/** A condition on identifiers, by the shorter of the two lists. */
const documentsSql = (filter: Filter, not: boolean, documents: ReadonlyArray<DocumentInfo>): string => {
  const ids: Record<"in" | "out", Array<string>> = { in: [], out: [] }
  for (const info of documents) {
    const holds = matches(filter, { passage: { document: info }, metadata: info.metadata }) !== not
    ids[holds ? "in" : "out"].push(info.id)
  }
  if (ids.in.length === 0) return constant(false)
  if (ids.out.length === 0) return constant(true)
  return ids.in.length <= ids.out.length ? sqlIn("document", ids.in) : `NOT (${sqlIn("document", ids.out)})`
}

/** Stands for a passage without a page, so that no comparison is null. No literal has this value. */
const NO_PAGE = -(2 ** 31)

/** The largest number in a 32-bit column. */
const MAX_INTEGER = 2 ** 31 - 1

const comparisonSql = (filter: FieldFilter, not: boolean): string => {
  const text = filter.field !== "page"
  const name = text ? `\`${filter.field as Column}\`` : `coalesce(\`page\`, ${NO_PAGE})`
  switch (filter._tag) {
    case "Equals":
      return listSql(name, text, [filter.value], not)
    case "In":
      return listSql(name, text, filter.values, not)
    case "Prefix":
      return text ? `starts_with(${name}, ${sqlString(filter.prefix)}) = ${constant(!not)}` : constant(not)
    case "Range":
      return rangeSql(name, filter, not)
  }
}

const listSql = (name: string, text: boolean, values: ReadonlyArray<FilterValue>, not: boolean): string => {
  const literals = values.flatMap((value) => literal(value, text))
  return literals.length === 0 ? constant(not) : `${name} ${not ? "NOT IN" : "IN"} (${literals.join(", ")})`
}

/** The SQL literal of a value, or none if the column cannot have it. Only the page may be null. */
const literal = (value: FilterValue, text: boolean): ReadonlyArray<string> => {
  if (text) return typeof value === "string" ? [sqlString(value)] : []
  if (value === null) return [String(NO_PAGE)]
  return Number.isInteger(value) && Math.abs(Number(value)) <= MAX_INTEGER ? [String(value)] : []
}

/** A range of pages, or of kinds, which are ASCII: bytes and code units have the same order. */
const rangeSql = (
  name: string,
  { from, field, to }: Extract<Filter, { readonly _tag: "Range" }>,
  not: boolean
): string => {
  const page = field === "page"
  const wanted = page ? "number" : "string"
  if ([from, to].some((end) => end !== undefined && typeof end !== wanted)) return constant(not)
  const first = from === undefined && !page ? [] : [endOf(from ?? -MAX_INTEGER, Math.ceil)]
  const last = to === undefined ? [] : [endOf(to, Math.floor)]
  const bounds = not
    ? [...first.map((end) => `${name} < ${end}`), ...last.map((end) => `${name} > ${end}`)]
    : [...first.map((end) => `${name} >= ${end}`), ...last.map((end) => `${name} <= ${end}`)]
  return bounds.length === 0 ? constant(!not) : `(${bounds.join(not ? " OR " : " AND ")})`
}

const endOf = (value: string | number, round: (value: number) => number): string =>
  typeof value === "string"
    ? sqlString(value)
    : String(Math.max(-MAX_INTEGER, Math.min(MAX_INTEGER, round(value))))
