/** The accounts' database in the data folder: opened, brought up to date, and what an earlier version left taken over. */
import { Effect, FileSystem, Layer, Path } from "effect"
import { type Migrator, SqlClient, type SqlError } from "effect/sql"
import { ServerConfig } from "../Config.ts"
import * as NodeSqlite from "../sql/NodeSqlite.ts"
import { dataFolderError, StartError } from "../StartError.ts"
import { markMoved, newerVersion, openDataFolder } from "./AccountsFile.ts"
import { migrate } from "./Migrations.ts"
import { addOwner } from "./Owner.ts"

const startError =
  (folder: string) =>
  (error: SqlError.SqlError | Migrator.MigrationError): StartError => {
    const { message, cause } = "reason" in error ? error.reason : error
    const told = cause instanceof Error ? cause.message : describe(cause)
    return new StartError({
      message:
        "reason" in error && error.reason._tag === "LockTimeoutError"
          ? `The data folder ${folder} is in use by another server: stop that one, or set SLUICE_DATA to another folder`
          : `The accounts in ${folder} cannot be opened (${message ?? ""}${told}): mend accounts.db, or set SLUICE_DATA to another folder`
    })
  }

const describe = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "message" in cause ? `: ${String(cause.message)}` : ""

/** A file that only its owner reads. */
const touch = Effect.fnUntraced(function* (file: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    fs.writeFile(file, new Uint8Array(), { flag: "a", mode: 0o600 }),
    dataFolderError(folder)
  )
})

/**
 * The client of `accounts.db`.
 *
 * **Details.** A data folder of a newer version, one that another server uses, and one that cannot be written are
 * `StartError`s. A data folder of version 1 keeps its key, its token and its sessions.
 */
export const DatabaseLayer = Layer.unwrap(
  Effect.gen(function* () {
    const { data } = yield* ServerConfig
    const path = yield* Path.Path
    const legacy = yield* openDataFolder(data)
    const file = path.join(data, "accounts.db")
    yield* touch(file, data)
    const prepare = Effect.gen(function* () {
      if ((yield* migrate).isNewer) return yield* newerVersion(data)
      if (legacy === undefined) return
      yield* addOwner(legacy)
      yield* Effect.mapError(markMoved(data), dataFolderError(data))
    })
    return Layer.effectDiscard(prepare).pipe(
      Layer.provideMerge(NodeSqlite.layer(file)),
      Layer.catchTag(["SqlError", "MigrationError"], (error) =>
        Layer.effect(SqlClient.SqlClient, Effect.fail(startError(data)(error)))
      )
    )
  })
)
