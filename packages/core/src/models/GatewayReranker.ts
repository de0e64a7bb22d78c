/** A `Reranker` of any rerank model of the gateway. */
import { Effect, Layer } from "effect"
import { Gateway } from "../gateway/Gateway.ts"
import { GatewayError, InvalidRequest } from "../contract/GatewayError.ts"
import { Reranker } from "./Reranker.ts"

/** Which rerank model, and how much it takes. */
export interface GatewayRerankerOptions {
  readonly model: string
  /** Documents of one request at most; `MAX_DOCUMENTS` when not given. */
  readonly maxDocuments?: number
}

/** What the common rerank models take in one request. */
export const MAX_DOCUMENTS = 1000

/**
 * Derives a `Reranker` from `Gateway`.
 *
 * **Details.** A title is put on a line before its text. More than `maxDocuments` are refused, not split: scores of two
 * requests need not be comparable.
 */
export const layer = (options: GatewayRerankerOptions): Layer.Layer<Reranker, never, Gateway> =>
  Layer.effect(
    Reranker,
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { maxDocuments = MAX_DOCUMENTS, model } = options
      return Reranker.of({
        model: { id: model, kind: "neural", maxDocuments },
        rerank: Effect.fn("GatewayReranker.rerank")(function* (query, documents, { topN } = {}) {
          if (documents.length > maxDocuments) {
            const message = `${documents.length} documents are more than one request takes (${maxDocuments}). Recall fewer.`
            return yield* new GatewayError({
              operation: "rerank",
              model,
              reason: new InvalidRequest({ message })
            })
          }
          const texts = documents.map(({ text, title }) => (title === undefined ? text : `${title}\n${text}`))
          const { results, tokens } = yield* gateway.rerank({
            model,
            query,
            documents: texts,
            ...(topN !== undefined && { topN })
          })
          return { results: results.map(({ index, score }) => ({ index, score })), tokens }
        })
      })
    })
  )
