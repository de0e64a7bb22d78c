/** A `Reranker` that uses a rerank model of the gateway. */
import { Effect, Layer } from "effect"
import { Gateway } from "../gateway/Gateway.ts"
import { GatewayError, InvalidRequest } from "../contract/GatewayError.ts"
import { Reranker } from "./Reranker.ts"

interface GatewayRerankerOptions {
  readonly model: string
  /** The most documents of one request. Default: `MAX_DOCUMENTS`. */
  readonly maxDocuments?: number | undefined
}

/** The limit of common rerank models. */
export const MAX_DOCUMENTS = 1000

/**
 * Derives a `Reranker` from `Gateway`.
 *
 * **Details.** A title becomes the line before its text. More than `maxDocuments` fail with `InvalidRequest`: scores of two
 * requests may not be comparable.
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
            const message = `${documents.length} documents exceed the limit of ${maxDocuments} per request. Recall fewer.`
            const reason = new InvalidRequest({ message })
            return yield* new GatewayError({ operation: "rerank", model, reason })
          }
          const texts = documents.map(({ text, title }) => (title === undefined ? text : `${title}\n${text}`))
          const { results, tokens } = yield* gateway.rerank({ model, query, documents: texts, topN })
          return { results: results.map(({ index, score }) => ({ index, score })), tokens }
        })
      })
    })
  )
