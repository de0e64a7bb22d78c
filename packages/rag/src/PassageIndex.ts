/** What a store must do for a library. `LanceIndex` does it; a user's own is one Layer. */
import { Context, type Effect } from "effect"
import type { DocumentInfo, Passage, StoredPassage } from "./Document.ts"
import type { Manifest } from "./Manifest.ts"
import type { RagError } from "./RagError.ts"

/** A passage ready to be stored. Without a vector it is kept but never recalled: a text without any word has none. */
export interface IndexedPassage {
  readonly passage: Passage
  /** SHA-256 of what was embedded, hexadecimal. */
  readonly hash: string
  readonly vector: Float32Array | undefined
}

/** A document as the store knows it. */
export interface StoredDocument {
  readonly info: DocumentInfo
  /** Where it came from: the absolute path of the folder that was ingested, or empty for uploads. */
  readonly source: string
  /** False when its passages are not those that its row announces: it must be written again. */
  readonly whole: boolean
}

/** A document ready to be stored, whole. */
export interface IndexedDocument {
  readonly info: DocumentInfo
  readonly source: string
  /** The file, byte for byte. */
  readonly original: Uint8Array
  readonly passages: ReadonlyArray<IndexedPassage>
  /** What the writer saw under the same identifier, when it saw something. */
  readonly replaces: StoredDocument | undefined
}

/** A recalled passage. `similarity` is the cosine, -1 to 1. */
export interface Hit {
  readonly passage: StoredPassage
  readonly similarity: number
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
  /** The passages nearest to a vector of norm 1, most similar first. */
  readonly search: (vector: Float32Array, limit: number) => Effect.Effect<ReadonlyArray<Hit>, RagError>
  readonly documents: Effect.Effect<ReadonlyArray<DocumentInfo>, RagError>
  /** All documents with what a writer needs to know of them: their source, and whether they are whole. */
  readonly inventory: Effect.Effect<ReadonlyArray<StoredDocument>, RagError>
  readonly document: (id: string) => Effect.Effect<StoredDocument | undefined, RagError>
  /** The bytes that were stored for a file, by their SHA-256; undefined when there are none. */
  readonly original: (sha256: string) => Effect.Effect<Uint8Array | undefined, RagError>
  readonly passageCount: Effect.Effect<number, RagError>
  /** Called at the end of an ingest: indexes what was written where that makes the search faster. */
  readonly settle: Effect.Effect<void, RagError>
  /** Compacts, indexes anew, and drops what nothing has referred to for a day. */
  readonly maintain: Effect.Effect<void, RagError>
}

/** A collection that is being filled to take the place of another. Nobody sees it before `publish`. */
export interface Replacement {
  /** The collection as it is now; undefined when there is none. It may have another manifest. */
  readonly current: Collection | undefined
  readonly next: Collection
  /** Makes `next` the collection of that name, at once for everybody who opens it. */
  readonly publish: Effect.Effect<void, RagError>
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
    readonly vectors: (model: string, dimension: number) => Effect.Effect<VectorCache, RagError>
  }
>()("@sluice/rag/PassageIndex") {}
