/** Documents in, cited answers out: the one service that most programs need. */
import type { Embedder, Reader, Reranker } from "@sluice/core"
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { Answer, AnswerEvent } from "./Answer.ts"
import type { DocumentInfo, Parsed } from "./Document.ts"
import type { IngestEvent, IngestReport, IngestSource } from "./IngestReport.ts"
import type { RagError } from "./RagError.ts"
import type { Retrieval, RetrieveOptions } from "./Retriever.ts"

/** How to open a library. */
export interface LibraryOptions extends RetrieveOptions {
  /** Several collections may share a folder. Default `default`. */
  readonly collection?: string
}

/** What is in a library. */
export interface LibraryStats {
  readonly collection: string
  readonly documents: number
  readonly passages: number
  readonly embeddingModel: string
  readonly dimension: number
  readonly chunker: string
}

/** What `Library.open` gives. */
export interface LibraryService {
  /** Brings the library up to date with a folder, a file, or files in memory. Bad files are reported, the rest is ingested. */
  readonly ingest: (source: IngestSource) => Effect.Effect<IngestReport, RagError>
  /** The same, event by event; the last one is `done`. */
  readonly ingestEvents: (source: IngestSource) => Stream.Stream<IngestEvent, RagError>
  /** Recalls by embeddings, reranks in one call, keeps the best: passages and the trace of every stage. */
  readonly retrieve: (question: string, options?: RetrieveOptions) => Effect.Effect<Retrieval, RagError>
  /** A cited answer; `found` is false when the documents do not answer. */
  readonly ask: (question: string, options?: RetrieveOptions) => Effect.Effect<Answer, RagError>
  /** The same, event by event; the last one is `answer`. */
  readonly askEvents: (question: string, options?: RetrieveOptions) => Stream.Stream<AnswerEvent, RagError>
  /** All documents, by path. */
  readonly documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  /** A document read again from its stored original. Fails with `NotFound`. */
  readonly document: (
    id: string
  ) => Effect.Effect<{ readonly info: DocumentInfo; readonly parsed: Parsed }, RagError>
  /** The stored original, byte for byte. Fails with `NotFound`. */
  readonly file: (
    id: string
  ) => Effect.Effect<{ readonly info: DocumentInfo; readonly bytes: Uint8Array }, RagError>
  /** Removes a document and gives what it was. Fails with `NotFound`. */
  readonly remove: (id: string) => Effect.Effect<DocumentInfo, RagError>
  readonly stats: Effect.Effect<LibraryStats, RagError>
  /** Fills a new table from the stored originals with the present models, then switches to it. */
  readonly rebuild: Stream.Stream<IngestEvent, RagError>
  /** Compacts, indexes, and drops what nothing refers to for a day. */
  readonly maintain: Effect.Effect<void, RagError>
}

/** `Library.open(folder)`: what it takes and gives. */
export type OpenLibrary = (
  folder: string,
  options?: LibraryOptions
) => Effect.Effect<LibraryService, RagError, Embedder | Reranker | Reader | Scope.Scope>

/** The service, for programs that hold one library in their context. */
export class Library extends Context.Service<Library, LibraryService>()("@sluice/rag/Library") {}
