/** A `Reranker` of a cross-encoder in this process. */
import { GatewayError, InvalidRequest, InvalidResponse, Reranker } from "@sluice/core"
import { Effect, Layer } from "effect"
import type { Tensor } from "./Pooling.ts"
import { makeTransformersModel, modelName, type TransformersModelOptions } from "./TransformersModel.ts"

/** Which cross-encoder, and how much it takes. */
export interface TransformersRerankerOptions extends TransformersModelOptions {
  /** Documents of one request at most. Default 200: each takes its own time. */
  readonly maxDocuments?: number
}

/** Pairs of one run. */
const PAIRS_PER_RUN = 16

const MAX_DOCUMENTS = 200

/**
 * Loads the model when it is first needed, and releases it with the layer.
 *
 * **Details.** Query and document are read together, a title on a line before its text. Scores are between 0 and 1: of
 * models with one output its logistic function, of those with two the probability of the second.
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
          const message = `${documents.length} documents are more than are taken at once (${maxDocuments}). Recall fewer.`
          return yield* failed(new InvalidRequest({ message }))
        }
        const texts = documents.map(({ text, title }) => (title === undefined ? text : `${title}\n${text}`))
        const results: Array<{ index: number; score: number }> = []
        let tokens = 0
        for (let from = 0; from < texts.length; from += PAIRS_PER_RUN) {
          yield* Effect.yieldNow
          const some = texts.slice(from, from + PAIRS_PER_RUN)
          const { inputs, outputs } = yield* run(
            some.map(() => query),
            some
          )
          const scores = scoresOf(outputs["logits"], some.length)
          if (scores === undefined) {
            const message = "The model gives no score for each pair. Is it a cross-encoder?"
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

/** Between 0 and 1, best first; undefined when the model gives something else. */
export const scoresOf = (logits: Tensor | undefined, pairs: number): ReadonlyArray<number> | undefined => {
  const [count, labels = 0] = logits?.dims ?? []
  if (logits === undefined || count !== pairs || labels < 1 || labels > 2) return undefined
  const scores = Array.from({ length: pairs }, (_, i) => {
    const last = Number(logits.data[i * labels + labels - 1])
    return 1 / (1 + Math.exp((labels === 1 ? 0 : Number(logits.data[i * labels])) - last))
  })
  return scores.every(Number.isFinite) ? scores : undefined
}
