/** Effect's `EmbeddingModel` of any embedding model of the gateway. */
import { Context, Effect, Layer } from "effect"
import * as AiError from "effect/ai/AiError"
import * as EmbeddingModel from "effect/ai/EmbeddingModel"
import * as Model from "effect/ai/Model"
import { Gateway } from "../gateway/Gateway.ts"
import { CurrentRetryPolicy } from "../gateway/RetryPolicy.ts"
import { aiError } from "./AiFailure.ts"

export interface GatewayEmbeddingModelOptions {
  readonly model: string
  /** Numbers of a vector, when they are known beforehand: a vector of another length is then refused. */
  readonly dimensions?: number
}

const about = { module: "GatewayEmbeddingModel", method: "embedMany", path: "/v1/embeddings" }

/**
 * Derives `EmbeddingModel` from `Gateway`.
 *
 * **When to use.** For programs written for Effect's AI services. Retrieval here asks for `Embedder`, whose vectors are
 * `Float32Array`s of norm 1: this service copies each into plain numbers and checks every one.
 *
 * **Details.** `embedMany` takes any number of texts; the client splits them into requests. `embed` calls made in the
 * same turn share one. Vectors are the gateway's own, not normalised. Failures are `AiError`s, see `aiError`.
 *
 * **Gotchas.** When some of several requests fail, so does `embedMany`, with the reason of the first: this service has
 * no place for the vectors that came. `Gateway.embeddings` keeps them.
 */
export const layer = ({
  dimensions,
  model
}: GatewayEmbeddingModelOptions): Layer.Layer<EmbeddingModel.EmbeddingModel, never, Gateway> =>
  Layer.effect(
    EmbeddingModel.EmbeddingModel,
    Effect.flatMap(Gateway, (gateway) =>
      EmbeddingModel.make({
        batchKey: (context) => Context.get(context, CurrentRetryPolicy),
        embedMany: Effect.fnUntraced(function* ({ inputs: input }) {
          const { tokens, vectors } = yield* Effect.mapError(gateway.embeddings({ model, input }), (error) =>
            aiError(about, error)
          )
          const length = vectors[0]?.length
          if (dimensions !== undefined && length !== undefined && length !== dimensions) {
            const description = `Vectors of ${length} numbers came from a model of ${dimensions}.`
            const reason = new AiError.InvalidResponseError({ description })
            return yield* AiError.make({ module: about.module, method: about.method, reason })
          }
          return {
            results: vectors.map((vector) => Array.from(vector)),
            usage: { inputTokens: tokens || undefined }
          }
        })
      })
    )
  )

/** As a `Model` of the provider `sluice`, with `Dimensions` beside it. */
export const embeddingModel = (
  name: string,
  { dimensions }: { readonly dimensions: number }
): Model.Model<"sluice", EmbeddingModel.EmbeddingModel | EmbeddingModel.Dimensions, Gateway> =>
  Model.make(
    "sluice",
    name,
    Layer.merge(layer({ model: name, dimensions }), Layer.succeed(EmbeddingModel.Dimensions, dimensions))
  )
