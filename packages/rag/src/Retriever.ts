/** From a question to the passages that most likely answer it, and how they were found. */
import { Embedder, Reranker } from "@sluice/core"
import { Duration, Effect } from "effect"
import type { StoredPassage } from "./Document.ts"
import { checkVector, modelError } from "./PassageEmbedder.ts"
import type { Collection, Hit } from "./PassageIndex.ts"
import { RagError } from "./RagError.ts"
import { titleOf } from "./SearchText.ts"
import type { StageTime, Trace, TracedPassage } from "./Trace.ts"

/** Passages that are recalled by embeddings before the reranker orders them. */
export const RECALL = 20

/** Passages that are kept after reranking and read for the answer. */
export const KEEP = 3

/** Numbers that a caller may change. */
export interface RetrieveOptions {
  /** Passages recalled, at least 1. Default `RECALL`. */
  readonly recall?: number
  /** Passages kept of them, at least 1. Default `KEEP`. */
  readonly keep?: number
}

/** The passages kept, best first, and the trace of all that were recalled. */
export interface Retrieval {
  readonly kept: ReadonlyArray<StoredPassage>
  readonly trace: Trace
}

/** Finds passages for questions. `onStage` hears of each stage as it ends. */
export interface Retriever {
  readonly retrieve: (
    question: string,
    options?: RetrieveOptions,
    onStage?: (stage: StageTime) => Effect.Effect<void>
  ) => Effect.Effect<Retrieval, RagError>
}

/** Runs a stage and tells how long it took. */
export const timedStage = <A, E, R>(
  stage: StageTime["stage"],
  effect: Effect.Effect<A, E, R>
): Effect.Effect<readonly [StageTime, A], E, R> =>
  Effect.map(Effect.timed(effect), ([duration, result]) => [
    { stage, milliseconds: Duration.toMillis(duration) },
    result
  ])

/**
 * Embeds the question, recalls the nearest passages, reranks them in one call, keeps the best.
 *
 * **Details.** Fewer passages than asked for come from a small collection. A question without any word that the model
 * knows recalls nothing.
 */
export const makeRetriever = Effect.fn("Retriever.make")(function* (
  collection: Effect.Effect<Collection, RagError>,
  dimension: number,
  defaults: RetrieveOptions = {}
) {
  const embedder = yield* Embedder
  const reranker = yield* Reranker

  const embedQuestion = Effect.fn("Retriever.embed")(function* (question: string) {
    const { vectors } = yield* embedder
      .embed([question], "query")
      .pipe(Effect.mapError((error) => modelError("retrieve", error)))
    const checked = checkVector(vectors[0], dimension, embedder.model.id, "retrieve")
    return checked._tag === "Failed" ? yield* checked.error : checked.vector
  })

  const rerank = Effect.fn("Retriever.rerank")(function* (question: string, hits: ReadonlyArray<Hit>) {
    if (hits.length === 0) return []
    const candidates = hits.map(({ passage }) => ({
      title: titleOf(passage.document.title, passage.headings),
      text: passage.text
    }))
    const { results } = yield* reranker
      .rerank(question, candidates)
      .pipe(Effect.mapError((error) => modelError("retrieve", error)))
    const places = new Map(results.map(({ index, score }, i) => [index, { score, rank: i + 1 }]))
    const right =
      results.length === hits.length &&
      hits.every((_, i) => Number.isFinite(places.get(i)?.score)) &&
      results.every(({ score }, i) => i === 0 || score <= results[i - 1]!.score)
    if (!right) {
      return yield* new RagError({
        stage: "retrieve",
        reason: "Model",
        message: `The rerank model ${reranker.model.id} did not give each of ${hits.length} passages one finite score, best first. Check that the configured model is the one that answers.`
      })
    }
    return hits.map((_, i) => places.get(i)!)
  })

  const retrieve: Retriever["retrieve"] = Effect.fn("Retriever.retrieve")(function* (
    question,
    options = {},
    onStage = () => Effect.void
  ) {
    if (question.trim() === "") {
      return yield* new RagError({
        stage: "retrieve",
        reason: "Empty",
        message: "The question is empty. Ask in a sentence or in a few words."
      })
    }
    const recall = atLeastOne(options.recall ?? defaults.recall ?? RECALL, reranker.model.maxDocuments)
    const keep = atLeastOne(options.keep ?? defaults.keep ?? KEEP, recall)
    const from = yield* collection

    const [embedTime, vector] = yield* timedStage("embed", embedQuestion(question))
    yield* onStage(embedTime)
    const [recallTime, hits] = yield* timedStage(
      "recall",
      vector === undefined ? Effect.succeed([]) : from.search({ vector, limit: recall })
    )
    yield* onStage(recallTime)
    const [rerankTime, places] = yield* timedStage("rerank", rerank(question, hits))
    yield* onStage(rerankTime)

    const passages = hits.map(({ passage, similarity }, i): TracedPassage => {
      const { rank, score } = places[i]!
      return {
        passage,
        similarity: similarity ?? 0,
        recallRank: i + 1,
        rerankScore: score,
        rerankRank: rank,
        kept: rank <= keep
      }
    })
    const kept = passages
      .filter((traced) => traced.kept)
      .toSorted((a, b) => a.rerankRank - b.rerankRank)
      .map(({ passage }) => passage)
    const trace: Trace = {
      question,
      collection: from.name,
      embeddingModel: embedder.model.id,
      rerankModel: reranker.model.id,
      passages,
      stages: [embedTime, recallTime, rerankTime]
    }
    return { kept, trace }
  })

  return { retrieve } satisfies Retriever
})

const atLeastOne = (wanted: number, most: number): number =>
  Math.max(1, Math.min(Math.trunc(wanted) || 1, most))
