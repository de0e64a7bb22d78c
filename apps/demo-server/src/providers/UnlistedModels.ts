/** The library's models while a vendor has not listed those to choose from. Each call says what is missing. */
import { Embedder, GatewayError, Reader, Reranker, ServerFailure } from "@sluice/core"
import { Context, Effect, Layer, Stream } from "effect"

/** In place of a model's name. */
const ID = "not listed yet"

export const layerUnlistedModels = (message: string) => {
  const reason = new ServerFailure({ message, status: 503 })
  const missing = new GatewayError({ operation: "models", notExecuted: true, reason })
  const fail = Effect.fail(missing)
  return Layer.mergeAll(
    Layer.succeed(Embedder, {
      model: { id: ID, kind: "neural", free: false },
      dimension: fail,
      embed: () => fail
    }),
    Layer.succeed(Reranker, { model: { id: ID, kind: "neural", maxDocuments: 1 }, rerank: () => fail }),
    Layer.succeed(Reader, { model: { id: ID, kind: "generative" }, read: () => Stream.fail(missing) })
  )
}

/** Whether the models are known: others have opened no collection. */
export const areListed = (models: Context.Context<Embedder>): boolean =>
  Context.get(models, Embedder).model.id !== ID
