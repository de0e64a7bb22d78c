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
export { embedText } from "./lexical/embedText.ts"
export { rerankScores } from "./lexical/rerankScores.ts"
export { MAX_SENTENCES, readSentences } from "./reader/readSentences.ts"
export { MAX_QUERY } from "./modelJobs.ts"
export { DIMENSION } from "./text/features.ts"
export { countTokens } from "./text/tokenize.ts"
