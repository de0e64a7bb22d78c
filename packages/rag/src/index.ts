export * from "./answering/Answer.ts"
export { joinSentences } from "./answering/AnswerText.ts"
export type { Summary, SummaryOptions, SummaryPlan } from "./summary/Summary.ts"
export { splitQuestion } from "./answering/SplitQuestion.ts"
export { type ConversationOptions, turnOf } from "./answering/Standalone.ts"
export type { AnswerOptions, AskOptions, ContextOptions } from "./answering/AnswerOptions.ts"
export * from "./document/Document.ts"
export { Locator } from "./document/Locator.ts"
export * from "./document/Filter.ts"
export { Fusion, FUSION, FusionWeights } from "./retrieval/stages/Fusion.ts"
export * from "./document/RagError.ts"
export * from "./retrieval/stages/Trace.ts"
export * from "./ingest/IngestPlan.ts"
export type { IngestEvent, IngestReport, IngestStatus } from "./ingest/IngestEvents.ts"
export type { FolderSource, IngestFailure, IngestSource, Upload } from "./ingest/sources/Source.ts"
export * from "./library/Library.ts"
export * from "./library/LibraryService.ts"
export type { LibrarySnapshots } from "./store/LibrarySnapshots.ts"
export type {
  Deadline,
  Duplicates,
  ExplainedPassage,
  FusedHit,
  KeptPassage,
  Outcome,
  PassageRank,
  Place,
  RankedPassage,
  RetrievalStage,
  RetrievalState,
  StageExplanation
} from "./retrieval/stages/RetrievalStage.ts"
export { RetrievalStages, STAGES } from "./retrieval/stages/index.ts"
export * from "./retrieval/stages/RetrieveOptions.ts"
export type { Retrieval } from "./retrieval/Retriever.ts"
export { CANDIDATES, KEEP, RECALL, retrieveOptionsSchema } from "./retrieval/RetrievePlan.ts"
export type { Change, QuestionChange, RankChange } from "./retrieval/Compare.ts"
export type { PassageWhy, Why } from "./retrieval/Why.ts"
export { METADATA_BYTES } from "./document/Metadata.ts"
export { documentId } from "./document/Hash.ts"
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
export { FORMAT, Manifest } from "./store/Manifest.ts"
export * from "./store/PassageIndex.ts"
