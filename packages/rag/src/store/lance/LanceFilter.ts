/** Filters as SQL for LanceDB. Only quoted literals of a filter reach the SQL. */
import { Effect, Schema } from "effect"
import type { DocumentInfo, StoredPassage } from "../../document/Document.ts"
import { type FieldFilter, Filter, type FilterValue, matches } from "../../document/Filter.ts"
import { formatValue } from "../../document/Arguments.ts"
import { RagError } from "../../document/RagError.ts"
import { sqlIn, sqlString } from "./Lance.ts"

/** Nested conditions, and conditions and values in total. */
const MAX_DEPTH = 32
const MAX_SIZE = 10_000

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
  yield* checkSize(given)
  const filter = yield* Schema.decodeUnknownEffect(Filter.schema)(given).pipe(Effect.mapError(malformed))
  yield* checkValues(filter, { format: formats, kind: ["passage", "figure", "table"] })
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

const isJunction = (filter: Filter): filter is Junction => filter._tag === "And" || filter._tag === "Or"

/** A comparison that LanceDB cannot make, or makes in another way. */
const isOfDocuments = (filter: FieldFilter): boolean =>
  typeof filter.field !== "string" || (filter._tag === "Range" && isText(filter.field))

const isText = (field: Column): boolean => field !== "page" && field !== "kind"

const comparisonsOf = (filter: Filter): ReadonlyArray<FieldFilter> => {
  if (isJunction(filter)) return filter.filters.flatMap(comparisonsOf)
  return filter._tag === "Not" ? comparisonsOf(filter.filter) : [filter]
}

const needsDocuments = (filter: Filter): boolean => comparisonsOf(filter).some(isOfDocuments)

/** True if the filter gives the same result for all passages of a document. */
const isSameForDocument = (filter: Filter): boolean =>
  comparisonsOf(filter).every(({ field }) => typeof field !== "string" || isText(field))

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

/** Checked before any recursion. */
const checkSize = (filter: unknown): Effect.Effect<void, RagError> => {
  let size = 0
  let level: ReadonlyArray<unknown> = [filter]
  for (let depth = 0; level.length > 0; depth++) {
    size += level.length
    if (depth > 2 * MAX_DEPTH || size > MAX_SIZE) {
      const message = `The filter is more than ${MAX_DEPTH} levels deep, or has more than ${MAX_SIZE} parts. Add metadata to the documents and filter by it.`
      return Effect.fail(new RagError({ stage: "retrieve", reason: "TooLarge", message }))
    }
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : []
    )
  }
  return Effect.void
}

/** Fields with a fixed set of values. Another value is a mistake. */
type KnownValues = { readonly [field: string]: ReadonlyArray<FilterValue> }

const checkValues = Effect.fnUntraced(function* (filter: Filter, allowed: KnownValues) {
  for (const comparison of comparisonsOf(filter)) {
    const { _tag, field } = comparison
    const known = typeof field === "string" ? allowed[field] : undefined
    const values = _tag === "Equals" ? [comparison.value] : _tag === "In" ? comparison.values : []
    const unknown = known && values.find((value) => !known.includes(value))
    if (unknown === undefined) continue
    const message = `No passage has the ${String(field)} ${formatValue(unknown)}. Give one of ${known?.join(", ")}.`
    return yield* new RagError({ stage: "retrieve", reason: "Malformed", message })
  }
})

const malformed = (cause: Schema.SchemaError): RagError => {
  const fault = cause.message
    .split("\n", 3)
    .map((line) => line.trim())
    .join(" ")
    .slice(0, 300)
  const message = `Not a valid filter: ${fault}. Fields are document, path, title, format, kind, page, and ["metadata", key, …].`
  return new RagError({ stage: "retrieve", reason: "Malformed", message, cause })
}
