/** Stage 5: the candidates ordered by a reranker, in one call. */
import { Reranker } from "@sluice/core"
import { Effect, Option } from "effect"
import type { StoredPassage } from "../../document/Document.ts"
import { RagError } from "../../document/RagError.ts"
import { rankedText, titleOf } from "../../document/SearchText.ts"
import { modelError } from "../../embedding/PassageEmbedder.ts"
import type { Hit } from "../../store/PassageIndex.ts"
import { placed, type RankedPassage, type RetrievalState, type RetrievalStage } from "./RetrievalStage.ts"

/**
 * Weight of BM25, scaled so that the best hit has 1, beside a lexical reranker's scores, scaled to 0–1: the reranker sees
 * the candidates alone, BM25 the rarity of words in the whole collection. A higher weight leaves fewer collections below
 * BM25, and Cranfield gains less: +.053 with .1, +.050 with .15, +.037 with 1 (nDCG@10).
 */
const KEYWORDS_WEIGHT = 0.12

/** Different words. From `LONG` to `VERY_LONG` the weight grows to `LONG_WEIGHT`: every passage has some of so many words. */
const LONG = 30
const VERY_LONG = 60
const LONG_WEIGHT = 0.5

const WORD = /\p{Script=Han}{2}|[\p{L}\p{M}\p{N}]+/gu

/** The weight of BM25 for a question. */
export const keywordsWeight = (question: string): number => {
  const words = new Set(question.toLowerCase().match(WORD)).size
  const long = Math.max(0, Math.min((words - LONG) / (VERY_LONG - LONG), 1))
  return KEYWORDS_WEIGHT + long * (LONG_WEIGHT - KEYWORDS_WEIGHT)
}

/** Each hit's keyword score, scaled so that the best has 1; all 0 where keywords found nothing. */
export const priorsOf = (hits: ReadonlyArray<Hit>): ReadonlyArray<number> => {
  const best = Math.max(...hits.map(({ keywordScore = 0 }) => keywordScore))
  return hits.map(({ keywordScore = 0 }) => (best > 0 ? keywordScore / best : 0))
}

/** The candidates' relevance, in their order. A neural reranker's scores stand as they are. */
export const relevanceOf = (
  question: string,
  scores: ReadonlyArray<number>,
  priors: ReadonlyArray<number>,
  kind: typeof Reranker.Service.model.kind
): ReadonlyArray<number> => {
  if (kind === "neural") return scores
  const weight = keywordsWeight(question)
  const least = Math.min(...scores)
  const spread = Math.max(...scores) - least || 1
  return scores.map((score, i) => (score - least) / spread + weight * (priors[i] ?? 0))
}

const documentOf = (passage: StoredPassage) => ({
  title: titleOf(passage.document.title, passage.headings),
  text: rankedText(passage)
})

const rerankCandidates = Effect.fn("Rerank.candidates")(function* (
  { model, rerank }: typeof Reranker.Service,
  { candidates, question }: RetrievalState
): Effect.fn.Return<ReadonlyArray<RankedPassage>, RagError> {
  if (candidates.length === 0) return []
  const hits = candidates.map(({ hit }) => hit)
  const priors = priorsOf(hits)
  const documents = hits.map(({ passage }) => documentOf(passage))
  const { results } = yield* rerank(question, documents, { priors }).pipe(
    Effect.mapError((error) => modelError("retrieve", error))
  )
  const scoreAt = new Map(results.map(({ index, score }) => [index, score]))
  const isComplete =
    results.length === candidates.length &&
    candidates.every((_, i) => Number.isFinite(scoreAt.get(i))) &&
    results.every(({ score }, i) => i === 0 || score <= results[i - 1]!.score)
  if (!isComplete) {
    return yield* new RagError({
      stage: "retrieve",
      reason: "Model",
      message: `The rerank model ${model.id} did not return one finite score for each of ${candidates.length} passages, best first. Check that the configured model is the one that answers.`
    })
  }
  const scores = candidates.map((_, i) => scoreAt.get(i)!)
  const relevance = relevanceOf(question, scores, priors, model.kind)
  return results
    .map(({ index }) => ({
      ...candidates[index]!,
      rerankScore: scores[index]!,
      relevance: relevance[index]!
    }))
    .toSorted((a, b) => b.relevance - a.relevance)
    .map((candidate, i) => ({ ...candidate, rerankRank: i + 1 }))
})

/** Reranks the candidates. If the reranker is late, the fused order stands. */
export const rerankStage: RetrievalStage = {
  name: "rerank",
  run: Effect.fnUntraced(function* (state) {
    const answer = yield* state.deadline.limit(rerankCandidates(yield* Reranker, state), { start: false })
    return Option.isSome(answer)
      ? { candidates: answer.value }
      : { failed: `The reranker had not answered ${state.deadline.text}: the fused order stands.` }
  }),
  explain: ({ candidates }, { passage }) => {
    const found = candidates.find(({ hit }) => hit.passage.id === passage.id)
    return found === undefined ? {} : { places: placed("rerank", found.rerankRank, found.rerankScore) }
  }
}
