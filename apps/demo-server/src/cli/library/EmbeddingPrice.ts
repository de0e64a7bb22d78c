/** The price of the embedding model, for plans. */
import { Embedder } from "@sluice/core"
import { Effect } from "effect"
import { Prices } from "../../billing/Prices.ts"

/** A model of this process is free: it is timed instead. */
export const planOptions = Effect.gen(function* () {
  const { free, id } = (yield* Embedder).model
  const { inputPer1000Tokens: per1000Tokens } = (yield* Prices).of("embeddings", id)
  return {
    free,
    options: { timeModel: true, ...(!free && per1000Tokens !== undefined && { per1000Tokens }) }
  }
}).pipe(Effect.provide(Prices.layer))
