/** `Reranker` by a cross-encoder in this process. */
import { GatewayError, InvalidRequest, Reranker } from "@sluice/core"
import { Effect, Layer } from "effect"
import type { Scored, TransformersModelOptions } from "./ModelJobs.ts"
import { batchesByLength, makeModelThread, modelName } from "./ModelThread.ts"

export interface TransformersRerankerOptions extends TransformersModelOptions {
  /** The maximum number of documents in one request. Default 200. */
  readonly maxDocuments?: number
}

const MAX_DOCUMENTS = 200

/**
 * Loads the model on first use, in a thread, and releases it with the layer.
 *
 * **Details.** The model reads the query and a document together, a title on the line before its text. Scores are between 0
 * and 1: the logistic function of a single output, or the probability of the second of two. A blank document has 0.
 *
 * ```ts
 * TransformersReranker.layer({ model: "./models/ms-marco-MiniLM-L-6-v2" })
 * ```
 */
export const layer = (options: TransformersRerankerOptions): Layer.Layer<Reranker> =>
  Layer.effect(
    Reranker,
    Effect.gen(function* () {
      const { maxDocuments = MAX_DOCUMENTS, ...source } = options
      const run = yield* makeModelThread(source, "rerank")
      const id = modelName(options)

      const rerank: (typeof Reranker.Service)["rerank"] = Effect.fn("TransformersReranker.rerank")(function* (
        query,
        documents,
        { topN } = {}
      ) {
        if (documents.length > maxDocuments) {
          const message = `${documents.length} documents are too many: give at most ${maxDocuments}.`
          return yield* new GatewayError({
            operation: "rerank",
            model: id,
            reason: new InvalidRequest({ message })
          })
        }
        const texts = documents.map(({ text, title }) => (title === undefined ? text : `${title}\n${text}`))
        const results = texts.map((_, index) => ({ index, score: 0 }))
        let tokens = 0
        for (const batch of batchesByLength(texts)) {
          const answer = yield* run<Scored>("scoresJob", { query, texts: batch.map((i) => texts[i]!) })
          tokens += answer.tokens
          batch.forEach((i, j) => (results[i]!.score = answer.scores[j]!))
        }
        results.sort((a, b) => b.score - a.score || a.index - b.index)
        return { results: topN === undefined ? results : results.slice(0, topN), tokens }
      })
      return Reranker.of({ model: { id, kind: "neural", maxDocuments }, rerank })
    })
  )
