/** Checks filters before they are used. */
import { Effect, Schema } from "effect"
import { formatValue } from "./Arguments.ts"
import { type FieldFilter, Filter, type FilterValue } from "./Filter.ts"
import { RagError } from "./RagError.ts"

/** Nested conditions, and conditions and values in total. */
const MAX_DEPTH = 32
const MAX_SIZE = 10_000

/** A range without ends matches all: a misspelt end must not make `removeWhere` remove more. */
const decode = Schema.decodeUnknownEffect(Filter.schema, { onExcessProperty: "error" })

/** Fails with `Malformed`, or with `TooLarge`. `formats` are the identifiers of the registered formats. */
export const checkFilter = Effect.fnUntraced(function* (given: Filter, formats: ReadonlyArray<string>) {
  yield* checkSize(given)
  const filter = yield* Effect.mapError(decode(given), malformed)
  yield* checkValues(filter, { format: formats, kind: ["passage", "figure", "table"] })
  return filter
})

type Junction = Extract<Filter, { readonly _tag: "And" | "Or" }>
type Column = Extract<FieldFilter["field"], string>

export const isJunction = (filter: Filter): filter is Junction =>
  filter._tag === "And" || filter._tag === "Or"

export const isDocumentField = (field: Column): boolean => field !== "page" && field !== "kind"

/** True if the filter gives the same result for all passages of a document. */
export const isSameForDocument = (filter: Filter): boolean =>
  fieldFiltersOf(filter).every(({ field }) => typeof field !== "string" || isDocumentField(field))

export const fieldFiltersOf = (filter: Filter): ReadonlyArray<FieldFilter> => {
  if (isJunction(filter)) return filter.filters.flatMap(fieldFiltersOf)
  return filter._tag === "Not" ? fieldFiltersOf(filter.filter) : [filter]
}

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
  for (const comparison of fieldFiltersOf(filter)) {
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
