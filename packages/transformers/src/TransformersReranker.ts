/** `Reranker` by a cross-encoder in this process. */
import { GatewayError, InvalidRequest, InvalidResponse, Reranker } from "@sluice/core"
import { Effect, Layer } from "effect"
import type { Tensor } from "./Pooling.ts"
import { makeTransformersModel, modelName, type TransformersModelOptions } from "./TransformersModel.ts"

export interface TransformersRerankerOptions extends TransformersModelOptions {
  /** The maximum number of documents in one request. Default 200. */
  readonly maxDocuments?: number
}

/** Pairs in one call of the model. */
const PAIRS_PER_RUN = 16

const MAX_DOCUMENTS = 200

/**
 * Loads the model on first use and releases it with the layer.
 *
 * **Details.** The model reads the query and a document together, a title on the line before its text. Scores are between 0
 * and 1: the logistic function of a single output, or the probability of the second of two.
 *
 * ```ts
 * TransformersReranker.layer({ model: "./models/ms-marco-MiniLM-L-6-v2" })
 * ```
 */
export const layer = (options: TransformersRerankerOptions): Layer.Layer<Reranker> =>
  Layer.effect(
    Reranker,
    Effect.gen(function* () {
      const run = yield* makeTransformersModel(options, "rerank")
      const { maxDocuments = MAX_DOCUMENTS } = options
      const id = modelName(options)
      const failed = (reason: GatewayError["reason"]) =>
        new GatewayError({ operation: "rerank", model: id, reason })

      const rerank: (typeof Reranker.Service)["rerank"] = Effect.fn("TransformersReranker.rerank")(function* (
        query,
        documents,
        { topN } = {}
      ) {
        if (documents.length > maxDocuments) {
          const message = `${documents.length} documents are too many: give at most ${maxDocuments}.`
          return yield* failed(new InvalidRequest({ message }))
        }
        const texts = documents.map(({ text, title }) => (title === undefined ? text : `${title}\n${text}`))
        const results: Array<{ index: number; score: number }> = []
        let tokens = 0
        for (let from = 0; from < texts.length; from += PAIRS_PER_RUN) {
          yield* Effect.yieldNow
          const batch = texts.slice(from, from + PAIRS_PER_RUN)
          const { inputs, outputs } = yield* run(
            batch.map(() => query),
            batch
          )
          const scores = scoresOf(outputs["logits"], batch.length)
          if (scores === undefined) {
            const message = "The model returned no score for each pair. Check that it is a cross-encoder."
            return yield* failed(new InvalidResponse({ message }))
          }
          scores.forEach((score, i) => results.push({ index: from + i, score }))
          for (const one of Array.from(inputs["attention_mask"]?.data ?? [], Number)) tokens += one
        }
        results.sort((a, b) => b.score - a.score || a.index - b.index)
        return { results: topN === undefined ? results : results.slice(0, topN), tokens }
      })
      return Reranker.of({ model: { id, kind: "neural", maxDocuments }, rerank })
    })
  )

/** The scores in the order of the pairs, 0 to 1. Undefined if the logits have another shape. */
export const scoresOf = (logits: Tensor | undefined, pairs: number): ReadonlyArray<number> | undefined => {
  const [count, labels = 0] = logits?.dims ?? []
  if (logits === undefined || count !== pairs || labels < 1 || labels > 2) return undefined
  const scores = Array.from({ length: pairs }, (_, i) => {
    const last = Number(logits.data[i * labels + labels - 1])
    return 1 / (1 + Math.exp((labels === 1 ? 0 : Number(logits.data[i * labels])) - last))
  })
  return scores.every(Number.isFinite) ? scores : undefined
}
