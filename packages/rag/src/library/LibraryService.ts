/** The methods and options of a library. */
import type { ConversationTurn } from "@sluice/core/models"
import type { Effect, Stream } from "effect"
import type { Answer, AnswerEvent } from "../answering/Answer.ts"
import type { AskOptions } from "../answering/AnswerOptions.ts"
import type { ConversationOptions } from "../answering/Standalone.ts"
import type { DocumentInfo, Parsed, PassageFigure, StoredPassage } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import type { IngestPlan, PlanOptions } from "../ingest/IngestPlan.ts"
import type { IngestEvent, IngestReport } from "../ingest/IngestEvents.ts"
import type { FolderSource, IngestSource } from "../ingest/sources/Source.ts"
import type { Change } from "../retrieval/Compare.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"
import type { Why } from "../retrieval/Why.ts"
import type { LibrarySnapshots } from "../store/LibrarySnapshots.ts"
import type { Summary, SummaryOptions, SummaryPlan } from "../summary/Summary.ts"
import type { Manifest } from "../store/Manifest.ts"
import type { IndexStats } from "../store/PassageIndex.ts"

export interface LibraryOptions extends AskOptions {
  /** Several collections may share a folder. Default `default`. */
  readonly collection?: string
  /** Describe each ingested figure once with the vision model. Descriptions are searched, never quoted. Default false. */
  readonly describeFigures?: boolean
}

export interface LibraryStats extends Omit<Manifest, "format"> {
  readonly collection: string
  readonly documents: number
  readonly passages: number
  /** Another version of Sluice made the passages. They stay readable; `rebuild` makes them again. */
  readonly isOutdated: boolean
  readonly index: IndexStats
}

/** A passage that is a figure or a table. */
export interface FigurePassage extends StoredPassage {
  readonly figure: PassageFigure
}

/** Questions one after the other. Each answer becomes a turn of the history; a failed or interrupted question does not. */
export interface LibraryConversation extends Pick<LibraryService, "ask" | "askEvents"> {
  /** Oldest first. */
  readonly turns: Effect.Effect<ReadonlyArray<ConversationTurn>>
}

export interface LibraryService extends LibrarySnapshots<LibraryService> {
  /** Updates the library from a folder, a file, or files in memory. Reports invalid files and ingests the rest. */
  readonly ingest: (source: IngestSource) => Effect.Effect<IngestReport, RagError>
  /** `ingest` as events; the last one is `done`. */
  readonly ingestEvents: (source: IngestSource) => Stream.Stream<IngestEvent, RagError>
  /**
   * Plans an ingest of a folder: what it would do and cost. Parses every file, calls no model, writes nothing.
   *
   * **Gotchas.** Neither `plan` nor `apply` calls a paid vision model: text that only it can read is not included.
   */
  readonly plan: (source: string | FolderSource, options?: PlanOptions) => Effect.Effect<IngestPlan, RagError>
  /**
   * Does what a plan says, and sends no more to the model than it counts. A file that changed since is reported as failed
   * with `Stale`. After a crash the plan may be applied again. Fails with `Stale`, and does nothing, if the collection or the
   * models differ from the plan's.
   */
  readonly apply: (plan: IngestPlan) => Effect.Effect<IngestReport, RagError>
  /** `apply` as events; the last one is `done`. */
  readonly applyEvents: (plan: IngestPlan) => Stream.Stream<IngestEvent, RagError>
  /** The best passages for a question, and the trace of every stage. */
  readonly retrieve: (question: string, options?: RetrieveOptions) => Effect.Effect<Retrieval, RagError>
  /**
   * Why each passage of a document was found for a question or not: its rank and score at every stage, and the stage that
   * decided. Costs one retrieval. Fails with `NotFound` for an unknown document.
   */
  readonly why: (
    documentId: string,
    question: string,
    options?: RetrieveOptions
  ) => Effect.Effect<Why, RagError>
  /** Which passages two configurations keep, question by question. Costs two retrievals for each. */
  readonly compare: (
    questions: ReadonlyArray<string>,
    a: RetrieveOptions,
    b: RetrieveOptions
  ) => Effect.Effect<Change, RagError>
  /**
   * A cited answer. Without one, `outcome` says whether the documents do not answer, or the model was not read. With
   * `history`, a follow-up is completed first; `standalone` says how.
   */
  readonly ask: (question: string, options?: ConversationOptions) => Effect.Effect<Answer, RagError>
  /** `ask` as events; the last one is `answer`. */
  readonly askEvents: (
    question: string,
    options?: ConversationOptions
  ) => Stream.Stream<AnswerEvent, RagError>
  /**
   * Summarises documents, with a source for every sentence. A chat model reads them in groups, then the quotes that it chose.
   * An extractive reader has sentences of the documents. Fails with `NotFound` if no passage matches.
   */
  readonly summarise: (options?: SummaryOptions) => Effect.Effect<Summary, RagError>
  /** What `summarise` would read and ask of the model. Calls no model. */
  readonly planSummary: (options?: SummaryOptions) => Effect.Effect<SummaryPlan, RagError>
  /** A conversation, whose questions may refer to the ones before. */
  readonly conversation: (history?: ReadonlyArray<ConversationTurn>) => Effect.Effect<LibraryConversation>
  /** All documents, by path. */
  readonly documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  /** What is known of a document without reading it. Fails with `NotFound`. */
  readonly info: (id: string) => Effect.Effect<DocumentInfo, RagError>
  /**
   * A parsed document: the stored parse if there is one (figures without crops), else the stored original parsed again.
   * Fails with `NotFound`.
   */
  readonly document: (
    id: string
  ) => Effect.Effect<{ readonly info: DocumentInfo; readonly parsed: Parsed }, RagError>
  /** The stored original, byte for byte. Fails with `NotFound`. */
  readonly file: (
    id: string
  ) => Effect.Effect<{ readonly info: DocumentInfo; readonly bytes: Uint8Array }, RagError>
  /** The passages of a document, in order. Fails with `NotFound`. */
  readonly passages: (id: string) => Effect.Effect<ReadonlyArray<StoredPassage>, RagError>
  /** The figures and tables of a document, in order. Fails with `NotFound`. */
  readonly figures: (id: string) => Effect.Effect<ReadonlyArray<FigurePassage>, RagError>
  /** The bytes of a crop (`PassageFigure.crop`) of a document. Fails with `NotFound`. */
  readonly attachment: (id: string, sha256: string) => Effect.Effect<Uint8Array, RagError>
  /** Removes a document, and returns its information. Fails with `NotFound`. */
  readonly remove: (id: string) => Effect.Effect<DocumentInfo, RagError>
  readonly stats: Effect.Effect<LibraryStats, RagError>
  /** Bytes of originals, crops and readings, and 8 KiB for each passage. */
  readonly storedBytes: Effect.Effect<number, RagError>
  /** Fills a new table from the stored originals with the present models, then replaces the old one. */
  readonly rebuild: Stream.Stream<IngestEvent, RagError>
  /** Compacts, indexes, and drops what nothing has referred to for a day. */
  readonly maintain: Effect.Effect<void, RagError>
}
