/** Creating the data folder. */
import { Effect, FileSystem, Path } from "effect"

const isFolder = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const found = yield* Effect.option(fs.stat(path))
    return found._tag === "Some" && found.value.type === "Directory"
  })

/**
 * Creates a folder and its missing parents, readable only by their owner. An existing folder is not changed.
 *
 * One level at a time, because Node's recursive `mkdir` never returns on file systems such as `/proc` that reject new
 * folders with ENOENT.
 */
export const makePrivateFolder = Effect.fn("DataFolder.make")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const target = path.resolve(folder)
  const missing: Array<string> = []
  for (let at = target; at !== path.dirname(at); at = path.dirname(at)) {
    if ((yield* Effect.option(fs.stat(at)))._tag === "Some") break
    missing.unshift(at)
  }
  // Something that is not a folder: `mkdir` gives the operating system's error.
  if (missing.length === 0 && !(yield* isFolder(target))) missing.push(target)
  for (const at of missing) {
    yield* Effect.catchTag(fs.makeDirectory(at, { mode: 0o700 }), "PlatformError", (error) =>
      // Another process may have created it meanwhile.
      Effect.flatMap(isFolder(at), (exists) => (exists ? Effect.void : Effect.fail(error)))
    )
  }
})
