/** The folders of all users' libraries that exist. */
import { Effect, FileSystem, Path } from "effect"
import { OWNER } from "../accounts/Owner.ts"
import { ServerConfig } from "../config/ServerConfig.ts"

export const libraryFolders = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { data } = yield* ServerConfig
  const others = yield* Effect.orElseSucceed(fs.readDirectory(path.join(data, "libraries")), () => [])
  const owners = { user: OWNER, folder: path.join(data, "library") }
  const all = [owners, ...others.map((user) => ({ user, folder: path.join(data, "libraries", user) }))]
  return yield* Effect.filter(all, ({ folder }) => Effect.orElseSucceed(fs.exists(folder), () => false))
})
