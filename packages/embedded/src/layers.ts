/** The models of this process as layers. */
import {
  type EmbeddingResult,
  Embedder,
  type EmbedderModel,
  Reader,
  type ReaderModel,
  Reranker,
  type RerankerModel
} from "@sluice/core"
import { Effect, Layer, Stream } from "effect"
import { DIMENSION, embedText } from "./lexical/embedText.ts"
import { addPriors, rerankScores } from "./lexical/rerankScores.ts"
import { readSentences } from "./reader/readSentences.ts"

/** Lexical, 1024 dimensions, English and Chinese; free. */
export const embedderModel: EmbedderModel = { id: "sluice-lexical-1024", kind: "lexical", free: true }

/** Texts embedded before other fibers run: about 4 ms for texts of 1 KB. */
const TEXTS_PER_TURN = 128

/** `Embedder` by `embedText`. It never fails, and counts no tokens because they cost nothing. */
export const layerEmbedder: Layer.Layer<Embedder> = Layer.succeed(Embedder, {
  model: embedderModel,
  dimension: Effect.succeed(DIMENSION),
  embed: Effect.fn("sluice.embed")(function* (texts, purpose) {
    const vectors: Array<Float32Array> = []
    for (const [i, text] of texts.entries()) {
      if (i > 0 && i % TEXTS_PER_TURN === 0) yield* Effect.yieldNow
      vectors.push(embedText(text, purpose))
    }
    return { vectors, tokens: 0 } satisfies EmbeddingResult
  })
})

/** Lexical: it depends on the query, the documents and the priors alone. */
export const rerankerModel: RerankerModel = {
  id: "sluice-lexical-rerank",
  kind: "lexical",
  maxDocuments: 1000
}

/** `Reranker` by `rerankScores`. It never fails, and counts no tokens because they cost nothing. */
export const layerReranker: Layer.Layer<Reranker> = Layer.succeed(Reranker, {
  model: rerankerModel,
  rerank: Effect.fn("sluice.rerank")((query, documents, options) =>
    Effect.sync(() => {
      const priors = options?.priors
      const scores = rerankScores(query, documents, priors)
      const relevance = priors === undefined ? scores : addPriors(query, scores, priors)
      const results = Array.from(scores, (score, index) => ({
        index,
        score,
        ...(priors === undefined ? {} : { relevance: relevance[index] as number })
      })).toSorted(
        (a, b) =>
          (relevance[b.index] as number) - (relevance[a.index] as number) ||
          b.score - a.score ||
          a.index - b.index
      )
      return { results: results.slice(0, options?.topN ?? results.length), tokens: 0 }
    })
  )
})

/** Extractive, English and Chinese: it quotes sentences and writes none. */
export const readerModel: ReaderModel = { id: "sluice-extractive", kind: "extractive" }

/** `Reader` by `readSentences`. It never fails, and reads only when the stream is pulled. */
export const layerReader: Layer.Layer<Reader> = Layer.succeed(Reader, {
  model: readerModel,
  read: (question, passages) =>
    Stream.suspend(() => Stream.fromIterable(readSentences(question, passages))).pipe(
      Stream.withSpan("sluice.read")
    )
})

/** All three: deterministic, no key, no network, no weights. */
export const layer: Layer.Layer<Embedder | Reranker | Reader> = Layer.mergeAll(
  layerEmbedder,
  layerReranker,
  layerReader
)
