/** The methods and options of a library. */
import type { ConversationTurn } from "@sluice/core/models"
import type { Effect, Stream } from "effect"
import type { Answer, AnswerEvent } from "../answering/Answer.ts"
import type { AskOptions } from "../answering/AnswerOptions.ts"
import type { ConversationOptions } from "../answering/Standalone.ts"
import type { DocumentInfo, Parsed, PassageFigure, StoredPassage } from "../document/Document.ts"
import type { Filter } from "../document/Filter.ts"
import type { RagError } from "../document/RagError.ts"
import type { IngestPlan, PlanOptions } from "../ingest/IngestPlan.ts"
import type { IngestEvent, IngestReport } from "../ingest/IngestEvents.ts"
import type { SourceItem } from "../ingest/sources/Record.ts"
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
  /** Scanned pages that are read of one file. Default 1,000. */
  readonly scannedPages?: number
}

export interface ListOptions {
  /** A condition on documents: not on pages or kinds. */
  readonly filter?: Filter | undefined
  /** The path of the last document of the page before. */
  readonly after?: string | undefined
  /** Default 100. */
  readonly limit?: number | undefined
}

export interface ListedDocuments {
  readonly documents: ReadonlyArray<DocumentInfo>
  /** For `after`. Absent on the last page. */
  readonly next?: string
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
  readonly ingest: <E = RagError>(source: IngestSource<E>) => Effect.Effect<IngestReport, E | RagError>
  /** `ingest` as events; the last one is `done`. */
  readonly ingestEvents: <E = RagError>(source: IngestSource<E>) => Stream.Stream<IngestEvent, E | RagError>
  /**
   * Adds documents that a program gives, or replaces them: text, or passages of its own, and files.
   *
   * **Details.** Every method that takes a document's identifier takes the record's `id` too. An unchanged record costs no
   * embedding. Invalid ones are reported, and the rest is written.
   */
  readonly upsert: <E = never, E2 = never, R = never>(
    records: Iterable<SourceItem<E>> | Stream.Stream<SourceItem<E>, E2, R>
  ) => Effect.Effect<IngestReport, E2 | RagError, R>
  /**
   * Makes the documents of a source those that it gives. At the end of the stream, what the source did not give is removed;
   * with `partial`, the stream has only changes, and nothing is removed but what it says is `removed`.
   *
   * **Details.** If the stream fails, `sync` fails with that error and removes nothing; what was given is kept, and the next
   * sync continues from there. An item whose `version` is stored already is not read. A document of another source is
   * reported as failed. Items are written within seconds, however slow the source is, and nobody waits for it. A file that
   * takes long, such as a scan, holds up no others. Two syncs of all of a source come one after the other; one with `partial`
   * waits for none, and of a document that two of them give, the one that was given last is kept.
   */
  readonly sync: <E = never, E2 = never, R = never>(
    source: string,
    items: Stream.Stream<SourceItem<E>, E2, R>,
    options?: { readonly partial?: boolean }
  ) => Effect.Effect<IngestReport, E2 | RagError, R>
  /** `sync` as events; the last one is `done`. */
  readonly syncEvents: <E = never, E2 = never, R = never>(
    source: string,
    items: Stream.Stream<SourceItem<E>, E2, R>,
    options?: { readonly partial?: boolean }
  ) => Stream.Stream<IngestEvent, E2 | RagError, R>
  /**
   * Plans an ingest of a folder: what it would do and cost. Parses every file and writes nothing. Calls no model, except
   * with `timeModel`.
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
  /** Documents by path, those after `after`, at most `limit`. `next` is the last path if there are more. */
  readonly list: (options?: ListOptions) => Effect.Effect<ListedDocuments, RagError>
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
  /** Removes all documents that match, and returns them. Fails with `Malformed` for a condition on pages or kinds. */
  readonly removeWhere: (filter: Filter) => Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  readonly stats: Effect.Effect<LibraryStats, RagError>
  /** Bytes of originals, crops and readings, and 8 KiB for each passage. */
  readonly storedBytes: Effect.Effect<number, RagError>
  /** Fills a new table from the stored originals with the present models, then replaces the old one. */
  readonly rebuild: Stream.Stream<IngestEvent, RagError>
  /** Compacts, indexes, and drops what nothing has referred to for a day. */
  readonly maintain: Effect.Effect<void, RagError>
}
