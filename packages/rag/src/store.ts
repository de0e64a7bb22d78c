/** The index: its service, the layers over LanceDB, collections, snapshots and the vector cache. */
export { documentId } from "./document/Hash.ts"
export { METADATA_BYTES } from "./document/Metadata.ts"
export { storedBytesOf } from "./document/StoredBytes.ts"
export { AdmitParsed, OnParsed, ReplacedBytes } from "./ingest/sources/Source.ts"
export { type FileStore, LanceIndex, type StoreOptions } from "./store/lance/LanceIndex.ts"
export type { LibrarySnapshots } from "./store/LibrarySnapshots.ts"
export { FORMAT, Manifest } from "./store/Manifest.ts"
export * from "./store/PassageIndex.ts"
