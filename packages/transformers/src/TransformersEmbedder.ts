/** `Embedder` by a neural model in this process. */
import { Embedder } from "@sluice/core"
import type { Purpose } from "@sluice/core/models"
import { Effect, Layer } from "effect"
import type { Embedded, TransformersModelOptions } from "./ModelJobs.ts"
import { batchesByLength, makeModelThread, modelName } from "./ModelThread.ts"
import type { Pooling } from "./Pooling.ts"

/** The model, and its settings as its model card gives them. */
export interface TransformersEmbedderOptions extends TransformersModelOptions {
  /** Default `mean`. Not used for models that return a `sentence_embedding`. */
  readonly pooling?: Pooling
  /** Prefixes of questions and passages, such as `query: ` and `passage: `. */
  readonly prefixes?: Partial<Record<Purpose, string>>
  /** For Matryoshka models: the number of dimensions to keep. Default all. */
  readonly dimension?: number
}

/** A text embedded to find the dimension. */
const PROBE = "dimension"

/**
 * Loads the model on first use, in a thread, and releases it with the layer.
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
      const { dimension: kept, pooling = "mean", prefixes, ...source } = options
      const run = yield* makeModelThread(source, "embeddings")
      const id = `${modelName(options)}${pooling === "mean" ? "" : ` ${pooling}`}`
      const embedBatch = (texts: ReadonlyArray<string>) =>
        run<Embedded>("vectorsJob", { texts, pooling, dimension: kept })

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
        for (const batch of batchesByLength(texts)) {
          const answer = yield* embedBatch(batch.map((i) => (prefixes?.[purpose] ?? "") + texts[i]))
          tokens += answer.tokens
          batch.forEach((i, j) => (vectors[i] = answer.vectors[j]!))
        }
        if (texts.some((_, i) => vectors[i] === undefined)) {
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
