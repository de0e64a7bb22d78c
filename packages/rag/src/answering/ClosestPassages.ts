/** The passages that are shown instead of an answer. */
import { sharedWords } from "@sluice/core/text"
import { Effect, Struct } from "effect"
import type { ClosestPassage } from "./Answer.ts"
import { letterScores } from "./LetterGroups.ts"
import { bestPassages } from "./ReadingContext.ts"
import type { RagError } from "../document/RagError.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"

/**
 * Passages that are shown, and those that they are chosen from. Of 196 questions about documents of strangers, .72 are answered or
 * have the answer among ten of a hundred, .71 among eight of a hundred, and .68 among ten of twenty.
 */
const SHOWN = 10
const CHOSEN_FROM = 100

/** The options of a retrieval of passages to choose from. It asks no chat model, and is free with lexical models. */
export const CLOSEST = { recall: CHOSEN_FROM, candidates: CHOSEN_FROM, hyde: false, queries: 0 } as const

/** The constant of reciprocal rank fusion, of the order of the retrieval and that by letters. */
const RANK_CONSTANT = 10

/** The indexes of texts by their place, the best first, and by the letters that they share with the question. */
export const orderByLetters = (question: string, texts: ReadonlyArray<string>): ReadonlyArray<number> => {
  const scores = letterScores(question, texts)
  const indexes = [...texts.keys()]
  const places = new Map(indexes.toSorted((a, b) => scores[b]! - scores[a]!).map((at, place) => [at, place]))
  const fused = (at: number) => 1 / (RANK_CONSTANT + at) + 1 / (RANK_CONSTANT + places.get(at)!)
  return indexes.toSorted((a, b) => fused(b) - fused(a))
}

/** The first texts in an order that share words with the question. */
export const closestTexts = (question: string, texts: ReadonlyArray<string>, order: ReadonlyArray<number>) =>
  order
    .values()
    .map((at) => ({ at, matches: sharedWords(question, texts[at]!) }))
    .filter(({ matches }) => matches.length > 0)
    .take(SHOWN)
    .toArray()

/**
 * The passages of a retrieval, the best first. `deeper` is one with the options `CLOSEST`: its passages are ordered by their
 * letters too. Both were measured with models that compare words.
 */
export const closestPassages = Effect.fn("ClosestPassages.find")(function* (
  question: string,
  retrieval: Retrieval,
  deeper?: Effect.Effect<Retrieval, RagError>
) {
  const failed = ({ message }: RagError) =>
    Effect.logWarning(`No further passages were searched for the closest ones: ${message}`)
  const found = yield* (deeper ?? Effect.succeed(retrieval)).pipe(
    Effect.tapError(failed),
    Effect.orElseSucceed(() => retrieval)
  )
  const best = bestPassages(found, CHOSEN_FROM).map((passage) =>
    Struct.omit({ section: [], ...passage }, ["section"])
  )
  const texts = best.map(({ text }) => text)
  const order = deeper === undefined ? [...texts.keys()] : orderByLetters(question, texts)
  return closestTexts(question, texts, order).map(({ at, matches }): ClosestPassage => ({
    passage: best[at]!,
    matches
  }))
})
