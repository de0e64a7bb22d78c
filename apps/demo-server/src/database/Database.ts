/** Opens the accounts' database, and migrates it. */
import { Duration, Effect, FileSystem, Layer, Path, Predicate, type Redacted, Schedule } from "effect"
import type { Migrator, SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { isStoreAddress } from "../config/DocumentStore.ts"
import * as NodeSqlite from "../sql/NodeSqlite.ts"
import * as Postgres from "../sql/Postgres.ts"
import { dataFolderError, fullDisk, StartError } from "../config/StartError.ts"
import { accountFaults } from "./AccountFaults.ts"
import { openDataFolder } from "./DataFolder.ts"
import { migrate } from "./Migrations.ts"
import { SignIn } from "../accounts/SignIn.ts"
import { ApiKeys } from "../accounts/ApiKeys.ts"
import { Invitations } from "../accounts/Invitations.ts"
import { Audit } from "../accounts/Audit.ts"
import { Users } from "../accounts/Users.ts"

/** The accounts in a data folder. */
export const ACCOUNTS = "accounts.db"

/** Marks the data folder as used by a server whose accounts are in PostgreSQL. */
export const IN_USE = "in-use.db"

type Fault = SqlError.SqlError | Migrator.MigrationError

/** The database's message. */
const describe = (error: Fault): string => {
  const { message, cause } = "reason" in error ? error.reason : error
  const why = Predicate.hasProperty(cause, "message") ? String(cause.message) : ""
  return [message ?? "", why].filter((words) => words !== "").join(": ")
}

const fileError =
  (folder: string) =>
  (error: Fault): StartError => {
    if ("reason" in error && NodeSqlite.isDiskFull(error)) return fullDisk(folder)
    return new StartError({
      message:
        "reason" in error && error.reason._tag === "LockTimeoutError"
          ? `The data folder ${folder} is in use by another server. Stop that server, or set SLUICE_DATA to another folder`
          : `The accounts in ${folder} cannot be opened (${describe(error)}). Restore accounts.db from a copy, or set SLUICE_DATA to another folder`
    })
  }

const damagedFile = (folder: string, faults: ReadonlyArray<string>) =>
  new StartError({
    message: `The accounts in ${folder} are damaged (${faults.join("; ")}). Restore accounts.db from a copy`
  })

const postgresError = (error: Fault | Postgres.PostgresMissing): StartError =>
  new StartError({
    message:
      error._tag === "PostgresMissing"
        ? `SLUICE_DATABASE_URL is set: ${error.message}`
        : `The accounts in the database of SLUICE_DATABASE_URL cannot be opened (${describe(error)}). Check the address, and start it if it is not running`
  })

/** PostgreSQL's code while it starts, recovers or stops: it answers, but accepts no connection yet. */
const CANNOT_CONNECT_NOW = "57P03"

const isAway = (error: Fault): boolean =>
  "reason" in error &&
  (error.reason._tag === "ConnectionError" ||
    (Predicate.hasProperty(error.reason.cause, "code") && error.reason.cause.code === CANNOT_CONNECT_NOW))

/** A database that starts together with the server needs seconds. A wrong password or name is no reason to wait. */
const untilItStarts = (seconds: number) =>
  Schedule.spaced("1 second").pipe(
    Schedule.setInputType<Fault>(),
    Schedule.while(({ input }) => isAway(input)),
    Schedule.tap(({ attempt }) =>
      attempt === 1
        ? Effect.logWarning("PostgreSQL cannot be reached yet. The server waits for it.")
        : Effect.void
    ),
    Schedule.upTo({ duration: Duration.seconds(seconds) })
  )

/** Creates a file that only its owner can read. */
const touch = Effect.fnUntraced(function* (file: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    fs.writeFile(file, new Uint8Array(), { flag: "a", mode: 0o600 }),
    dataFolderError(folder)
  )
})

const inFile = Effect.fnUntraced(function* (data: string, synchronous: NodeSqlite.Synchronous) {
  const path = yield* Path.Path
  yield* openDataFolder(data)
  const file = path.join(data, ACCOUNTS)
  yield* touch(file, data)
  const prepare = Effect.gen(function* () {
    if ((yield* migrate).isNewer)
      return yield* new StartError({
        message: `The data folder ${data} was created by a newer version of Sluice. Update, or set SLUICE_DATA to another folder`
      })
    const faults = yield* accountFaults
    if (faults.file.length > 0) return yield* damagedFile(data, faults.file)
    yield* Effect.forEach(faults.ledger, (fault) => Effect.logError(fault))
  })
  return Layer.effectDiscard(prepare).pipe(
    Layer.provideMerge(NodeSqlite.layer(file, synchronous)),
    Layer.catchTag(["SqlError", "MigrationError"], (error) =>
      Layer.effectContext(Effect.fail(fileError(data)(error)))
    )
  )
})

/** A data folder with documents or media files belongs to one server. */
const lockFolder = Effect.fnUntraced(function* (data: string) {
  const path = yield* Path.Path
  const lock = path.join(data, IN_USE)
  yield* touch(lock, data)
  yield* Effect.mapError(Layer.build(NodeSqlite.layer(lock)), fileError(data))
})

/** The client of the configured PostgreSQL, without migrations. */
export const openPostgres = (url: Redacted.Redacted) =>
  Postgres.layer(url).pipe(
    Layer.catchTag(["SqlError", "PostgresMissing"], (error) =>
      Layer.effectContext(Effect.fail(postgresError(error)))
    )
  )

const inPostgres = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  { data, documents, operation }: ServerConfig["Service"]
) {
  // Accounts in the data folder are ignored.
  yield* openDataFolder(data)
  if (!isStoreAddress(documents)) yield* lockFolder(data)
  const prepare = Effect.gen(function* () {
    const migrated = Effect.retry(migrate, untilItStarts(operation.databaseWaitSeconds))
    if (!(yield* Effect.mapError(migrated, postgresError)).isNewer) return
    const message =
      "The database of SLUICE_DATABASE_URL was created by a newer version of Sluice. Update, or set the variable to another database"
    return yield* new StartError({ message })
  })
  return Layer.provideMerge(Layer.effectDiscard(prepare), openPostgres(url))
})

/** Whether a server is running on the data folder. */
export const isServed = Effect.fn("isServed")(function* (data: string) {
  const path = yield* Path.Path
  const locked = yield* Effect.forEach([ACCOUNTS, IN_USE], (name) =>
    NodeSqlite.isLocked(path.join(data, name))
  )
  return locked.includes(true)
})

/**
 * The SQL client of the accounts: `accounts.db` in the data folder, or the configured PostgreSQL.
 *
 * **Details.** Fails with a `StartError` if the data is of a newer version, the folder is in use or not writable, or the
 * database cannot be reached. Several servers can share one
 * PostgreSQL, each with its own data folder; documents may be in a store that they share.
 */
export const DatabaseLayer = Layer.unwrap(
  Effect.flatMap(ServerConfig, (settings) =>
    settings.database === undefined
      ? inFile(settings.data, settings.synchronous)
      : inPostgres(settings.database, settings)
  )
)

/** All services of the accounts, over their database. */
export const AccountsLayer = Layer.mergeAll(SignIn.layer, ApiKeys.layer, Audit.layer, Invitations.layer).pipe(
  Layer.provideMerge(Users.layer),
  Layer.provideMerge(DatabaseLayer)
)
