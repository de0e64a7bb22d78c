/** The passages that are shown instead of an answer. */
import type { Reader } from "@sluice/core"
import { sharedWords } from "@sluice/core/text"
import { Effect, Struct } from "effect"
import type { ClosestPassage } from "./Answer.ts"
import { readerPassage, sourceOf } from "./Evidence.ts"
import { bestPassages } from "./ReadingContext.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"

/**
 * Of 146 questions about documents of strangers, three have the answer for .60, five for .63, eight for .66, twenty for .69.
 * In the order of the retrieval: .57, .60, .64, .69.
 */
const SHOWN = 8
const RATED = 20

/** The constant of reciprocal rank fusion, of the retrieval's order and the reader's. */
const RANK_CONSTANT = 10

/** The indexes of passages by their place in the retrieval and by their ratings, which are absent if the reader has none. */
export const fusedOrder = (count: number, ratings: ReadonlyArray<number>): ReadonlyArray<number> => {
  const indexes = Array.from({ length: count }, (_, i) => i)
  const rated = indexes.toSorted((a, b) => (ratings[b] ?? 0) - (ratings[a] ?? 0) || a - b)
  const score = (i: number) => 1 / (RANK_CONSTANT + i) + 1 / (RANK_CONSTANT + rated.indexOf(i))
  return indexes.toSorted((a, b) => score(b) - score(a) || a - b)
}

export const closestPassages = Effect.fn("ClosestPassages.find")(function* (
  question: string,
  retrieval: Retrieval,
  reader: Reader["Service"]
) {
  const best = bestPassages(retrieval, RATED).map((passage) =>
    Struct.omit({ section: [], ...passage }, ["section"])
  )
  const read = best.map((passage) => readerPassage(sourceOf(passage)))
  const rate = reader.rate?.(question, read) ?? Effect.succeed([])
  // Without ratings, the order of the retrieval is left.
  const ratings = yield* rate.pipe(
    Effect.tapError(({ message }) =>
      Effect.logWarning(`The closest passages could not be rated: ${message}`)
    ),
    Effect.orElseSucceed(() => [])
  )
  return fusedOrder(best.length, ratings)
    .map((at): ClosestPassage => ({ passage: best[at]!, matches: sharedWords(question, best[at]!.text) }))
    .filter(({ matches }) => matches.length > 0)
    .slice(0, SHOWN)
})
