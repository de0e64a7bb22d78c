/** An `Embedder` of a neural model in this process. */
import { Embedder, GatewayError, InvalidResponse, type Purpose } from "@sluice/core"
import { Effect, Layer } from "effect"
import { pool, type Pooling, rows } from "./Pooling.ts"
import {
  makeTransformersModel,
  modelName,
  type Run,
  type TransformersModelOptions
} from "./TransformersModel.ts"

/** Which model, and how it is to be used: its card says. */
export interface TransformersEmbedderOptions extends TransformersModelOptions {
  /** Default `mean`. Models that give a `sentence_embedding` have pooled already. */
  readonly pooling?: Pooling
  /** What the model wants before a question or a passage, such as `query: ` and `passage: `. */
  readonly prefixes?: Partial<Record<Purpose, string>>
  /** For models whose first numbers alone are a good vector (Matryoshka): so many are kept. Default: all. */
  readonly dimension?: number
}

/** Texts of one run. */
const TEXTS_PER_RUN = 16

/** Embedded to learn the dimension. */
const PROBE = "dimension"

/**
 * Loads the model when it is first needed, and releases it with the layer.
 *
 * **Details.** Vectors have norm 1; a blank text has the zero vector. Texts beyond `maxTokens` are cut there. Vectors
 * are cached by a library, for they take time. Prefixes, pooling, precision and `maxTokens` are part of the model's name or
 * description: a collection made with others is refused by a typed error.
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

      const vectorsOf = ({ inputs, outputs }: Run) => {
        const pooled = outputs["sentence_embedding"]
        const hidden = outputs["last_hidden_state"] ?? outputs["token_embeddings"]
        const mask = inputs["attention_mask"]
        if (pooled?.dims.length === 2) return Effect.succeed(rows(pooled, options.dimension))
        if (hidden?.dims.length === 3 && mask !== undefined)
          return Effect.succeed(pool(hidden, mask, pooling, options.dimension))
        const given = Object.keys(outputs).join(", ")
        const message = `The model gives ${given || "nothing"}, and no vectors of tokens. Is it an embedding model?`
        return Effect.fail(
          new GatewayError({ operation: "embeddings", model: id, reason: new InvalidResponse({ message }) })
        )
      }

      const embedSome = Effect.fn("TransformersEmbedder.run")(function* (texts: ReadonlyArray<string>) {
        yield* Effect.yieldNow
        const ran = yield* run(texts)
        const tokens = Array.from(ran.inputs["attention_mask"]?.data ?? [], Number)
        return { vectors: yield* vectorsOf(ran), tokens: tokens.reduce((sum, one) => sum + one, 0) }
      })

      let known: number | undefined
      const dimension = Effect.gen(function* () {
        known ??= (yield* embedSome([PROBE])).vectors[0]?.length ?? 0
        return known
      })

      const embed = Effect.fn("TransformersEmbedder.embed")(function* (
        texts: ReadonlyArray<string>,
        purpose: Purpose
      ) {
        const vectors: Array<Float32Array> = []
        let tokens = 0
        // Texts of one length together: little is filled up, and the same texts make the same runs in any order.
        const sent = [...texts.keys()]
          .filter((i) => texts[i]?.trim() !== "")
          .toSorted((a, b) => texts[a]!.length - texts[b]!.length || (texts[a]! < texts[b]! ? -1 : 1))
        for (let from = 0; from < sent.length; from += TEXTS_PER_RUN) {
          const some = sent.slice(from, from + TEXTS_PER_RUN)
          const answer = yield* embedSome(some.map((i) => (prefixes?.[purpose] ?? "") + texts[i]))
          tokens += answer.tokens
          some.forEach((i, j) => (vectors[i] = answer.vectors[j]!))
        }
        if (sent.length < texts.length) {
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
