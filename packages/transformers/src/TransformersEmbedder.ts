/** `Embedder` by a neural model in this process. */
import { Embedder, GatewayError, InvalidResponse, type Purpose } from "@sluice/core"
import { Effect, Layer } from "effect"
import { pool, type Pooling, pooledRows } from "./Pooling.ts"
import {
  makeTransformersModel,
  modelName,
  type ModelRun,
  type TransformersModelOptions
} from "./TransformersModel.ts"

/** The model, and its settings as its model card gives them. */
export interface TransformersEmbedderOptions extends TransformersModelOptions {
  /** Default `mean`. Not used for models that return a `sentence_embedding`. */
  readonly pooling?: Pooling
  /** Prefixes of questions and passages, such as `query: ` and `passage: `. */
  readonly prefixes?: Partial<Record<Purpose, string>>
  /** For Matryoshka models: the number of dimensions to keep. Default all. */
  readonly dimension?: number
}

/** Texts in one call of the model. */
const TEXTS_PER_RUN = 16

/** A text embedded to find the dimension. */
const PROBE = "dimension"

/**
 * Loads the model on first use and releases it with the layer.
 *
 * **Details.** Vectors have norm 1; a blank text has the zero vector. Texts are truncated to `maxTokens`. A library caches
 * the vectors, because computing them takes time. Prefixes, pooling, precision and `maxTokens` are part of the model's name
 * or description: a collection made with others is refused with a typed error.
 *
 * ```ts
 * TransformersEmbedder.layer({
 *   model: "./models/multilingual-e5-small",
 *   prefixes: { query: "query: ", passage: "passage: " }
 * })
 * ```
 */
export const layer = (options: TransformersEmbedderOptions): Layer.Layer<Embedder> =>
  Layer.effect(
    Embedder,
    Effect.gen(function* () {
      const run = yield* makeTransformersModel(options, "embeddings")
      const { pooling = "mean", prefixes } = options
      const id = `${modelName(options)}${pooling === "mean" ? "" : ` ${pooling}`}`

      const vectorsOf = ({ inputs, outputs }: ModelRun) => {
        const pooled = outputs["sentence_embedding"]
        const hidden = outputs["last_hidden_state"] ?? outputs["token_embeddings"]
        const mask = inputs["attention_mask"]
        if (pooled?.dims.length === 2) return Effect.succeed(pooledRows(pooled, options.dimension))
        if (hidden?.dims.length === 3 && mask !== undefined)
          return Effect.succeed(pool(hidden, mask, pooling, options.dimension))
        const names = Object.keys(outputs).join(", ")
        const message = `The model returned ${names || "nothing"} and no token vectors. Check that it is an embedding model.`
        return Effect.fail(
          new GatewayError({ operation: "embeddings", model: id, reason: new InvalidResponse({ message }) })
        )
      }

      const embedBatch = Effect.fn("TransformersEmbedder.run")(function* (texts: ReadonlyArray<string>) {
        yield* Effect.yieldNow
        const ran = yield* run(texts)
        const tokens = Array.from(ran.inputs["attention_mask"]?.data ?? [], Number)
        return { vectors: yield* vectorsOf(ran), tokens: tokens.reduce((sum, one) => sum + one, 0) }
      })

      let known: number | undefined
      const dimension = Effect.gen(function* () {
        known ??= (yield* embedBatch([PROBE])).vectors[0]?.length ?? 0
        return known
      })

      const embed = Effect.fn("TransformersEmbedder.embed")(function* (
        texts: ReadonlyArray<string>,
        purpose: Purpose
      ) {
        const vectors: Array<Float32Array> = []
        let tokens = 0
        // Texts of similar length together need little padding, and the batches do not depend on the order.
        const order = [...texts.keys()]
          .filter((i) => texts[i]?.trim() !== "")
          .toSorted((a, b) => texts[a]!.length - texts[b]!.length || (texts[a]! < texts[b]! ? -1 : 1))
        for (let from = 0; from < order.length; from += TEXTS_PER_RUN) {
          const batch = order.slice(from, from + TEXTS_PER_RUN)
          const answer = yield* embedBatch(batch.map((i) => (prefixes?.[purpose] ?? "") + texts[i]))
          tokens += answer.tokens
          batch.forEach((i, j) => (vectors[i] = answer.vectors[j]!))
        }
        if (order.length < texts.length) {
          const length = yield* dimension
          for (const i of texts.keys()) vectors[i] ??= new Float32Array(length)
        }
        return { vectors, tokens }
      })

      return Embedder.of({
        model: { id, kind: "neural", free: false, ...(prefixes === undefined ? {} : { prefixes }) },
        dimension,
        embed
      })
    })
  )
