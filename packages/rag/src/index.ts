/**
 * What a program needs: `Library`, its options and events, documents, answers, filters, plans and `RagError`.
 *
 * `@sluice/rag/store` has the index and LanceDB, `/formats` the formats of documents, `/retrieval` the stages and how they
 * explain a result, `/evaluation` the measurements.
 */
export type {
  Answer,
  AnsweredPart,
  AnswerEvent,
  AnswerOutcome,
  AnswerSentence,
  ClosestPassage,
  FigureLook,
  Standalone
} from "./answering/Answer.ts"
export type { AnswerOptions, AskOptions, ContextOptions } from "./answering/AnswerOptions.ts"
export { joinSentences } from "./answering/AnswerText.ts"
export { type ConversationOptions, turnOf } from "./answering/Standalone.ts"
export {
  Box,
  type Citation,
  type DocumentInfo,
  type Metadata,
  type MetadataValue,
  type Passage,
  type PassageFigure,
  type StoredPassage
} from "./document/Document.ts"
export { type FieldFilter, Filter, FilterField, type FilterValue } from "./document/Filter.ts"
export { Locator } from "./document/Locator.ts"
export { RagError, RagReason, Stage } from "./document/RagError.ts"
export type { IngestEvent, IngestReport, IngestStatus } from "./ingest/IngestEvents.ts"
export { IngestPlan, PlannedChange, type PlanOptions } from "./ingest/IngestPlan.ts"
export type { DocumentRecord, SourceItem } from "./ingest/sources/Record.ts"
export type { FolderSource, IngestFailure, IngestSource, Upload } from "./ingest/sources/Source.ts"
export { Library, type Models } from "./library/Library.ts"
export type {
  ListedDocuments,
  FigurePassage,
  LibraryConversation,
  LibraryOptions,
  LibraryService,
  LibraryStats,
  ListOptions
} from "./library/LibraryService.ts"
export type { Retrieval } from "./retrieval/Retriever.ts"
export { Fusion } from "./retrieval/stages/Fusion.ts"
export type { RetrieveOptions } from "./retrieval/stages/RetrieveOptions.ts"
export type { StageTime, Trace, TracedPassage } from "./retrieval/stages/Trace.ts"
export type { Summary, SummaryOptions, SummaryPlan } from "./summary/Summary.ts"
