/** What of a filter can hold of nothing: who asks hears it, instead of an answer that found nothing. */
import { Failure } from "@sluice/core/contract"
import type { DocumentInfo, Filter, FilterField, FilterValue } from "@sluice/rag"
import { FormatSchema } from "../contract/Document.ts"
import { KINDS, type QuestionFilter, type ShortFilter } from "../contract/Filter.ts"
import { IDENTIFIER } from "./QuestionFilter.ts"

type Comparison = Exclude<Filter, { readonly _tag: "And" | "Or" | "Not" }>

const refused = (param: string, message: string, status: 400 | 404 = 400): Failure =>
  new Failure({
    status,
    message: `\`${param}\` ${message}`,
    param,
    retryable: false,
    ...(status === 404 && { code: "not_found" })
  })

const emptyList = (param: string): Failure =>
  refused(param, "is an empty list, which leaves nothing to answer from: name some, or leave it out")

const firstOf = <A>(all: ReadonlyArray<A>, check: (one: A) => Failure | undefined): Failure | undefined => {
  for (const one of all) {
    const failure = check(one)
    if (failure !== undefined) return failure
  }
  return undefined
}

const backwards = (param: string, from: string | number, to: string | number): Failure =>
  refused(
    param,
    `goes from ${JSON.stringify(from)} to ${JSON.stringify(to)}: nothing lies between, swap the two`
  )

/** What a field is compared with, and how to say it; what programs attached may be anything. */
const valuesOf = (
  field: FilterField
): { readonly fits: (value: FilterValue) => boolean; readonly are: string } => {
  switch (field) {
    case "page":
      return {
        fits: (value) => value === null || (Number.isInteger(value) && Number(value) >= 1),
        are: "numbers from 1"
      }
    case "kind":
      return { fits: (value) => KINDS.some((kind) => kind === value), are: `one of ${KINDS.join(", ")}` }
    case "format":
      return {
        fits: (value) => FormatSchema.literals.some((format) => format === value),
        are: `one of ${FormatSchema.literals.join(", ")}`
      }
    case "document":
    case "path":
    case "title":
      return { fits: (value) => typeof value === "string", are: "texts" }
    default:
      return { fits: () => true, are: "anything" }
  }
}

const ofComparison = (test: Comparison, param: string, within: boolean): Failure | undefined => {
  const { are, fits } = valuesOf(test.field)
  const name = typeof test.field === "string" ? test.field : test.field.join(".")
  const unlike = (value: FilterValue) =>
    fits(value)
      ? undefined
      : refused(param, `compares ${name} with ${JSON.stringify(value)}: its values are ${are}`)
  switch (test._tag) {
    case "Equals":
      return unlike(test.value)
    case "In":
      return test.values.length === 0 && !within ? emptyList(param) : firstOf(test.values, unlike)
    case "Prefix":
      return test.field === "page" ? refused(param, "asks a page for its beginning: use `Range`") : undefined
    case "Range": {
      const { from, to } = test
      const wanted = test.field === "page" ? "number" : typeof test.field === "string" ? "string" : undefined
      const ends = [from, to].filter((end) => end !== undefined)
      if (new Set(ends.map((end) => typeof end)).size > 1)
        return refused(param, "goes from a number to a text, or the reverse: both ends are of one kind")
      const odd = ends.find((end) => wanted !== undefined && typeof end !== wanted)
      if (odd !== undefined)
        return refused(param, `compares ${name} with ${JSON.stringify(odd)}: its values are ${are}`)
      return from !== undefined && to !== undefined && from > to ? backwards(param, from, to) : undefined
    }
  }
}

/** `within` a `Not`, an empty list leaves everything. */
const ofTyped = (filter: Filter, param: string, within = false): Failure | undefined => {
  switch (filter._tag) {
    case "Not":
      return ofTyped(filter.filter, `${param}.filter`, true)
    case "And":
    case "Or":
      return filter._tag === "Or" && filter.filters.length === 0 && !within
        ? emptyList(`${param}.filters`)
        : firstOf([...filter.filters.entries()], ([at, each]) =>
            ofTyped(each, `${param}.filters.${at}`, within)
          )
    default:
      return ofComparison(filter, param, within)
  }
}

const ofShort = ({ documents, kinds, metadata, pages, where }: ShortFilter): Failure | undefined => {
  if (documents?.length === 0) return emptyList("filter.documents")
  if (kinds?.length === 0) return emptyList("filter.kinds")
  const { from, to } = pages ?? {}
  if (pages !== undefined && from === undefined && to === undefined)
    return refused("filter.pages", "says neither `from` nor `to`: give one of them, or leave it out")
  if (from !== undefined && to !== undefined && from > to) return backwards("filter.pages", from, to)
  const empty = Object.entries(metadata ?? {}).find(([, value]) => Array.isArray(value) && value.length === 0)
  if (empty !== undefined) return emptyList(`filter.metadata.${empty[0]}`)
  return where === undefined ? undefined : ofTyped(where, "filter.where")
}

/** What can be said without the documents. */
export const nonsenseIn = (given: QuestionFilter | null | undefined): Failure | undefined =>
  given === null || given === undefined
    ? undefined
    : "_tag" in given
      ? ofTyped(given, "filter")
      : ofShort(given)

/** Whether a filter names what only the documents can tell. */
export const namesDocuments = (given: QuestionFilter | null | undefined): given is ShortFilter =>
  given !== null &&
  given !== undefined &&
  !("_tag" in given) &&
  (given.documents !== undefined || given.metadata !== undefined)

/** The first of the sorted `paths` that is not before `text`. */
const firstFrom = (paths: ReadonlyArray<string>, text: string): string | undefined => {
  let [low, high] = [0, paths.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((paths[middle] ?? "") < text) low = middle + 1
    else high = middle
  }
  return paths[low]
}

/** Names of documents and of metadata that the collection, whose documents come by path, does not have. */
export const unknownIn = (
  { documents, metadata }: ShortFilter,
  collection: string,
  there: ReadonlyArray<DocumentInfo>
): Failure | undefined => {
  const paths = there.map(({ path }) => path)
  const exact = new Set([...paths, ...there.map(({ id }) => id)])
  const has = (name: string) =>
    name.endsWith("/") && !IDENTIFIER.test(name)
      ? firstFrom(paths, name)?.startsWith(name) === true
      : exact.has(name)
  const missing = documents?.find((name) => !has(name))
  if (missing !== undefined)
    return refused(
      "filter.documents",
      `names ${JSON.stringify(missing.slice(0, 200))}, which is not in collection "${collection}": GET /documents lists paths and identifiers`,
      404
    )
  const keys = new Set(there.flatMap(({ metadata }) => Object.keys(metadata ?? {})))
  // Who asks for null asks for those that do not have it.
  const odd = Object.entries(metadata ?? {}).find(
    ([key, value]) => !keys.has(key) && !(Array.isArray(value) ? value.includes(null) : value === null)
  )
  if (odd === undefined) return undefined
  const known = [...keys].slice(0, 20).map((key) => JSON.stringify(key.slice(0, 80)))
  return refused(
    "filter.metadata",
    `names ${JSON.stringify(odd[0].slice(0, 80))}, which is attached to no document of collection "${collection}": ` +
      (known.length === 0 ? "nothing is attached to any" : `there are ${known.join(", ")}`)
  )
}
