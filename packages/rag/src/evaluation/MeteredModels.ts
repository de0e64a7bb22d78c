/** Counts the calls and tokens of the program's models. */
import { Embedder, Reranker } from "@sluice/core"
import { Effect } from "effect"

/** Calls and tokens. Tokens as reported by the model: 0 for models in the process. */
export interface ModelUse {
  readonly embeddingCalls: number
  readonly rerankCalls: number
  readonly tokens: number
}

/** Counts since the last `take`. */
export interface UsageMeter {
  readonly take: Effect.Effect<ModelUse>
}

/** The `Embedder` and `Reranker` of the context, metered. Open a library with them to know the cost of its questions. */
export const meteredModels = Effect.gen(function* () {
  const embedder = yield* Embedder
  const reranker = yield* Reranker
  let use = { embeddingCalls: 0, rerankCalls: 0, tokens: 0 }
  const meter: UsageMeter = {
    take: Effect.sync(() => {
      const taken = use
      use = { embeddingCalls: 0, rerankCalls: 0, tokens: 0 }
      return taken
    })
  }
  return {
    meter,
    embedder: Embedder.of({
      ...embedder,
      embed: (texts, purpose) =>
        Effect.tap(embedder.embed(texts, purpose), ({ tokens }) =>
          Effect.sync(() => {
            use = { ...use, embeddingCalls: use.embeddingCalls + 1, tokens: use.tokens + tokens }
          })
        )
    }),
    reranker: Reranker.of({
      ...reranker,
      rerank: (query, documents, options) =>
        Effect.tap(reranker.rerank(query, documents, options), ({ tokens }) =>
          Effect.sync(() => {
            use = { ...use, rerankCalls: use.rerankCalls + 1, tokens: use.tokens + tokens }
          })
        )
    })
  }
})
