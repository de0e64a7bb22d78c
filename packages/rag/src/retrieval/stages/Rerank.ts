/** Stage 5: the candidates ordered by a reranker, in one call. */
import { Reranker } from "@sluice/core"
import { Effect, Option } from "effect"
import { RagError } from "../../document/RagError.ts"
import { rankedText, titleOf } from "../../document/SearchText.ts"
import { modelError } from "../../embedding/PassageEmbedder.ts"
import type { Hit } from "../../store/PassageIndex.ts"
import { rankEntry, type RankedPassage, type RetrievalState, type RetrievalStage } from "./RetrievalStage.ts"

/** Each hit's keyword score relative to the best one, 0 to 1. All are 0 if keywords found nothing. */
export const keywordPriors = (hits: ReadonlyArray<Hit>): ReadonlyArray<number> => {
  const best = Math.max(...hits.map(({ keywordScore = 0 }) => keywordScore))
  return hits.map(({ keywordScore = 0 }) => (best > 0 ? keywordScore / best : 0))
}

const rerankCandidates = Effect.fn("Rerank.candidates")(function* (
  { model, rerank }: typeof Reranker.Service,
  { candidates, question }: RetrievalState
): Effect.fn.Return<ReadonlyArray<RankedPassage>, RagError> {
  if (candidates.length === 0) return []
  const documents = candidates.map(({ hit: { passage } }) => ({
    title: titleOf(passage.document.title, passage.headings),
    text: rankedText(passage)
  }))
  const priors = keywordPriors(candidates.map(({ hit }) => hit))
  const reranked = rerank(question, documents, { priors })
  const { results } = yield* Effect.mapError(reranked, modelError("retrieve"))
  const ranked = results.flatMap(({ index, relevance, score }, i) => {
    const candidate = candidates[index]
    if (candidate === undefined) return []
    return [{ ...candidate, rerankScore: score, relevance: relevance ?? score, rerankRank: i + 1 }]
  })
  const isComplete =
    results.length === candidates.length &&
    new Set(ranked.map(({ hit }) => hit)).size === candidates.length &&
    ranked.every(
      ({ relevance, rerankScore }, i) =>
        Number.isFinite(rerankScore) && relevance <= (ranked[i - 1]?.relevance ?? Number.POSITIVE_INFINITY)
    )
  if (isComplete) return ranked
  const message = `The rerank model ${model.id} did not return one finite score for each of ${candidates.length} passages, best first. Check which model answers.`
  return yield* new RagError({ stage: "retrieve", reason: "Model", message })
})

/** Reranks the candidates. If the reranker is late, the fused order is used. */
export const rerankStage: RetrievalStage = {
  name: "rerank",
  run: Effect.fnUntraced(function* (state) {
    const ranked = yield* state.deadline.limit(rerankCandidates(yield* Reranker, state), { start: false })
    return Option.isSome(ranked)
      ? { candidates: ranked.value }
      : { failed: `The reranker had not answered ${state.deadline.text}: the fused order is used.` }
  }),
  explain: ({ candidates }, { passage }) => {
    const found = candidates.find(({ hit }) => hit.passage.id === passage.id)
    return found === undefined ? {} : { places: rankEntry("rerank", found.rerankRank, found.rerankScore) }
  }
}
