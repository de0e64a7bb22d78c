/** What an ingest takes, what it says as it goes, and what it has done. */
import type { Stream } from "effect"
import type { Metadata, ReadFault } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"

/**
 * A file that is already in memory. `path` identifies the document: relative, with `/`, without empty parts, `.` and
 * `..`; one with another path is reported as failed.
 */
export interface Upload {
  readonly path: string
  readonly bytes: Uint8Array
  /** To filter by: JSON values, at most `METADATA_BYTES`. Without it a document keeps what it had; `{}` empties it. */
  readonly metadata?: Metadata | undefined
}

/** A folder or one file, with what is attached to each document by its path: relative, with `/`. */
export interface FolderSource {
  readonly folder: string
  readonly metadata?: ((path: string) => Metadata | undefined) | undefined
}

/**
 * What to ingest.
 *
 * **Details.** A path of a folder (all files below it, without hidden ones and the tables of libraries) or of one file; or
 * files in memory.
 * Of a folder, documents whose files are gone are removed; files and uploads only add and replace. A document of which
 * only the metadata changed counts as replaced; nothing of it is embedded again.
 */
export type IngestSource =
  | string
  | FolderSource
  | { readonly files: Iterable<Upload> | Stream.Stream<Upload, RagError> }

/** What became of one file. A file that failed leaves the version that was there before. */
export type IngestStatus = "added" | "replaced" | "unchanged" | "removed" | "failed"

/** A file that could not be ingested, and why. */
export interface IngestFailure {
  readonly path: string
  readonly error: RagError
}

/** Counts of documents, except where it says otherwise. */
export interface IngestReport {
  readonly added: number
  readonly replaced: number
  readonly unchanged: number
  readonly removed: number
  /** Of those added and replaced, the ones of which a part could not be read: `faults` of each says what. */
  readonly faulty: number
  /** Passages written. */
  readonly passages: number
  readonly failed: ReadonlyArray<IngestFailure>
}

/** Progress of an ingest. A `document` event comes when it is on disk; `done` is the last event. */
export type IngestEvent =
  /** How many files there are to look at; not known for a stream of uploads. */
  | { readonly type: "found"; readonly files: number }
  | {
      readonly type: "document"
      readonly path: string
      /** 32 hexadecimal digits; absent for files that failed. */
      readonly id?: string
      readonly status: Exclude<IngestStatus, "failed">
      readonly passages: number
      /** Pages and pictures of it that could not be read; absent where all was. */
      readonly faults?: ReadonlyArray<ReadFault>
    }
  | {
      readonly type: "document"
      readonly path: string
      readonly status: "failed"
      readonly passages: 0
      readonly error: RagError
    }
  /** One commit is on disk; a crash loses nothing before it. */
  | { readonly type: "committed"; readonly documents: number; readonly passages: number }
  | { readonly type: "done"; readonly report: IngestReport }
