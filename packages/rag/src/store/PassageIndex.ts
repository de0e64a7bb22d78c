/** The store of a library, as a service. `LanceIndex` implements it; another implementation is one Layer. */
import { Context, type Duration, type Effect } from "effect"
import type { DocumentInfo, Passage, LinkedPicture, StoredPassage } from "../document/Document.ts"
import type { Filter } from "../document/Filter.ts"
import type { Manifest } from "./Manifest.ts"
import type { RagError } from "../document/RagError.ts"

/** A passage to be stored. Without a vector, as for a text without a word, it is stored and never recalled. */
export interface IndexedPassage {
  readonly passage: Passage
  /** SHA-256 of the embedded text, hexadecimal. */
  readonly hash: string
  readonly vector: Float32Array | undefined
  /** The text for keyword search: the passage with its headings. */
  readonly search: string
}

export interface StoredDocument {
  readonly info: DocumentInfo
  /** The absolute path of the ingested folder, `source:` and the name of a synced source, or empty. */
  readonly source: string
  /** False if passages are missing: it must be written again. */
  readonly isComplete: boolean
  /** SHA-256 of the stored `Parsed` that its passages were made from, if stored. */
  readonly reading?: string | undefined
  /** SHA-256 of its files other than the original. */
  readonly attachments?: ReadonlyArray<string> | undefined
  /** The picture files that it was parsed with. Undefined for uploads, and for formats without pictures. */
  readonly pictures?: ReadonlyArray<LinkedPicture> | undefined
  /** The version that its source gave: an ETag, the hash of a Git blob. */
  readonly version?: string | undefined
}

export interface IndexedDocument extends Pick<
  StoredDocument,
  "info" | "source" | "reading" | "pictures" | "version"
> {
  /** The file, byte for byte. */
  readonly original: Uint8Array
  /** Crops of figures and the stored `Parsed`, by the SHA-256 of their bytes. Kept as long as the document. */
  readonly attachments: ReadonlyMap<string, Uint8Array>
  readonly passages: ReadonlyArray<IndexedPassage>
  /** The version that the writer read before, if any. */
  readonly replaces: StoredDocument | undefined
}

/** A search by a vector, by keywords, or by both. */
export interface SearchQuery {
  /** Its norm is 1. */
  readonly vector?: Float32Array | undefined
  readonly words?: string | undefined
  /** The maximum number of passages for each of the two. */
  readonly limit: number
  readonly filter?: Filter | undefined
  /** True to return the vectors of the hits. */
  readonly vectors?: boolean | undefined
}

/** A recalled passage, found by its vector, by keywords, or by both. Ranks count from 1. */
export interface Hit {
  readonly passage: StoredPassage
  /** The cosine, -1 to 1, if the vector found it. */
  readonly similarity?: number | undefined
  readonly vectorRank?: number | undefined
  /** BM25, above 0, if keywords found it. */
  readonly keywordScore?: number | undefined
  readonly keywordRank?: number | undefined
  readonly vector?: Float32Array | undefined
}

/** Documents and passages that are searched together, made with one manifest. */
export interface Collection {
  readonly name: string
  readonly manifest: Manifest
  /**
   * Writes documents, replacing their old versions: all of them, or none if it fails.
   *
   * **Gotchas.** Identifiers must be unique within one call. Writing the same documents again changes nothing.
   */
  readonly commit: (documents: ReadonlyArray<IndexedDocument>) => Effect.Effect<void, RagError>
  /** Records a new `source` of unchanged documents. */
  readonly adopt: (documents: ReadonlyArray<StoredDocument>) => Effect.Effect<void, RagError>
  /** Removes documents with their passages. Unknown identifiers are ignored. */
  readonly remove: (ids: ReadonlyArray<string>) => Effect.Effect<void, RagError>
  /** The passages that the vector found, most similar first, then those that only keywords found, best first. */
  readonly search: (query: SearchQuery) => Effect.Effect<ReadonlyArray<Hit>, RagError>
  /** The passages of a document, in order. */
  readonly passages: (document: string) => Effect.Effect<ReadonlyArray<StoredPassage>, RagError>
  readonly documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  /** All documents with their source and whether they are complete, for a writer of a folder. */
  readonly inventory: Effect.Effect<ReadonlyArray<StoredDocument>, RagError>
  /** The same for some documents. Unknown and damaged ones are left out. */
  readonly stored: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredDocument>, RagError>
  /** The descriptions of some documents. Unknown and damaged ones are left out. */
  readonly infos: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  readonly document: (id: string) => Effect.Effect<StoredDocument | undefined, RagError>
  /**
   * The bytes of an original or an attachment by their SHA-256. Undefined if not stored. Fails if they are damaged;
   * `isHash` is false for descriptions and readings, whose key is not their hash.
   */
  readonly original: (sha256: string, isHash?: boolean) => Effect.Effect<Uint8Array | undefined, RagError>
  /** Stores bytes by keys for `original`. Without a document that has them, `maintain` drops them after a day. */
  readonly keep: (files: ReadonlyMap<string, Uint8Array>) => Effect.Effect<void, RagError>
  /**
   * Bytes of originals and attachments, and 8 KiB for each passage. Counted once, then kept by this process' writes until
   * `maintain`.
   */
  readonly storedBytes: Effect.Effect<number, RagError>
  /** How many documents and passages there are, and the kind and recall of the vector index. */
  readonly stats: Effect.Effect<CollectionStats, RagError>
  /**
   * Called at the end of an ingest: indexes the new passages if that makes searches faster. While the index of an earlier one is
   * compacted or measured, that follows in the background.
   */
  readonly settle: Effect.Effect<void, RagError>
  /** Compacts, builds the indexes again, and drops what nothing has referred to for a day. */
  readonly maintain: Effect.Effect<void, RagError>
}

/** What a collection has, counted at one version. */
export interface CollectionStats {
  readonly documents: number
  readonly passages: number
  readonly index: IndexStats
}

/** How a collection is searched. Passages outside the index are compared one by one. */
export interface IndexStats {
  /** `exact` if all vectors are compared, otherwise the kind of the index, such as `IVF_RQ`. */
  readonly kind: string
  /** Passages whose vectors are compared one by one at each search. */
  readonly unindexed: number
  /** Passages whose texts are read at each search for keywords. */
  readonly unindexedTexts: number
  /** recall@20 relative to an exact search, 0 to 1, once measured. */
  readonly recall?: number
  /** Passages beyond the limit whose exact cosine is computed: the smallest number that reached the recall. */
  readonly extra?: number
  /** The number of passages when it was measured, and how many of them served as questions. */
  readonly measuredAt?: number
  readonly measuredWith?: number
}

/** A collection as it was at one time, under a name. It is kept until it is removed. */
export interface Snapshot {
  readonly name: string
  /** When it was made, in milliseconds since 1970. */
  readonly made: number
  readonly manifest: Manifest
}

/** Which old versions are kept. A version is dropped if it exceeds both limits and no snapshot needs it. */
export interface VersionRetention {
  /**
   * The time since the next version was written: at least ten minutes, because a reader may use the version. By default ten
   * minutes for the newest hundred versions, two for the others.
   */
  readonly keepFor?: Duration.Input
  /** The number of newest versions. Default 1. */
  readonly keepVersions?: number
}

/** A collection that is being filled to replace another. It is not visible before `publish`. */
export interface Replacement {
  /** The present collection, if any. It may have another manifest. */
  readonly current: Collection | undefined
  readonly next: Collection
  /**
   * Makes `next` the collection of that name for all who open it, after `last`, which copies what was written
   * until then. False if another write prevented it: nothing changed, try again. Fails with `Stale` if the name refers to
   * another table than `current` by now.
   *
   * **Gotchas.** A write to `current` during `last` waits until the name has moved, and then fails with `Stale`. A write
   * that was acknowledged before is in `current` when `last` begins. `last` should be short.
   */
  readonly publish: (last: Effect.Effect<void, RagError>) => Effect.Effect<boolean, RagError>
}

/** Embeddings by the SHA-256 of model, purpose and text, so that none is paid for twice. */
export interface VectorCache {
  readonly get: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Float32Array>, RagError>
  readonly put: (entries: ReadonlyMap<string, Float32Array>) => Effect.Effect<void, RagError>
}

export class PassageIndex extends Context.Service<
  PassageIndex,
  {
    /** Opens a collection, or creates it. Fails with `ManifestMismatch` or `NewerVersion`. */
    readonly open: (name: string, manifest: Manifest) => Effect.Effect<Collection, RagError>
    /** A collection as it was made, whatever its manifest: for its counts. Undefined if there is none. */
    readonly existing: (name: string) => Effect.Effect<Collection | undefined, RagError>
    readonly replace: (name: string, manifest: Manifest) => Effect.Effect<Replacement, RagError>
    /** Keeps the collection as it is now under a name, which may be any text. Replaces a snapshot of that name. */
    readonly tag: (name: string, snapshot: string) => Effect.Effect<Snapshot, RagError>
    /** A collection's snapshots, oldest first. */
    readonly tags: (name: string) => Effect.Effect<ReadonlyArray<Snapshot>, RagError>
    /** Removes a snapshot. `maintain` may then drop what only it used. Fails with `NotFound`. */
    readonly untag: (name: string, snapshot: string) => Effect.Effect<void, RagError>
    /** The collection as it was, read-only. Fails with `NotFound` or `ManifestMismatch`. */
    readonly checkout: (
      name: string,
      snapshot: string,
      manifest: Manifest
    ) => Effect.Effect<Collection, RagError>
    /** Restores the collection. Fails with `NotFound` or `ManifestMismatch`. */
    readonly restore: (name: string, snapshot: string, manifest: Manifest) => Effect.Effect<void, RagError>
    /**
     * Removes a collection, its snapshots, and what only they used. Fails with `NotFound`.
     *
     * **Gotchas.** Reads and writes in progress fail with `Store`. Collections opened before cannot be used afterwards;
     * `open` creates a new, empty one. Original files that nothing else refers to are dropped after a day.
     */
    readonly drop: (name: string) => Effect.Effect<void, RagError>
    /** The names of the collections, sorted. */
    readonly collections: Effect.Effect<ReadonlyArray<string>, RagError>
    readonly vectors: (model: string, dimension: number) => Effect.Effect<VectorCache, RagError>
  }
>()("@sluice/rag/PassageIndex") {}
