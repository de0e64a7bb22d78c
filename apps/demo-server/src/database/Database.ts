/** The accounts' database: opened, brought up to date, and what an earlier version left in the data folder taken over. */
import { Effect, FileSystem, Layer, Path, type Redacted } from "effect"
import type { Migrator, SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import * as NodeSqlite from "../sql/NodeSqlite.ts"
import * as Postgres from "../sql/Postgres.ts"
import { dataFolderError, StartError } from "../config/StartError.ts"
import { markMoved, newerVersion, openDataFolder } from "../accounts/AccountsFile.ts"
import { migrate } from "./Migrations.ts"
import { addOwner } from "../accounts/Owner.ts"

type Fault = SqlError.SqlError | Migrator.MigrationError

/** What went wrong, in the database's own words. */
const told = (error: Fault): string => {
  const { message, cause } = "reason" in error ? error.reason : error
  const why = typeof cause === "object" && cause !== null && "message" in cause ? String(cause.message) : ""
  return [message ?? "", why].filter((words) => words !== "").join(": ")
}

const fileError =
  (folder: string) =>
  (error: Fault): StartError =>
    new StartError({
      message:
        "reason" in error && error.reason._tag === "LockTimeoutError"
          ? `The data folder ${folder} is in use by another server: stop that one, or set SLUICE_DATA to another folder`
          : `The accounts in ${folder} cannot be opened (${told(error)}): mend accounts.db, or set SLUICE_DATA to another folder`
    })

const postgresError = (error: Fault | Postgres.PostgresMissing): StartError =>
  new StartError({
    message:
      error._tag === "PostgresMissing"
        ? `SLUICE_DATABASE_URL is set: ${error.message}`
        : `The accounts in the database of SLUICE_DATABASE_URL cannot be opened (${told(error)}): start it, or set the variable to where it is`
  })

/** A file that only its owner reads. */
const touch = Effect.fnUntraced(function* (file: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    fs.writeFile(file, new Uint8Array(), { flag: "a", mode: 0o600 }),
    dataFolderError(folder)
  )
})

/** Versions before group commits wrote settlements beside the file first, and removed them on a clean stop. */
const refuseNotes = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const notes = `${file}-noted`
  const size = yield* Effect.orElseSucceed(
    Effect.map(fs.stat(notes), (found) => Number(found.size)),
    () => 0
  )
  if (size === 0) return
  return yield* new StartError({
    message: `${notes} holds charges that the version of Sluice before this one had not committed when it was killed: start and stop that version once, or delete the file to leave these charges out`
  })
})

const inFile = Effect.fnUntraced(function* (data: string, synchronous: NodeSqlite.Synchronous) {
  const path = yield* Path.Path
  const legacy = yield* openDataFolder(data)
  const file = path.join(data, "accounts.db")
  yield* touch(file, data)
  const prepare = Effect.gen(function* () {
    if ((yield* migrate).isNewer) return yield* newerVersion(data)
    yield* refuseNotes(file)
    if (legacy === undefined) return
    yield* addOwner(legacy)
    yield* Effect.mapError(markMoved(data), dataFolderError(data))
  })
  return Layer.effectDiscard(prepare).pipe(
    Layer.provideMerge(NodeSqlite.layer(file, synchronous)),
    Layer.catchTag(["SqlError", "MigrationError"], (error) =>
      Layer.effectContext(Effect.fail(fileError(data)(error)))
    )
  )
})

const inPostgres = Effect.fnUntraced(function* (url: Redacted.Redacted, data: string) {
  const path = yield* Path.Path
  // What is there of accounts stays as it is: this database has its own.
  yield* openDataFolder(data)
  // Documents and what is made are in the folder all the same: one server at a time.
  const lock = path.join(data, "in-use.db")
  yield* touch(lock, data)
  yield* Effect.mapError(Layer.build(NodeSqlite.layer(lock)), fileError(data))
  const prepare = Effect.gen(function* () {
    if ((yield* migrate).isNewer) {
      return yield* new StartError({
        message:
          "The database of SLUICE_DATABASE_URL was made by a newer version of Sluice: update, or set the variable to another"
      })
    }
  })
  return Layer.effectDiscard(prepare).pipe(
    Layer.provideMerge(Postgres.layer(url)),
    Layer.catchTag(["SqlError", "MigrationError", "PostgresMissing"], (error) =>
      Layer.effectContext(Effect.fail(postgresError(error)))
    )
  )
})

/**
 * The client of the accounts: of `accounts.db` in the data folder, or of the PostgreSQL that is configured.
 *
 * **Details.** What a newer version made, a data folder that another server uses or that cannot be written, and a
 * database that is not there are `StartError`s. A data folder of version 1 keeps its key, its token and its sessions.
 * One PostgreSQL serves several servers, each on a data folder of its own.
 */
export const DatabaseLayer = Layer.unwrap(
  Effect.flatMap(ServerConfig, ({ data, database, synchronous }) =>
    database === undefined ? inFile(data, synchronous) : inPostgres(database, data)
  )
)
