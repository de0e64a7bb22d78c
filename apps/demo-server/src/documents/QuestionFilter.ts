/** The short form of a filter as the condition that it stands for. */
import type { Filter, FilterValue } from "@sluice/rag"
import type { QuestionFilter, ShortFilter } from "../contract/Filter.ts"

/** Of a document, which no path of a file looks like by chance. */
export const IDENTIFIER = /^[0-9a-f]{32}$/

const anyOf = (filters: ReadonlyArray<Filter>): Filter =>
  filters.length === 1 && filters[0] !== undefined ? filters[0] : { _tag: "Or", filters }

const ofDocuments = (named: ReadonlyArray<string>): Filter => {
  const identifiers = named.filter((name) => IDENTIFIER.test(name))
  const folders = named.filter((name) => name.endsWith("/"))
  const paths = named.filter((name) => !IDENTIFIER.test(name) && !name.endsWith("/"))
  return anyOf([
    ...(identifiers.length > 0 ? [{ _tag: "In", field: "document", values: identifiers } as const] : []),
    ...(paths.length > 0 ? [{ _tag: "In", field: "path", values: paths } as const] : []),
    ...folders.map((prefix) => ({ _tag: "Prefix", field: "path", prefix }) as const)
  ])
}

const isList = (value: FilterValue | ReadonlyArray<FilterValue>): value is ReadonlyArray<FilterValue> =>
  Array.isArray(value)

const ofMetadata = (metadata: NonNullable<ShortFilter["metadata"]>): ReadonlyArray<Filter> =>
  Object.entries(metadata).map(([key, value]) => {
    const field = ["metadata", key] as const
    return isList(value) ? { _tag: "In", field, values: value } : { _tag: "Equals", field, value }
  })

/** One condition; undefined where nothing is asked for. */
export const toFilter = (given: QuestionFilter | null | undefined): Filter | undefined => {
  if (given === null || given === undefined) return undefined
  if ("_tag" in given) return given
  const { documents, kinds, metadata, pages, where } = given
  const all: ReadonlyArray<Filter> = [
    ...(documents === undefined ? [] : [ofDocuments(documents)]),
    ...(kinds === undefined ? [] : [{ _tag: "In", field: "kind", values: kinds } as const]),
    ...(pages === undefined ? [] : [{ _tag: "Range", field: "page", ...pages } as const]),
    ...(metadata === undefined ? [] : ofMetadata(metadata)),
    ...(where === undefined ? [] : [where])
  ]
  return all.length === 0 ? undefined : all.length === 1 ? all[0] : { _tag: "And", filters: all }
}
