/** Effect's `EmbeddingModel` over an embedding model of the gateway. */
import { Context, Effect, Layer } from "effect"
import * as AiError from "effect/ai/AiError"
import * as EmbeddingModel from "effect/ai/EmbeddingModel"
import * as Model from "effect/ai/Model"
import { Gateway } from "../gateway/Gateway.ts"
import { CurrentRetryPolicy } from "../gateway/RetryPolicy.ts"
import { aiError } from "./AiFailure.ts"

interface GatewayEmbeddingModelOptions {
  readonly model: string
  /** Vectors of another dimension then fail. */
  readonly dimensions?: number | undefined
}

const call = { module: "GatewayEmbeddingModel", method: "embedMany", path: "/v1/embeddings" }

/**
 * Derives `EmbeddingModel` from `Gateway`.
 *
 * **When to use.** For programs written for Effect's AI services. Retrieval uses `Embedder`, which avoids copying vectors
 * to plain numbers.
 *
 * **Details.** `embedMany` accepts any number of texts; the client splits them into requests. `embed` calls of one turn
 * share a request. Vectors are not normalised. Failures are `AiError`s, see `aiError`.
 *
 * **Gotchas.** If one of several requests fails, `embedMany` fails with its reason, and the other vectors are lost.
 * `Gateway.embeddings` keeps them.
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
            aiError(call, error)
          )
          const length = vectors[0]?.length
          if (dimensions !== undefined && length !== undefined && length !== dimensions) {
            const description = `The vectors have dimension ${length}, not ${dimensions}.`
            const reason = new AiError.InvalidResponseError({ description })
            return yield* AiError.make({ module: call.module, method: call.method, reason })
          }
          return {
            results: vectors.map((vector) => Array.from(vector)),
            usage: { inputTokens: tokens || undefined }
          }
        })
      })
    )
  )

/** A `Model` of the provider `sluice`, with `Dimensions`. */
export const embeddingModel = (
  name: string,
  { dimensions }: { readonly dimensions: number }
): Model.Model<"sluice", EmbeddingModel.EmbeddingModel | EmbeddingModel.Dimensions, Gateway> =>
  Model.make(
    "sluice",
    name,
    Layer.merge(layer({ model: name, dimensions }), Layer.succeed(EmbeddingModel.Dimensions, dimensions))
  )
