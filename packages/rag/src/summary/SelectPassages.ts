/** Which passages a summary reads: those that match a filter, within a budget of tokens. */
import { Effect } from "effect"
import type { DocumentInfo, StoredPassage } from "../document/Document.ts"
import { type Filter, matches } from "../document/Filter.ts"
import { RagError } from "../document/RagError.ts"
import { estimateTokens } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { centralTexts } from "./CentralTexts.ts"

/** Documents of one summary. More are not read but searched. */
const MAX_SUMMARISED = 100

/** Passages among which those to read are chosen: 5 s. Beyond, they are taken at equal distances. */
const MAX_RANKED = 2_000

export interface SelectedPassages {
  /** In the order of their documents. */
  readonly read: ReadonlyArray<StoredPassage>
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
export const selectPassages = Effect.fn("SelectPassages.select")(function* (
  collection: Collection,
  filter: Filter | undefined,
  budget: number
): Effect.fn.Return<SelectedPassages, RagError> {
  const documents = (yield* collection.documents)
    .filter((info) => filter === undefined || mayMatch(filter, info))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  if (documents.length > MAX_SUMMARISED) {
    const message = `${documents.length} documents match, and a summary is of ${MAX_SUMMARISED} at most. Use a filter, or ask a question`
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
  const read = within(budget, passages)
  const ids = new Set(passages.map(({ document }) => document.id))
  return { read, matching: passages.length, documents: ids.size }
})

/** The most central passages, as far as the budget goes, in their order. */
const within = (budget: number, passages: ReadonlyArray<StoredPassage>): ReadonlyArray<StoredPassage> => {
  const tokens = passages.map(({ text }) => estimateTokens(text).estimated)
  let left = budget
  if (tokens.reduce((sum, count) => sum + count, 0) <= left) return passages
  const step = Math.ceil(passages.length / MAX_RANKED)
  const ranked = passages.filter((_, i) => i % step === 0)
  const best = centralTexts(
    ranked.map(({ text }) => text),
    ranked.length
  ).filter((i) => {
    const fits = tokens[i * step]! <= left
    if (fits) left -= tokens[i * step]!
    return fits
  })
  return best.toSorted((a, b) => a - b).map((i) => ranked[i]!)
}
