/** Where libraries are: the owner's in `library`, other users' in `libraries/<id>`, of the folder or store of documents. */
import { Effect, FileSystem, Option, Path } from "effect"
import { SqlClient } from "effect/sql"
import { OWNER } from "../accounts/Owner.ts"
import { isStoreAddress } from "../config/DocumentStore.ts"
import { ServerConfig } from "../config/ServerConfig.ts"

/** The folder or address of a user's library. LanceDB Enterprise has no folders: each user has a database there. */
export const libraryOf = (
  { documents }: Pick<ServerConfig["Service"], "documents">,
  user: string
): string => {
  const id = encodeURIComponent(user)
  if (documents.startsWith("db://")) return user === OWNER ? documents : `${documents}-${id}`
  return `${documents}/${user === OWNER ? "library" : `libraries/${id}`}`
}

/** The users of a remote store are those of the accounts; without a database, only the owner is known. */
const remoteUsers = Effect.gen(function* () {
  const sql = yield* Effect.serviceOption(SqlClient.SqlClient)
  if (Option.isNone(sql)) return [OWNER]
  const rows = yield* sql.value<{ readonly id: string }>`SELECT id FROM users ORDER BY id`
  return [OWNER, ...rows.map(({ id }) => id).filter((id) => id !== OWNER)]
})

/** The libraries of all users that exist in a folder; of a remote store, those of all users. */
export const libraryFolders = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const settings = yield* ServerConfig
  const { documents } = settings
  if (isStoreAddress(documents)) {
    const users = yield* Effect.orElseSucceed(remoteUsers, () => [OWNER])
    return users.map((user) => ({ user, folder: libraryOf(settings, user) }))
  }
  const others = yield* Effect.orElseSucceed(fs.readDirectory(path.join(documents, "libraries")), () => [])
  const owners = { user: OWNER, folder: path.join(documents, "library") }
  const all = [owners, ...others.map((user) => ({ user, folder: path.join(documents, "libraries", user) }))]
  return yield* Effect.filter(all, ({ folder }) => Effect.orElseSucceed(fs.exists(folder), () => false))
})
