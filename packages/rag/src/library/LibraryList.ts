/** The methods of a library that list documents, and remove those that match. */
import { Effect } from "effect"
import { checkFilter, isSameForDocument } from "../document/CheckFilter.ts"
import type { DocumentInfo } from "../document/Document.ts"
import { type Filter, matches } from "../document/Filter.ts"
import { RagError } from "../document/RagError.ts"
import { checkOptions } from "../retrieval/RetrievePlan.ts"
import type { LibraryParts } from "./LibraryIngest.ts"
import { LIST_OPTIONS } from "./LibraryOptions.ts"
import type { LibraryService, ListOptions } from "./LibraryService.ts"

/** Documents of a page of `list`. */
const PAGE = 100

const filterDocuments = (filter: Filter, documents: ReadonlyArray<DocumentInfo>) =>
  documents.filter((document) => matches(filter, { passage: { document }, metadata: document.metadata }))

export const listMethods = ({
  collection,
  formats,
  latestCollection,
  writes
}: LibraryParts): Pick<LibraryService, "documents" | "list" | "removeWhere"> => {
  const sorted = Effect.gen(function* () {
    const documents = yield* (yield* collection).documents
    return documents.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  })

  const matching = Effect.fnUntraced(function* (filter: Filter) {
    const checked = yield* checkFilter(filter, formats)
    if (isSameForDocument(checked)) return filterDocuments(checked, yield* sorted)
    const message = "This filter has a condition on pages or kinds, which are of passages. Filter documents."
    return yield* new RagError({ stage: "store", reason: "Malformed", message })
  })

  return {
    documents: Effect.withSpan(sorted, "Library.documents"),
    list: Effect.fn("Library.list")(function* (options) {
      const checked: ListOptions = yield* checkOptions("store", LIST_OPTIONS, options)
      const { after, filter, limit = PAGE } = checked
      const all = filter === undefined ? yield* sorted : yield* matching(filter)
      const left = after === undefined ? all : all.filter(({ path }) => path > after)
      const documents = left.slice(0, limit)
      const last = documents.at(-1)
      return { documents, ...(last !== undefined && left.length > limit && { next: last.path }) }
    }),
    removeWhere: Effect.fn("Library.removeWhere")(function* (filter) {
      const documents = yield* matching(filter)
      yield* (yield* latestCollection).remove(documents.map(({ id }) => id))
      return documents
    }, writes.withPermit)
  }
}
