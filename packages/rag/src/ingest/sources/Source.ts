/** What can be ingested, and the files that a source gives. */
import type { Effect, Stream } from "effect"
import type { LinkedPicture, Metadata, Parsed } from "../../document/Document.ts"
import type { RagError } from "../../document/RagError.ts"
import type { PictureFile } from "../../formats/parsing/Pictures.ts"
import type { StoredDocument } from "../../store/PassageIndex.ts"

/**
 * A file in memory. `path` identifies the document: relative, with `/`, without empty parts, `.` and `..`. Other paths
 * are reported as failed.
 */
export interface Upload {
  readonly path: string
  readonly bytes: Uint8Array
  /** JSON values to filter by, at most `METADATA_BYTES`. Absent keeps the document's present metadata; `{}` clears it. */
  readonly metadata?: Metadata | undefined
}

/** A folder or one file. `metadata` is called with each path: relative, with `/`. */
export interface FolderSource {
  readonly folder: string
  readonly metadata?: ((path: string) => Metadata | undefined) | undefined
}

/**
 * What to ingest: the path of a folder or of one file, or files in memory.
 *
 * **Details.** Of a folder, all files below it are ingested except hidden files and the tables of libraries, and
 * documents whose files were deleted are removed. Single files and uploads only add and replace. If only the metadata
 * changed, a document counts as replaced and is not embedded again.
 */
export type IngestSource =
  | string
  | FolderSource
  | { readonly files: Iterable<Upload> | Stream.Stream<Upload, RagError> }

export interface IngestFailure {
  readonly path: string
  readonly error: RagError
}

/** A file that may have to be written. */
export interface SourceFile {
  readonly path: string
  /** Absolute path of the ingested folder; empty for uploads. */
  readonly source: string
  readonly read: Effect.Effect<Uint8Array, RagError>
  /** Undefined keeps the document's present metadata. */
  readonly metadata: Effect.Effect<Metadata | undefined, RagError>
  /** Reads pictures that the file links to. */
  readonly picture?: PictureFile | undefined
  /** The stored result of an earlier parse, if it is to be used instead of parsing again. */
  readonly parsed?: Effect.Effect<Parsed | undefined, RagError> | undefined
  /** The pictures that `parsed` was made with. */
  readonly pictures?: ReadonlyArray<LinkedPicture> | undefined
}

export const byId = (documents: ReadonlyArray<StoredDocument>): Map<string, StoredDocument> =>
  new Map(documents.map((stored) => [stored.info.id, stored]))
