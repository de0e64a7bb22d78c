/** Counts the calls and tokens of the program's models. */
import { Embedder, Reranker } from "@sluice/core"
import { Effect } from "effect"

/** Calls and tokens, as the models count them: 0 for models in the process. */
export interface ModelUse {
  readonly embeddingCalls: number
  readonly rerankCalls: number
  readonly tokens: number
}

/** Counts since the last `take`. */
export interface UsageMeter {
  readonly take: Effect.Effect<ModelUse>
}

const NO_USE: ModelUse = { embeddingCalls: 0, rerankCalls: 0, tokens: 0 }

/** The models of the context, metered. Open a library with them to measure what its questions cost. */
export const meteredModels = Effect.gen(function* () {
  const embedder = yield* Embedder
  const reranker = yield* Reranker
  let use = NO_USE
  const count = (call: "embeddingCalls" | "rerankCalls") => (result: { readonly tokens: number }) =>
    Effect.sync(() => {
      use = { ...use, [call]: use[call] + 1, tokens: use.tokens + result.tokens }
    })
  const meter: UsageMeter = {
    take: Effect.sync(() => {
      const taken = use
      use = NO_USE
      return taken
    })
  }
  return {
    meter,
    embedder: Embedder.of({
      ...embedder,
      embed: (...args) => Effect.tap(embedder.embed(...args), count("embeddingCalls"))
    }),
    reranker: Reranker.of({
      ...reranker,
      rerank: (...args) => Effect.tap(reranker.rerank(...args), count("rerankCalls"))
    })
  }
})
