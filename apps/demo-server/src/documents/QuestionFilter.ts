/** The filter of a question: its typed form, and checks that reject a filter which can match nothing. */
import { Failure } from "@sluice/core/contract"
import type { DocumentInfo, FieldFilter, Filter, FilterField, FilterValue } from "@sluice/rag"
import { KINDS, type QuestionFilter, type ShortFilter } from "../contract/Filter.ts"

/** A document's identifier. */
const IDENTIFIER = /^[0-9a-f]{32}$/

const combine = (_tag: "And" | "Or", filters: ReadonlyArray<Filter>): Filter =>
  filters.length === 1 && filters[0] !== undefined ? filters[0] : { _tag, filters }

const documentFilter = (names: ReadonlyArray<string>): Filter => {
  const identifiers = names.filter((name) => IDENTIFIER.test(name))
  const folders = names.filter((name) => name.endsWith("/"))
  const paths = names.filter((name) => !IDENTIFIER.test(name) && !name.endsWith("/"))
  return combine("Or", [
    ...(identifiers.length > 0 ? [{ _tag: "In", field: "document", values: identifiers } as const] : []),
    ...(paths.length > 0 ? [{ _tag: "In", field: "path", values: paths } as const] : []),
    ...folders.map((prefix) => ({ _tag: "Prefix", field: "path", prefix }) as const)
  ])
}

const isList = (value: FilterValue | ReadonlyArray<FilterValue>): value is ReadonlyArray<FilterValue> =>
  Array.isArray(value)

const metadataFilters = (metadata: NonNullable<ShortFilter["metadata"]>): ReadonlyArray<Filter> =>
  Object.entries(metadata).map(([key, value]) => {
    const field = ["metadata", key] as const
    return isList(value) ? { _tag: "In", field, values: value } : { _tag: "Equals", field, value }
  })

/** Converts a filter to its typed form; undefined without conditions. */
export const toFilter = (given: QuestionFilter | null | undefined): Filter | undefined => {
  if (!given) return undefined
  if ("_tag" in given) return given
  const { documents, kinds, metadata, pages, where } = given
  const all: ReadonlyArray<Filter> = [
    ...(documents === undefined ? [] : [documentFilter(documents)]),
    ...(kinds === undefined ? [] : [{ _tag: "In", field: "kind", values: kinds } as const]),
    ...(pages === undefined ? [] : [{ _tag: "Range", field: "page", ...pages } as const]),
    ...(metadata === undefined ? [] : metadataFilters(metadata)),
    ...(where === undefined ? [] : [where])
  ]
  return all.length === 0 ? undefined : combine("And", all)
}

const reject = (param: string, message: string, status: 400 | 404 = 400): Failure =>
  new Failure({
    status,
    message: `\`${param}\` ${message}`,
    param,
    ...(status === 404 && { code: "not_found" })
  })

const rejectEmptyList = (param: string): Failure =>
  reject(param, "is an empty list, which matches nothing. Add values or omit it")

const rejectInvertedRange = (param: string, from: string | number, to: string | number): Failure =>
  reject(param, `runs backwards, from ${JSON.stringify(from)} to ${JSON.stringify(to)}. Swap the two`)

const firstFailure = <A>(all: ReadonlyArray<A>, check: (one: A) => Failure | undefined) =>
  all
    .values()
    .map(check)
    .find((failure) => failure !== undefined)

/** Identifiers of the formats that the server parses. */
type Formats = ReadonlyArray<string>

/** Which values a field can have, and their description. Metadata can have any. */
const valuesOf = (field: FilterField, formats: Formats) => {
  const oneOf = (values: ReadonlyArray<FilterValue>) => ({
    fits: (value: FilterValue) => values.includes(value),
    expected: `one of ${values.join(", ")}`
  })
  if (field === "kind") return oneOf(KINDS)
  if (field === "format") return oneOf(formats)
  const fits = (value: FilterValue): boolean =>
    field === "page"
      ? value === null || (Number.isInteger(value) && Number(value) >= 1)
      : typeof field !== "string" || typeof value === "string"
  return { fits, expected: field === "page" ? "numbers from 1" : "strings" }
}

const invalidRange = (
  { field, from, to }: Extract<FieldFilter, { readonly _tag: "Range" }>,
  param: string,
  wrongType: (value: FilterValue) => Failure
): Failure | undefined => {
  const expected = field === "page" ? "number" : typeof field === "string" ? "string" : undefined
  const ends = [from, to].filter((end) => end !== undefined)
  if (new Set(ends.map((end) => typeof end)).size > 1)
    return reject(param, "mixes a number and a string: use the same type for both ends")
  const wrong = ends.find((end) => expected !== undefined && typeof end !== expected)
  if (wrong !== undefined) return wrongType(wrong)
  return from !== undefined && to !== undefined && from > to
    ? rejectInvertedRange(param, from, to)
    : undefined
}

const invalidComparison = (
  test: FieldFilter,
  param: string,
  formats: Formats,
  negated: boolean
): Failure | undefined => {
  const { expected, fits } = valuesOf(test.field, formats)
  const name = typeof test.field === "string" ? test.field : test.field.join(".")
  const wrongType = (value: FilterValue) =>
    reject(param, `compares ${name} with ${JSON.stringify(value)}. Its values are ${expected}`)
  const invalidValue = (value: FilterValue) => (fits(value) ? undefined : wrongType(value))
  switch (test._tag) {
    case "Equals":
      return invalidValue(test.value)
    case "In":
      return test.values.length === 0 && !negated
        ? rejectEmptyList(param)
        : firstFailure(test.values, invalidValue)
    case "Prefix":
      return test.field === "page" ? reject(param, "uses `Prefix` on pages. Use `Range`") : undefined
    case "Range":
      return invalidRange(test, param, wrongType)
  }
}

/** Inside a `Not`, an empty list matches everything and is accepted. */
const invalidTyped = (
  filter: Filter,
  param: string,
  formats: Formats,
  negated = false
): Failure | undefined => {
  switch (filter._tag) {
    case "Not":
      return invalidTyped(filter.filter, `${param}.filter`, formats, true)
    case "And":
    case "Or":
      return filter._tag === "Or" && filter.filters.length === 0 && !negated
        ? rejectEmptyList(`${param}.filters`)
        : firstFailure([...filter.filters.entries()], ([at, each]) =>
            invalidTyped(each, `${param}.filters.${at}`, formats, negated)
          )
    default:
      return invalidComparison(filter, param, formats, negated)
  }
}

const invalidShort = (
  { documents, kinds, metadata, pages, where }: ShortFilter,
  formats: Formats
): Failure | undefined => {
  if (documents?.length === 0) return rejectEmptyList("filter.documents")
  if (kinds?.length === 0) return rejectEmptyList("filter.kinds")
  const { from, to } = pages ?? {}
  if (pages !== undefined && from === undefined && to === undefined)
    return reject("filter.pages", "has neither `from` nor `to`. Add one or omit it")
  if (from !== undefined && to !== undefined && from > to)
    return rejectInvertedRange("filter.pages", from, to)
  const empty = Object.entries(metadata ?? {}).find(([, value]) => Array.isArray(value) && value.length === 0)
  if (empty !== undefined) return rejectEmptyList(`filter.metadata.${empty[0]}`)
  return where === undefined ? undefined : invalidTyped(where, "filter.where", formats)
}

/** The error for a filter that matches nothing in any collection. */
export const invalidFilter = (
  given: QuestionFilter | null | undefined,
  formats: Formats
): Failure | undefined => {
  if (!given) return undefined
  return "_tag" in given ? invalidTyped(given, "filter", formats) : invalidShort(given, formats)
}

/** Whether a filter has names that `unknownNames` must check. */
export const namesDocuments = (given: QuestionFilter | null | undefined): given is ShortFilter =>
  !!given && !("_tag" in given) && (given.documents !== undefined || given.metadata !== undefined)

/** `a/b/c.md`: `a/` and `a/b/`. */
const foldersOf = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))

/** Rejects names of documents and metadata that the collection lacks. */
export const unknownNames = (
  { documents, metadata }: ShortFilter,
  collection: string,
  all: ReadonlyArray<DocumentInfo>
): Failure | undefined => {
  const names = new Set(all.flatMap(({ id, path }) => [id, path, ...foldersOf(path)]))
  const missing = documents?.find((name) => !names.has(name))
  if (missing !== undefined)
    return reject(
      "filter.documents",
      `names ${JSON.stringify(missing.slice(0, 200))}, which is not in collection "${collection}". GET /documents lists paths and identifiers`,
      404
    )
  const keys = new Set(all.flatMap(({ metadata }) => Object.keys(metadata ?? {})))
  // Null matches the documents without the key.
  const unknown = Object.entries(metadata ?? {}).find(
    ([key, value]) => !keys.has(key) && !(Array.isArray(value) ? value.includes(null) : value === null)
  )
  if (unknown === undefined) return undefined
  const known = [...keys].slice(0, 20).map((key) => JSON.stringify(key.slice(0, 80)))
  return reject(
    "filter.metadata",
    `names ${JSON.stringify(unknown[0].slice(0, 80))}, which no document of collection "${collection}" has. ` +
      (known.length === 0 ? "No document has metadata" : `Known keys: ${known.join(", ")}`)
  )
}
