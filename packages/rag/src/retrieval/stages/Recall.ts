/** Stage 2: passages from the index, by vector and by keywords. */
import { Effect, type Schema } from "effect"
import { Filter, matches } from "../../document/Filter.ts"
import type { RagError } from "../../document/RagError.ts"
import { searchWords } from "../../document/SearchText.ts"
import type { Hit } from "../../store/PassageIndex.ts"
import { fuse } from "./Fuse.ts"
import { retrieversOf } from "./Fusion.ts"
import { countOption, stageOption } from "./RetrieveOptions.ts"
import {
  type ExplainedPassage,
  rankEntry,
  type RetrievalState,
  type RetrievalStage,
  type SearchedText,
  type StageExplanation
} from "./RetrievalStage.ts"

/** How many hits of each retriever `why` searches for a passage. */
export const WHY_DEPTH = 1_000

/** The first `limit` hits of each retriever that the fusion uses, for the question and for each other text. */
const searchEach = (
  { collection, options, question, vector, wordings }: RetrievalState,
  limit: number
): Effect.Effect<ReadonlyArray<ReadonlyArray<Hit>>, RagError> => {
  const { keywords } = retrieversOf(options.fusion)
  const search = ({ text, vector }: SearchedText) =>
    vector === undefined && !keywords
      ? Effect.succeed([])
      : collection.search({
          vector,
          words: keywords ? searchWords(text) : undefined,
          limit,
          filter: options.filter,
          vectors: options.diversity > 0
        })
  return Effect.all([{ text: question, vector }, ...wordings].map(search))
}

/** The hits of all searches. */
export const searchIndex = (
  state: RetrievalState,
  limit: number
): Effect.Effect<ReadonlyArray<Hit>, RagError> => Effect.map(searchEach(state, limit), mergeHits)

const best = (pick: (...of: Array<number>) => number, a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : pick(a, b)

/** The hits of several searches: each passage once, with its best ranks and scores. */
const mergeHits = (lists: ReadonlyArray<ReadonlyArray<Hit>>): ReadonlyArray<Hit> => {
  const highest = (hits: ReadonlyArray<Hit>) =>
    Math.max(0, ...hits.map(({ keywordScore = 0 }) => keywordScore))
  const top = highest(lists[0] ?? [])
  const merged = new Map<string, Hit>()
  for (const hits of lists) {
    // BM25 grows with the words of a question.
    const scale = top > 0 ? top / (highest(hits) || top) : 1
    for (const hit of hits) {
      const known = merged.get(hit.passage.id)
      const keywordScore = hit.keywordScore === undefined ? undefined : hit.keywordScore * scale
      merged.set(hit.passage.id, {
        ...hit,
        vectorRank: best(Math.min, known?.vectorRank, hit.vectorRank),
        similarity: best(Math.max, known?.similarity, hit.similarity),
        keywordRank: best(Math.min, known?.keywordRank, hit.keywordRank),
        keywordScore: best(Math.max, known?.keywordScore, keywordScore)
      })
    }
  }
  return [...merged.values()]
}

const explain = (
  { fused, options }: RetrievalState,
  { hit: deep, info, passage }: ExplainedPassage
): StageExplanation => {
  const hit = fused.find((one) => one.hit.passage.id === passage.id)?.hit
  const found = hit ?? deep
  const places = {
    ...rankEntry("vector", hit?.vectorRank ?? deep?.vectorRank, found?.similarity),
    ...rankEntry("keywords", hit?.keywordRank ?? deep?.keywordRank, found?.keywordScore)
  }
  const { filter } = options
  if (filter !== undefined && !matches(filter, { passage, metadata: info.metadata }))
    return { places, outcome: "filtered", sentence: "The filter excludes it." }
  if (found === undefined)
    return { places, outcome: "not found", sentence: `No retriever has it among the first ${WHY_DEPTH}.` }
  if (hit === undefined)
    return {
      places,
      outcome: "not recalled",
      sentence: `Not recalled: only the first ${options.perRetrieverLimit} of each retriever were fused.`
    }
  return { places }
}

/** Searches the index. A question without any word, and no vector, finds nothing. */
export const recallStage: RetrievalStage = {
  name: "recall",
  options: {
    recall: countOption,
    candidates: countOption,
    // The store checks it, and reports what is wrong.
    filter: stageOption(Filter.schema as unknown as Schema.Codec<Filter>, "a filter", () => true)
  },
  run: (state) =>
    Effect.map(searchEach(state, state.options.perRetrieverLimit), (lists) => {
      const { fusion, previous } = state.options
      const after = previous === undefined ? [] : fuse(fusion, lists[1] ?? [])
      return { hits: mergeHits(lists), afterPrevious: after.map(({ hit }) => hit.passage.id) }
    }),
  explain
}
