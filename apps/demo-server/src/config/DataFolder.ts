/** Folders of the data folder. */
import { Effect, FileSystem, Path } from "effect"

/**
 * Makes a folder, and those above it, that only their owner reads; one that is there stays as it is.
 *
 * Step by step: where a file system takes no folders and says that there is no such path, as `/proc` does, Node's own
 * recursion never ends.
 */
export const makeFolder = Effect.fn("DataFolder.make")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const make = (folder: string) => fs.makeDirectory(folder, { mode: 0o700 })
  const missing: Array<string> = []
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const found = yield* Effect.option(fs.stat(at))
    if (found._tag === "Some" || at === path.dirname(at)) break
    missing.unshift(at)
  }
  const last = path.resolve(folder)
  if (missing.length === 0) {
    // What is there and no folder is refused in the operating system's words.
    if ((yield* fs.stat(last)).type !== "Directory") yield* make(last)
    return
  }
  for (const at of missing) {
    yield* Effect.catchTag(make(at), "PlatformError", (error) =>
      // Made meanwhile by another.
      Effect.flatMap(Effect.option(fs.stat(at)), (found) =>
        found._tag === "Some" && found.value.type === "Directory" ? Effect.void : Effect.fail(error)
      )
    )
  }
})
