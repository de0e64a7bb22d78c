/** What a store must do for a library. `LanceIndex` does it; a user's own is one Layer. */
import { Context, type Duration, type Effect } from "effect"
import type { DocumentInfo, Passage, PictureBeside, StoredPassage } from "../document/Document.ts"
import type { Filter } from "../document/Filter.ts"
import type { Manifest } from "./Manifest.ts"
import type { RagError } from "../document/RagError.ts"

/** A passage ready to be stored. Without a vector it is kept but never recalled: a text without any word has none. */
export interface IndexedPassage {
  readonly passage: Passage
  /** SHA-256 of what was embedded, hexadecimal. */
  readonly hash: string
  readonly vector: Float32Array | undefined
  /** What keywords are looked up in: the passage with its structure. */
  readonly search: string
}

/** A document as the store knows it. */
export interface StoredDocument {
  readonly info: DocumentInfo
  /** Where it came from: the absolute path of the folder that was ingested, or empty for uploads. */
  readonly source: string
  /** False when its passages are not those that its row announces: it must be written again. */
  readonly whole: boolean
  /** SHA-256 of the stored reading (the `Parsed` that its passages were made from), where it was stored. */
  readonly reading?: string | undefined
  /** SHA-256 of the files that belong to it besides its original. */
  readonly attachments?: ReadonlyArray<string> | undefined
  /** The pictures beside it that it was read with; undefined where it cannot have any, and for uploads. */
  readonly pictures?: ReadonlyArray<PictureBeside> | undefined
}

/** A document ready to be stored, whole. */
export interface IndexedDocument {
  readonly info: DocumentInfo
  readonly source: string
  /** The file, byte for byte. */
  readonly original: Uint8Array
  /** Crops of figures and the reading, by the SHA-256 of their bytes; kept as long as the document is. */
  readonly attachments: ReadonlyMap<string, Uint8Array>
  readonly reading?: string | undefined
  readonly pictures?: ReadonlyArray<PictureBeside> | undefined
  readonly passages: ReadonlyArray<IndexedPassage>
  /** What the writer saw under the same identifier, when it saw something. */
  readonly replaces: StoredDocument | undefined
}

/** What is searched for: by a vector, by keywords, or by both side by side. */
export interface SearchQuery {
  /** Of norm 1. */
  readonly vector?: Float32Array | undefined
  readonly words?: string | undefined
  /** Passages of each of the two ways at most. */
  readonly limit: number
  readonly filter?: Filter | undefined
  /** Whether the hits shall carry their vectors. */
  readonly vectors?: boolean | undefined
}

/** A recalled passage, found by its vector, by keywords, or by both. Ranks count from 1. */
export interface Hit {
  readonly passage: StoredPassage
  /** The cosine, -1 to 1, where the vector found it. */
  readonly similarity?: number | undefined
  readonly vectorRank?: number | undefined
  /** BM25, above 0, where keywords found it. */
  readonly keywordScore?: number | undefined
  readonly keywordRank?: number | undefined
  readonly vector?: Float32Array | undefined
}

/** Documents and passages that are recalled together, made with one manifest. */
export interface Collection {
  readonly name: string
  readonly manifest: Manifest
  /**
   * Writes whole documents: all of them, or none when it fails. What a document had before is gone.
   *
   * **Gotchas.** Identifiers must be unique within one call. Writing the same documents again changes nothing.
   */
  readonly commit: (documents: ReadonlyArray<IndexedDocument>) => Effect.Effect<void, RagError>
  /** Records that unchanged documents now come from elsewhere: their `source` is written, nothing else. */
  readonly adopt: (documents: ReadonlyArray<StoredDocument>) => Effect.Effect<void, RagError>
  /** Removes documents and all that belongs to them. Unknown identifiers are no error. */
  readonly remove: (ids: ReadonlyArray<string>) => Effect.Effect<void, RagError>
  /** The passages found by the vector, most similar first, then those that only keywords found, best first. */
  readonly search: (query: SearchQuery) => Effect.Effect<ReadonlyArray<Hit>, RagError>
  /** The passages of a document, in order. */
  readonly passages: (document: string) => Effect.Effect<ReadonlyArray<StoredPassage>, RagError>
  readonly documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  /** All documents with what a writer needs to know of them: their source, and whether they are whole. */
  readonly inventory: Effect.Effect<ReadonlyArray<StoredDocument>, RagError>
  readonly document: (id: string) => Effect.Effect<StoredDocument | undefined, RagError>
  /** The bytes that were stored for a file or an attachment, by their SHA-256; undefined when there are none. */
  readonly original: (sha256: string) => Effect.Effect<Uint8Array | undefined, RagError>
  readonly passageCount: Effect.Effect<number, RagError>
  /** How passages are found by their vectors, and how well. */
  readonly stats: Effect.Effect<IndexStats, RagError>
  /** Called at the end of an ingest: indexes what was written where that makes the search faster. */
  readonly settle: Effect.Effect<void, RagError>
  /** Compacts, indexes anew, and drops what nothing has referred to for a day. */
  readonly maintain: Effect.Effect<void, RagError>
}

/** How a collection is searched. Passages that are not in an index are searched all the same, one by one. */
export interface IndexStats {
  /** `exact` while all vectors are compared; else the kind of the index, such as `IVF_RQ`. */
  readonly kind: string
  /** Passages whose vectors are compared one by one at each search. */
  readonly unindexed: number
  /** Passages whose texts are read at each search for keywords. */
  readonly unindexedTexts: number
  /** recall@20 against an exact search, 0 to 1, once it was measured: the share of the 20 nearest that are found. */
  readonly recall?: number
  /** So many more passages than asked for are compared exactly: the least that reached the recall. */
  readonly extra?: number
  /** How many passages there were when it was measured, and by how many of them. */
  readonly measuredAt?: number
  readonly measuredWith?: number
}

/** A collection as it was at a moment, by a name. It is kept until it is dropped, whatever comes after. */
export interface Snapshot {
  readonly name: string
  /** When it was made, in milliseconds since 1970. */
  readonly made: number
  readonly manifest: Manifest
}

/** What `maintain` leaves of the past. A version is dropped when it is older than both say, and no snapshot needs it. */
export interface Retention {
  /** Default one hour; at least ten minutes, for those that are reading now. */
  readonly keepFor?: Duration.Input
  /** The newest so many versions. Default 1. */
  readonly keepVersions?: number
}

/** A collection that is being filled to take the place of another. Nobody sees it before `publish`. */
export interface Replacement {
  /** The collection as it is now; undefined when there is none. It may have another manifest. */
  readonly current: Collection | undefined
  readonly next: Collection
  /**
   * Makes `next` the collection of that name, at once for everybody who opens it, after `last`: the place to bring over
   * what was written until then. False when somebody wrote meanwhile who was not made to wait: nothing changed, try again.
   * Fails with `Stale` when the name stands for another table than `current` by now.
   *
   * **Gotchas.** Who writes to `current` during `last` is answered when the name has moved, with `Stale`, or has not: what
   * was acknowledged is in `current` when `last` begins. `last` should be short.
   */
  readonly publish: (last: Effect.Effect<void, RagError>) => Effect.Effect<boolean, RagError>
}

/** Vectors that were paid for, by the SHA-256 of model, purpose and text. */
export interface VectorCache {
  readonly get: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Float32Array>, RagError>
  readonly put: (entries: ReadonlyMap<string, Float32Array>) => Effect.Effect<void, RagError>
}

/** A store of collections. */
export class PassageIndex extends Context.Service<
  PassageIndex,
  {
    /** Opens a collection, making it where there is none. Fails with `ManifestMismatch` or `NewerVersion`. */
    readonly open: (name: string, manifest: Manifest) => Effect.Effect<Collection, RagError>
    readonly replace: (name: string, manifest: Manifest) => Effect.Effect<Replacement, RagError>
    /** Keeps the collection as it is now under a name, which may be any text; one of that name is replaced. */
    readonly tag: (name: string, snapshot: string) => Effect.Effect<Snapshot, RagError>
    /** A collection's snapshots, oldest first. */
    readonly tags: (name: string) => Effect.Effect<ReadonlyArray<Snapshot>, RagError>
    /** Forgets a snapshot; `maintain` may then drop what only it kept. Fails with `NotFound`. */
    readonly untag: (name: string, snapshot: string) => Effect.Effect<void, RagError>
    /** The collection as it was, to be read only. Fails with `NotFound` or `ManifestMismatch`. */
    readonly checkout: (
      name: string,
      snapshot: string,
      manifest: Manifest
    ) => Effect.Effect<Collection, RagError>
    /** Makes the collection what it was. Fails with `NotFound` or `ManifestMismatch`. */
    readonly restore: (name: string, snapshot: string, manifest: Manifest) => Effect.Effect<void, RagError>
    /**
     * Removes a collection, its snapshots, and what only they kept. Fails with `NotFound`.
     *
     * **Gotchas.** What reads or writes it at that moment fails with `Store`. A handle that `open` gave is of no use
     * afterwards; `open` makes a new, empty one of that name. Originals that nothing else names go after a day.
     */
    readonly drop: (name: string) => Effect.Effect<void, RagError>
    /** The names of the collections that there are, sorted. */
    readonly collections: Effect.Effect<ReadonlyArray<string>, RagError>
    readonly vectors: (model: string, dimension: number) => Effect.Effect<VectorCache, RagError>
  }
>()("@sluice/rag/PassageIndex") {}
