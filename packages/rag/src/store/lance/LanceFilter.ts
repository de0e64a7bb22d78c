/** A filter as LanceDB evaluates it. Nothing of it reaches the SQL but literals that are quoted here. */
import { Effect, Schema } from "effect"
import type { DocumentInfo, Format, StoredPassage } from "../../document/Document.ts"
import { Filter, type FilterField, type FilterValue, matches } from "../../document/Filter.ts"
import { shown } from "../../document/Given.ts"
import { RagError } from "../../document/RagError.ts"
import { sqlIn, sqlString } from "./Lance.ts"

/** Conditions within each other, and conditions and values in all. */
const DEPTH = 32
const SIZE = 10_000

/** A filter ready to be used. */
export interface LanceFilter {
  /** What LanceDB looks at before it searches. */
  readonly where: string
  /** Whether a passage that was found may be shown: documents may have come or changed in the meantime. */
  readonly holds: (passage: StoredPassage) => boolean
}

type Comparison = Exclude<Filter, { readonly _tag: "And" | "Or" | "Not" }>
type Junction = Extract<Filter, { readonly _tag: "And" | "Or" }>
type Column = Extract<FilterField, string>

/**
 * Fails with `Malformed` for what is no filter, such as a column that is not known, and for one that is too large.
 *
 * **Details.** Columns are compared by LanceDB. What programs attached, and the order of texts (code units here, bytes
 * there), is answered by the rows of documents, which are read only then: the condition becomes one on documents.
 */
export const lanceFilter = Effect.fn("LanceFilter.make")(function* (
  asked: Filter,
  documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
) {
  yield* checkSize(asked)
  const filter = yield* Schema.decodeUnknownEffect(Filter.schema)(asked).pipe(Effect.mapError(malformed))
  yield* checkValues(filter)
  if (!asksDocuments(filter)) {
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

/** A comparison that LanceDB does not make as we do. */
const isOfDocuments = (filter: Comparison): boolean =>
  typeof filter.field !== "string" || (filter._tag === "Range" && isText(filter.field))

const isText = (field: Column): boolean => field !== "page" && field !== "kind"

const asksDocuments = (filter: Filter): boolean =>
  isJunction(filter)
    ? filter.filters.some(asksDocuments)
    : filter._tag === "Not"
      ? asksDocuments(filter.filter)
      : isOfDocuments(filter)

/** Whether all that it looks at is the same for all passages of a document. */
const isSameForDocument = (filter: Filter): boolean =>
  isJunction(filter)
    ? filter.filters.every(isSameForDocument)
    : filter._tag === "Not"
      ? isSameForDocument(filter.filter)
      : typeof filter.field !== "string" || isText(filter.field)

/**
 * True or false for each row, never null. `Not` is carried down to the comparisons: LanceDB takes twice the time for
 * each one that stands around another.
 */
const sqlOf = (filter: Filter, not: boolean, documents: ReadonlyArray<DocumentInfo>): string => {
  if (filter._tag === "Not") return sqlOf(filter.filter, !not, documents)
  if (asksDocuments(filter) && isSameForDocument(filter)) return documentsSql(filter, not, documents)
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

/** A long chain would be as deep as it is long, and LanceDB descends by recursion. */
const balanced = (parts: ReadonlyArray<string>, operator: string, none: string): string => {
  if (parts.length <= 1) return parts[0] ?? none
  const half = parts.length >> 1
  return `(${balanced(parts.slice(0, half), operator, none)} ${operator} ${balanced(parts.slice(half), operator, none)})`
}

const constant = (value: boolean): string => (value ? "true" : "false")

/** By identifier, whichever list is shorter. */
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

const comparisonSql = (filter: Comparison, not: boolean): string => {
  const column = filter.field as Column
  const name = `\`${column}\``
  const text = column !== "page"
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
  // Only the page may be missing.
  const orNull = !text && values.includes(null)
  const list = literals.length === 0 ? undefined : `${name} ${not ? "NOT IN" : "IN"} (${literals.join(", ")})`
  if (text) return list ?? constant(not)
  if (not) {
    const there = orNull ? `${name} IS NOT NULL` : undefined
    if (list === undefined) return there ?? constant(true)
    return there === undefined ? `(${name} IS NULL OR ${list})` : `(${there} AND ${list})`
  }
  if (list === undefined) return orNull ? `${name} IS NULL` : constant(false)
  return orNull ? `(${name} IS NULL OR ${list})` : `(${name} IS NOT NULL AND ${list})`
}

/** A value that the column may have. */
const literal = (value: FilterValue, text: boolean): ReadonlyArray<string> => {
  if (typeof value === "string") return text ? [sqlString(value)] : []
  return !text && typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= MOST
    ? [String(value)]
    : []
}

/** The largest number of the column. */
const MOST = 2 ** 31 - 1

/** A range of pages; `kind` has three values and is compared as text, where bytes and code units are alike. */
const rangeSql = (
  name: string,
  { from, field, to }: Extract<Filter, { readonly _tag: "Range" }>,
  not: boolean
): string => {
  const page = field === "page"
  const wanted = page ? "number" : "string"
  const ends = [from, to].filter((end) => end !== undefined)
  if (ends.some((end) => typeof end !== wanted)) return constant(not)
  const first = from === undefined ? [] : [endOf(from, Math.ceil)]
  const last = to === undefined ? [] : [endOf(to, Math.floor)]
  const bounds = not
    ? [...first.map((end) => `${name} < ${end}`), ...last.map((end) => `${name} > ${end}`)]
    : [...first.map((end) => `${name} >= ${end}`), ...last.map((end) => `${name} <= ${end}`)]
  const missing = page ? [`${name} IS ${not ? "" : "NOT "}NULL`] : []
  return `(${[...missing, ...bounds].join(not ? " OR " : " AND ") || constant(!not)})`
}

const endOf = (value: string | number, round: (value: number) => number): string =>
  typeof value === "string" ? sqlString(value) : String(Math.max(-MOST, Math.min(MOST, round(value))))

/** Before anything descends into it. */
const checkSize = (filter: unknown): Effect.Effect<void, RagError> => {
  let size = 0
  let level: ReadonlyArray<unknown> = [filter]
  for (let depth = 0; level.length > 0; depth++) {
    size += level.length
    if (depth > 2 * DEPTH || size > SIZE) {
      return Effect.fail(
        new RagError({
          stage: "retrieve",
          reason: "TooLarge",
          message: `The filter is more than ${DEPTH} levels deep, or has more than ${SIZE} parts. Attach to the documents what they have in common, and filter by that.`
        })
      )
    }
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : []
    )
  }
  return Effect.void
}

/** Values of the fields that have few: a question by another one is a slip of the pen. */
const VALUES: { readonly [field: string]: ReadonlyArray<FilterValue> } = {
  format: ["markdown", "html", "text", "pdf", "docx", "image"] satisfies ReadonlyArray<Format>,
  kind: ["passage", "figure", "table"]
}

const checkValues = (filter: Filter): Effect.Effect<void, RagError> => {
  if (isJunction(filter)) return Effect.forEach(filter.filters, checkValues, { discard: true })
  if (filter._tag === "Not") return checkValues(filter.filter)
  const known = typeof filter.field === "string" ? VALUES[filter.field] : undefined
  const asked = filter._tag === "Equals" ? [filter.value] : filter._tag === "In" ? filter.values : []
  const odd = known && asked.find((value) => !known.includes(value))
  return odd === undefined
    ? Effect.void
    : Effect.fail(
        new RagError({
          stage: "retrieve",
          reason: "Malformed",
          message: `No passage has the ${String(filter.field)} ${shown(odd)}: it is one of ${known?.join(", ")}.`
        })
      )
}

const malformed = (cause: Schema.SchemaError): RagError =>
  new RagError({
    stage: "retrieve",
    reason: "Malformed",
    message: `This is no filter: ${cause.message
      .split(/\s*\n\s*/)
      .slice(0, 3)
      .join(" ")
      .slice(0, 300)}. Fields are document, path, title, format, kind, page, and ["metadata", key, …].`,
    cause
  })
