/** The embedder of this process: it matches words, and says so. */
import { type Embedded, Embedder, type EmbedderModel } from "@sluice/core"
import { Effect, Layer } from "effect"
import { DIMENSION, embedText } from "./embedText.ts"

/** Lexical, 1024 dimensions, English and Chinese; free. */
export const embedderModel: EmbedderModel = { id: "sluice-lexical-1024", kind: "lexical", free: true }

/** Texts embedded before others get a turn: about 4 ms for texts of 1 KB. */
const TEXTS_AT_A_TIME = 128

/** `Embedder` by `embedText`. It never fails and counts no tokens, for they cost nothing. */
export const layerEmbedder: Layer.Layer<Embedder> = Layer.succeed(Embedder, {
  model: embedderModel,
  dimension: Effect.succeed(DIMENSION),
  embed: Effect.fn("sluice.embed")(function* (texts, purpose) {
    const vectors: Array<Float32Array> = []
    for (let from = 0; from < texts.length; from += TEXTS_AT_A_TIME) {
      if (from > 0) yield* Effect.yieldNow
      for (const text of texts.slice(from, from + TEXTS_AT_A_TIME)) vectors.push(embedText(text, purpose))
    }
    return { vectors, tokens: 0 } satisfies Embedded
  })
})
