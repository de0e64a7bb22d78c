/** Files beside the libraries, by name: in a folder, or in a table of the store of documents. */
import type { RagError } from "@sluice/rag"
import { type FileStore, LanceIndex } from "@sluice/rag/store"
import { Effect, FileSystem, Path, type PlatformError, Stream } from "effect"
import { writePrivately } from "../config/PrivateFile.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { makeLazy } from "../libraries/LazyResource.ts"
import { isStoreAddress, storeOptions } from "../config/DocumentStore.ts"

type Fault = RagError | PlatformError.PlatformError

export interface StoredFile {
  readonly bytes: number
  readonly read: Effect.Effect<Uint8Array, Fault>
  readonly stream: Stream.Stream<Uint8Array, Fault>
}

export interface NamedFiles {
  readonly put: (name: string, bytes: Uint8Array) => Effect.Effect<void, Fault>
  readonly find: (name: string) => Effect.Effect<StoredFile | undefined>
  readonly remove: (names: ReadonlyArray<string>) => Effect.Effect<void, Fault>
  readonly names: Effect.Effect<ReadonlyArray<string>, Fault>
  /** Called after files were removed. */
  readonly maintain: Effect.Effect<void, Fault>
}

const inFolder = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const list = Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  // Files that an earlier run wrote only partly.
  for (const name of yield* list)
    if (name.endsWith(".new")) yield* Effect.ignore(fs.remove(path.join(folder, name)))
  const store: NamedFiles = {
    put: (name, bytes) =>
      Effect.provideService(writePrivately(path.join(folder, name), bytes), FileSystem.FileSystem, fs),
    find: (name) => {
      const file = path.join(folder, name)
      return fs.stat(file).pipe(
        Effect.map(({ size }) => ({
          bytes: Number(size),
          read: fs.readFile(file),
          stream: fs.stream(file)
        })),
        Effect.orElseSucceed(() => undefined)
      )
    },
    remove: (names) =>
      Effect.forEach(names, (name) => Effect.ignore(fs.remove(path.join(folder, name))), { discard: true }),
    names: list,
    maintain: Effect.void
  }
  return store
})

/** The store is opened at its first use: a server starts while it cannot be reached. */
const inStore = Effect.fnUntraced(function* (address: string) {
  const options = storeOptions(yield* ServerConfig)
  const opened = yield* makeLazy(LanceIndex.files(address, options))
  const use = <A>(run: (files: FileStore) => Effect.Effect<A, RagError>) => Effect.flatMap(opened.get, run)
  const store: NamedFiles = {
    put: (name, bytes) => use((files) => files.put(new Map([[name, bytes]]))),
    find: (name) =>
      use((files) => files.get(name)).pipe(
        Effect.tapError(({ message }) => Effect.logWarning(`A media file could not be read: ${message}`)),
        Effect.orElseSucceed(() => undefined),
        Effect.map(
          (bytes) =>
            bytes && { bytes: bytes.length, read: Effect.succeed(bytes), stream: Stream.succeed(bytes) }
        )
      ),
    remove: (names) => use((files) => files.remove(names)),
    names: use((files) => files.names),
    maintain: use((files) => files.maintain)
  }
  return store
})

/**
 * The files in `place`, such as `media/files`, of the folder or store of documents.
 *
 * **Gotchas.** On LanceDB Enterprise, a table of files is not tried: they stay in the data folder.
 */
export const makeNamedFiles = Effect.fnUntraced(function* (place: string) {
  const { data, documents } = yield* ServerConfig
  return isStoreAddress(documents) && !documents.startsWith("db://")
    ? yield* inStore(`${documents}/${place}`)
    : yield* inFolder(`${isStoreAddress(documents) ? data : documents}/${place}`)
})
