/** Which passages a summary reads: those that match a filter, within a budget of tokens. */
import { Effect } from "effect"
import type { DocumentInfo, StoredPassage } from "../document/Document.ts"
import { type Filter, matches } from "../document/Filter.ts"
import { RagError } from "../document/RagError.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { selectTexts } from "./SummaryThread.ts"

/** Documents of one summary. More are not read but searched. */
const MAX_SUMMARISED = 100

/** Passages of these documents: 2,000 make a book of 500 pages. All of them are in memory. */
const MAX_PASSAGES = 20_000

export interface SelectedPassages {
  /** In the order of their documents. */
  readonly read: ReadonlyArray<StoredPassage>
  /** The estimated tokens of each. */
  readonly tokens: ReadonlyArray<number>
  readonly matching: number
  readonly documents: number
}

/** Whether a passage of the document may match: conditions on a passage are left open. */
const mayMatch = (filter: Filter, info: DocumentInfo, negated = false): boolean => {
  switch (filter._tag) {
    case "Not":
      return mayMatch(filter.filter, info, !negated)
    case "And":
    case "Or":
      return (filter._tag === "And") === negated
        ? filter.filters.some((each) => mayMatch(each, info, negated))
        : filter.filters.every((each) => mayMatch(each, info, negated))
    default:
      return (
        filter.field === "kind" ||
        filter.field === "page" ||
        matches(filter, { passage: { document: info }, metadata: info.metadata }) !== negated
      )
  }
}

/** The passages that match, in the order of their documents, and of these as many as the budget allows. */
export const selectSummaryPassages = Effect.fn("SummaryPassages.select")(function* (
  collection: Collection,
  filter: Filter | undefined,
  budget: number
): Effect.fn.Return<SelectedPassages, RagError> {
  const documents = (yield* collection.documents)
    .filter((info) => filter === undefined || mayMatch(filter, info))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const count = documents.reduce((sum, info) => sum + info.passages, 0)
  if (documents.length > MAX_SUMMARISED || count > MAX_PASSAGES) {
    const message = `${documents.length} documents match, with ${count} passages. A summary is of ${MAX_SUMMARISED} documents and ${MAX_PASSAGES} passages at most. Use a filter, or ask a question`
    return yield* new RagError({ stage: "answer", reason: "TooLarge", message })
  }
  const passages = (yield* Effect.forEach(documents, (info) =>
    Effect.map(collection.passages(info.id), (all) =>
      all.filter((passage) => filter === undefined || matches(filter, { passage, metadata: info.metadata }))
    )
  )).flat()
  if (passages.length === 0) {
    const message = "No passage matches. Add documents, or change the filter"
    return yield* new RagError({ stage: "answer", reason: "NotFound", message })
  }
  const selected = yield* selectTexts({ texts: passages.map(({ text }) => text), budget })
  const ids = new Set(passages.map(({ document }) => document.id))
  return {
    read: selected.map(({ index }) => passages[index]!),
    tokens: selected.map(({ tokens }) => tokens),
    matching: passages.length,
    documents: ids.size
  }
})
