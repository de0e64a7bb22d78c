/** The methods of a library that summarise its documents. */
import { Effect } from "effect"
import { checkFilter } from "../document/CheckFilter.ts"
import { checkOptions } from "../retrieval/RetrievePlan.ts"
import type { SummaryOptions } from "../summary/Summary.ts"
import { makeSummarizer } from "../summary/Summarizer.ts"
import type { LibraryParts } from "./LibraryIngest.ts"
import { SUMMARY_OPTIONS } from "./LibraryOptions.ts"
import type { LibraryService } from "./LibraryService.ts"

export const summaryMethods = Effect.fnUntraced(function* ({ collection, formats }: LibraryParts) {
  const { planSummary, summarise } = yield* makeSummarizer(collection)
  const check = Effect.fnUntraced(function* (given: unknown) {
    const options: SummaryOptions = yield* checkOptions("answer", SUMMARY_OPTIONS, given)
    const { filter } = options
    return filter === undefined ? options : { ...options, filter: yield* checkFilter(filter, formats) }
  })
  return {
    summarise: (options) => Effect.flatMap(check(options), summarise),
    planSummary: (options) => Effect.flatMap(check(options), planSummary)
  } satisfies Pick<LibraryService, "planSummary" | "summarise">
})
