import type { Embedder, Reader, Reranker } from "@sluice/core"
import { Layer } from "effect"
import { layerEmbedder } from "./lexical/Embedder.ts"
import { layerReader } from "./reader/Reader.ts"
import { layerReranker } from "./lexical/Reranker.ts"

export { countTokens } from "./text/countTokens.ts"
export { embedderModel, layerEmbedder } from "./lexical/Embedder.ts"
export { DIMENSION, embedText } from "./lexical/embedText.ts"
export { layerReader, readerModel } from "./reader/Reader.ts"
export { MAX_SENTENCES, readSentences } from "./reader/readSentences.ts"
export { layerReranker, rerankerModel } from "./lexical/Reranker.ts"
export { rerankScores } from "./lexical/rerankScores.ts"

/** All three models of this process: lexical and extractive, deterministic, no key, no network, no weights. */
export const layer: Layer.Layer<Embedder | Reranker | Reader> = Layer.mergeAll(
  layerEmbedder,
  layerReranker,
  layerReader
)
