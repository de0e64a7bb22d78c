/** The data folder, before its database is opened. */
import { Effect, FileSystem, Path, type PlatformError } from "effect"
import { dataFolderError, StartError } from "../config/StartError.ts"

/** In a data folder that is being restored. Until it is removed, files of two states may be mixed. */
export const RESTORING = ".restoring"

/**
 * Creates a folder, given by its absolute path, and its missing parents, readable only by their owner.
 *
 * One level at a time, because Node's recursive `mkdir` never returns on file systems such as `/proc` that reject new
 * folders with ENOENT.
 */
const makePrivateFolder = (
  folder: string
): Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const isFolder = fs.stat(folder).pipe(
      Effect.map(({ type }) => type === "Directory"),
      Effect.orElseSucceed(() => false)
    )
    if (yield* isFolder) return
    const parent = path.dirname(folder)
    if (parent !== folder) yield* makePrivateFolder(parent)
    // Another process may have created it meanwhile.
    yield* fs
      .makeDirectory(folder, { mode: 0o700 })
      .pipe(
        Effect.catch((error) =>
          Effect.flatMap(isFolder, (exists) => (exists ? Effect.void : Effect.fail(error)))
        )
      )
  })

/** Opens or creates the data folder. */
export const openDataFolder = Effect.fn("DataFolder.open")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const isRestoring = Effect.andThen(makePrivateFolder(folder), fs.exists(path.join(folder, RESTORING)))
  if (yield* Effect.mapError(isRestoring, dataFolderError(folder)))
    return yield* new StartError({
      message: `The data folder ${folder} is being restored, or its restore was interrupted. Wait for it, or run \`sluice restore BACKUP --replace\` again`
    })
})
