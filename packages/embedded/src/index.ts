import type { Embedder, Reader, Reranker } from "@sluice/core"
import { Layer } from "effect"
import { layerEmbedder } from "./Embedder.ts"
import { layerReader } from "./Reader.ts"
import { layerReranker } from "./Reranker.ts"

export { countTokens } from "./countTokens.ts"
export { embedderModel, layerEmbedder } from "./Embedder.ts"
export { DIMENSION, embedText } from "./embedText.ts"
export { layerReader, readerModel } from "./Reader.ts"
export { MAX_SENTENCES, readSentences } from "./readSentences.ts"
export { layerReranker, rerankerModel } from "./Reranker.ts"
export { rerankScores } from "./rerankScores.ts"

/** All three models of this process: lexical and extractive, deterministic, no key, no network, no weights. */
export const layer: Layer.Layer<Embedder | Reranker | Reader> = Layer.mergeAll(
  layerEmbedder,
  layerReranker,
  layerReader
)
