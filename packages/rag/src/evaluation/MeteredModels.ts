/** The program's models, counted: what a way of retrieving asks of them. */
import { Embedder, Reranker } from "@sluice/core"
import { Effect } from "effect"

/** What was asked of models. Tokens as the models count them: 0 for those of the process. */
export interface ModelUse {
  readonly embeddingCalls: number
  readonly rerankCalls: number
  readonly tokens: number
}

/** Counts since the last `take`. */
export interface UsageMeter {
  readonly take: Effect.Effect<ModelUse>
}

/** The services of the context with a count before them: open a library with them to know what its questions cost. */
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
