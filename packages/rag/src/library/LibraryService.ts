/** What a library offers, and how one is opened. */
import type { Effect, Stream } from "effect"
import type { Answer, AnswerEvent } from "../answering/Answer.ts"
import type { DocumentInfo, Parsed, PassageFigure, StoredPassage } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import type { IngestPlan, PlanOptions } from "../ingest/IngestPlan.ts"
import type { IngestEvent, IngestReport } from "../ingest/IngestReport.ts"
import type { FolderSource, IngestSource } from "../ingest/sources/Source.ts"
import type { Change } from "../retrieval/Compare.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"
import type { Why } from "../retrieval/Why.ts"
import type { LibrarySnapshots } from "../store/LibrarySnapshots.ts"
import type { IndexStats } from "../store/PassageIndex.ts"

/** How to open a library. */
export interface LibraryOptions extends RetrieveOptions {
  /** Several collections may share a folder. Default `default`. */
  readonly collection?: string
  /**
   * Each figure that is ingested is shown to image understanding once; what it says is searched, and never quoted.
   * Default false.
   */
  readonly describeFigures?: boolean
}

/** What is in a library. */
export interface LibraryStats {
  readonly collection: string
  readonly documents: number
  readonly passages: number
  readonly embeddingModel: string
  readonly dimension: number
  readonly chunker: string
  readonly index: IndexStats
}

/** A passage that is a figure or a table. */
export interface FigurePassage extends StoredPassage {
  readonly figure: PassageFigure
}

/** What `Library.open` gives. */
export interface LibraryService extends LibrarySnapshots<LibraryService> {
  /** Brings the library up to date with a folder, a file, or files in memory. Bad files are reported, the rest is ingested. */
  readonly ingest: (source: IngestSource) => Effect.Effect<IngestReport, RagError>
  /** The same, event by event; the last one is `done`. */
  readonly ingestEvents: (source: IngestSource) => Stream.Stream<IngestEvent, RagError>
  /**
   * What an ingest of a folder would do and cost. Every file is read and cut; no model is asked, nothing is written.
   *
   * **Gotchas.** Image understanding that is paid for is not asked, neither here nor by `apply`: what only it can read
   * is not in the plan.
   */
  readonly plan: (source: string | FolderSource, options?: PlanOptions) => Effect.Effect<IngestPlan, RagError>
  /**
   * Does what a plan says, and sends no more to the model than it counts. A file that changed since is told as failed
   * with `Stale` and left out. Applied again after a crash it goes on from there. Fails with `Stale`, nothing done, when
   * the collection or the models are others than the plan's.
   */
  readonly apply: (plan: IngestPlan) => Effect.Effect<IngestReport, RagError>
  /** The same, event by event; the last one is `done`. */
  readonly applyEvents: (plan: IngestPlan) => Stream.Stream<IngestEvent, RagError>
  /** Recalls by vector and by keywords, reranks in one call, keeps the best: passages and the trace of every stage. */
  readonly retrieve: (question: string, options?: RetrieveOptions) => Effect.Effect<Retrieval, RagError>
  /**
   * What became of each passage of a document for a question: its rank and score at every stage, and the stage that
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
  /** A cited answer; `found` is false when the documents do not answer. */
  readonly ask: (question: string, options?: RetrieveOptions) => Effect.Effect<Answer, RagError>
  /** The same, event by event; the last one is `answer`. */
  readonly askEvents: (question: string, options?: RetrieveOptions) => Stream.Stream<AnswerEvent, RagError>
  /** All documents, by path. */
  readonly documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  /**
   * A document as it was read: from the stored reading where there is one (figures without their crops), else read
   * again from its stored original. Fails with `NotFound`.
   */
  readonly document: (
    id: string
  ) => Effect.Effect<{ readonly info: DocumentInfo; readonly parsed: Parsed }, RagError>
  /** The stored original, byte for byte. Fails with `NotFound`. */
  readonly file: (
    id: string
  ) => Effect.Effect<{ readonly info: DocumentInfo; readonly bytes: Uint8Array }, RagError>
  /** The figures and tables of a document, in order. Fails with `NotFound`. */
  readonly figures: (id: string) => Effect.Effect<ReadonlyArray<FigurePassage>, RagError>
  /** The bytes of a crop (`PassageFigure.crop`) of a document. Fails with `NotFound`. */
  readonly attachment: (id: string, sha256: string) => Effect.Effect<Uint8Array, RagError>
  /** Removes a document and gives what it was. Fails with `NotFound`. */
  readonly remove: (id: string) => Effect.Effect<DocumentInfo, RagError>
  readonly stats: Effect.Effect<LibraryStats, RagError>
  /** Fills a new table from the stored originals with the present models, then switches to it. */
  readonly rebuild: Stream.Stream<IngestEvent, RagError>
  /** Compacts, indexes, and drops what nothing refers to for a day. */
  readonly maintain: Effect.Effect<void, RagError>
}
