/** Creating the data folder. */
import { Effect, FileSystem, Path, type PlatformError } from "effect"

const isFolder = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const found = yield* Effect.option(fs.stat(path))
    return found._tag === "Some" && found.value.type === "Directory"
  })

/**
 * Creates a folder, given by its absolute path, and its missing parents, readable only by their owner. An existing folder is not changed.
 *
 * One level at a time, because Node's recursive `mkdir` never returns on file systems such as `/proc` that reject new
 * folders with ENOENT.
 */
export const makePrivateFolder = (
  folder: string
): Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    if (yield* isFolder(folder)) return
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const parent = path.dirname(folder)
    if (parent !== folder) yield* makePrivateFolder(parent)
    // Another process may have created it meanwhile.
    yield* fs
      .makeDirectory(folder, { mode: 0o700 })
      .pipe(
        Effect.catch((error) =>
          Effect.flatMap(isFolder(folder), (exists) => (exists ? Effect.void : Effect.fail(error)))
        )
      )
  })
