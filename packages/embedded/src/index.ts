export {
  countTokensOf,
  embedderModel,
  layer,
  layerEmbedder,
  layerReader,
  layerReranker,
  layerStrictVerifier,
  layerVerifier,
  readerModel,
  rerankerModel,
  verifierModel
} from "./layers.ts"
export { DIMENSION, embedText } from "./lexical/embedText.ts"
export { rerankScores } from "./lexical/rerankScores.ts"
export { MAX_SENTENCES, readSentences } from "./reader/readSentences.ts"
export { MAX_QUERY } from "./modelJobs.ts"
export { countTokens } from "./text/tokenize.ts"
