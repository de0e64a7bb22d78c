/** What can be ingested, and the files that a source gives. */
import { Context, Effect, type Stream } from "effect"
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
  /** An absolute URL. Absent keeps the document's present one. */
  readonly url?: string | undefined
  /** Of a synced source: a file whose stored version is the same is not read. It stands for bytes, metadata and URL. */
  readonly version?: string | undefined
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
export type IngestSource<E = RagError> =
  | string
  | FolderSource
  | { readonly files: Iterable<Upload> | Stream.Stream<Upload, E> }

export interface IngestFailure {
  readonly path: string
  readonly error: RagError
}

/** Bytes of the document that a file replaces, while the file is read; 0 if it is new. */
export const ReplacedBytes = Context.Reference<number>("@sluice/rag/ReplacedBytes", { defaultValue: () => 0 })

/** Called with the path of each file once it is parsed, unchanged or has failed. Its embeddings and its commit follow. */
export const OnParsed = Context.Reference<(path: string) => void>("@sluice/rag/OnParsed", {
  defaultValue: () => () => undefined
})

/**
 * Checks each parsed document before it is stored. A failure is that of its file.
 *
 * **Details.** `bytes` is what its passages and attachments take beyond the file, less those of the document it replaces;
 * negative if it takes less.
 */
export const AdmitParsed = Context.Reference<(path: string, bytes: number) => Effect.Effect<void, RagError>>(
  "@sluice/rag/AdmitParsed",
  { defaultValue: () => () => Effect.void }
)

/** A file that may have to be written. */
export interface SourceFile {
  readonly path: string
  /** As `StoredDocument.source`. */
  readonly source: string
  /** If the path does not say it. */
  readonly format?: string | undefined
  /** Its source no longer has it: its document is removed, if the source is still the same. Nothing is read. */
  readonly removed?: boolean | undefined
  /** If it is the stored one, the file is not read. */
  readonly version?: string | undefined
  /** What it holds in memory before it is read. */
  readonly bytes?: number | undefined
  readonly read: Effect.Effect<Uint8Array, RagError>
  /** Undefined keeps the document's present metadata. */
  readonly metadata: Effect.Effect<Metadata | undefined, RagError>
  /** Undefined keeps the document's present URL. */
  readonly url?: Effect.Effect<string | undefined, RagError> | undefined
  /** Reads pictures that the file links to. */
  readonly picture?: PictureFile | undefined
  /** The stored result of an earlier parse, if it is to be used instead of parsing again. */
  readonly parsed?: Effect.Effect<Parsed | undefined, RagError> | undefined
  /** The pictures that `parsed` was made with. */
  readonly pictures?: ReadonlyArray<LinkedPicture> | undefined
}

/** How a source is recorded with its documents. No folder has such a path. */
export const sourceName = (name: string): string => (name === "" ? "" : `source:${name}`)

/** Whether a stored source is a folder. The others have no files to look at. */
export const isFolderSource = (source: string): boolean => source !== "" && !source.startsWith("source:")

export const byId = (documents: ReadonlyArray<StoredDocument>): Map<string, StoredDocument> =>
  new Map(documents.map((stored) => [stored.info.id, stored]))
