export * from "./answering/Answer.ts"
export * from "./document/Document.ts"
export * from "./document/Filter.ts"
export { fuse, type Fused, Fusion, FusionWeights } from "./retrieval/Fusion.ts"
export * from "./document/RagError.ts"
export * from "./retrieval/Trace.ts"
export * from "./ingest/IngestPlan.ts"
export * from "./ingest/IngestReport.ts"
export * from "./library/Library.ts"
export type { LibrarySnapshots } from "./store/LibrarySnapshots.ts"
export { ALSO_AT, type KeptPassage, type Place } from "./retrieval/Choosing.ts"
export type { Retrieval } from "./retrieval/Retriever.ts"
export {
  CANDIDATES,
  FUSION,
  KEEP,
  RECALL,
  type RetrievePlan,
  RetrieveOptions
} from "./retrieval/RetrieveOptions.ts"
export type { Change, Moved, QuestionChange } from "./retrieval/Compare.ts"
export type { Explain } from "./retrieval/Explain.ts"
export { type Outcome, type PassageWhy, type Placed, type Why, WHY_DEPTH } from "./retrieval/Why.ts"
export { METADATA_BYTES } from "./document/Metadata.ts"
export { documentId } from "./ingest/Draft.ts"
export { DocumentFormats, documentFormats } from "./formats/DocumentFormats.ts"
export {
  type DocumentFile,
  type DocumentFormat,
  MAX_FILE_BYTES,
  parseError
} from "./formats/parsing/DocumentFormat.ts"
export { TRACE_COLOURS } from "./formats/pdf/figures/FigureTrace.ts"
export { drawFigureTraces, renderPage } from "./formats/pdf/Pdf.ts"
export { LanceIndex, type StoreOptions } from "./store/lance/LanceIndex.ts"
export * from "./store/Manifest.ts"
export * from "./store/PassageIndex.ts"
