/** Our embedder and reranker, with their threads. */
import { Embedder, Reranker } from "@sluice/core"
import { TransformersEmbedder, TransformersReranker } from "@sluice/transformers"
import { Effect, Layer, ManagedRuntime } from "effect"
import { answerCalls } from "./Contender.ts"

answerCalls(async (options) => {
  const layers = Layer.mergeAll(
    TransformersEmbedder.layer({ ...options, pooling: "cls" }),
    TransformersReranker.layer(options)
  )
  const { runPromise } = ManagedRuntime.make(layers)
  const embed = (texts: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      return (yield* (yield* Embedder).embed(texts, "passage")).vectors
    })
  const rerank = (query: string, texts: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const { results } = yield* (yield* Reranker).rerank(
        query,
        texts.map((text) => ({ text }))
      )
      return results.toSorted((a, b) => a.index - b.index).map(({ score }) => [score])
    })
  return ({ query, texts }) =>
    query === undefined ? runPromise(embed(texts)) : runPromise(rerank(query, texts))
})
