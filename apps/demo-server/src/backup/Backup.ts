/** Backs up a data folder, and the database of its accounts, while a server uses them. */
import { LanceIndex } from "@sluice/rag/store"
import { Clock, Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { constants, existsSync } from "node:fs"
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { ServerConfig, VERSION } from "../config/ServerConfig.ts"
import { exportAccounts } from "../database/CopyAccounts.ts"
import { ACCOUNTS, openPostgres } from "../database/Database.ts"
import { accountsVersion, LATEST, migrate } from "../database/Migrations.ts"
import { isStoreAddress } from "../config/DocumentStore.ts"
import { libraryFolders } from "../libraries/LibraryFolders.ts"
import { providersPlace } from "../providers/ProvidersSettings.ts"
import { copySqlite } from "../sql/CopySqlite.ts"
import * as NodeSqlite from "../sql/NodeSqlite.ts"
import { isArchive, packArchive } from "./Archive.ts"
import { attemptFile, digestFile, filesBelow, LOST_AND_FOUND, reject } from "./BackupFiles.ts"
import { type BackupManifest, CONFIGURATION, BACKUP_FORMAT, MANIFEST_FILE } from "./BackupManifest.ts"

/** Copied in another way, or not worth a copy: databases, libraries, the cache, unfinished files, an interrupted restore. */
const COPIED_ELSEWHERE =
  /^(?:(?:accounts|in-use)\.db(?:-wal|-shm|-journal)?|librar(?:y|ies)|page-images|last-backup\.json|\.restoring|.*\.new)$/

const KEY_FILE = /\.key$/

/** Copies a file that may be removed meanwhile. */
const copyOne = async (from: string, to: string): Promise<void> => {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await copyFile(from, to, constants.COPYFILE_FICLONE).catch((cause) => {
    if (cause.code !== "ENOENT" || existsSync(from)) throw cause
  })
}

/** Copies PostgreSQL into a file of SQLite. Returns the version of its tables. */
const backUpPostgres = Effect.fn("backup.postgres")(function* (url: Redacted.Redacted, to: string) {
  const open = <E, R>(layer: Layer.Layer<SqlClient.SqlClient, E, R>) =>
    Effect.map(Layer.build(layer), Context.get(SqlClient.SqlClient))
  const [postgres, file] = [yield* open(openPostgres(url)), yield* open(NodeSqlite.layer(to, "normal"))]
  yield* Effect.provideService(migrate, SqlClient.SqlClient, file)
  const version = yield* Effect.provideService(accountsVersion, SqlClient.SqlClient, postgres)
  if (version !== LATEST)
    return yield* reject(
      "The database of SLUICE_DATABASE_URL is of another version of Sluice. Back it up with the version that uses it."
    )
  yield* exportAccounts(postgres, file)
  return version
}, Effect.scoped)

/** The accounts are a file of SQLite in any backup. Returns the version of their tables; 0 if there are none. */
const backUpAccounts = Effect.fn("backup.accounts")(function* (folder: string) {
  const { data, database } = yield* ServerConfig
  const [from, to] = [join(data, ACCOUNTS), join(folder, ACCOUNTS)]
  if (database !== undefined)
    return yield* backUpPostgres(database, to).pipe(
      Effect.catchTag(["SqlError", "MigrationError"], ({ message }) =>
        Effect.fail(reject(`The database of SLUICE_DATABASE_URL cannot be read: ${message}`))
      )
    )
  if (!existsSync(from)) return 0
  yield* attemptFile(`Copying ${from}`, () => copySqlite(from, to))
  // A server that was stopped at its first start leaves an empty file.
  return yield* Effect.orElseSucceed(Effect.provide(accountsVersion, NodeSqlite.layer(to)), () => 0)
})

/** The libraries after the accounts: a document that was paid for is never missing. */
const backUpLibraries = Effect.fn("backup.libraries")(function* (folder: string) {
  const { documents } = yield* ServerConfig
  // A store has its own versions and copies.
  if (isStoreAddress(documents)) return
  for (const library of yield* libraryFolders)
    yield* LanceIndex.copy(library.folder, join(folder, relative(documents, library.folder)))
})

const backUpFiles = Effect.fn("backup.files")(function* (folder: string, secrets: boolean) {
  const { billing, data } = yield* ServerConfig
  const copy = (from: string, to: string) =>
    attemptFile(`Copying ${from}`, () => copyOne(from, join(folder, to)))
  const names = yield* attemptFile(`Reading ${data}`, () => readdir(data))
  for (const name of names.filter((name) => name !== LOST_AND_FOUND && !COPIED_ELSEWHERE.test(name))) {
    const own = join(data, name)
    // A folder may be a link to another disk.
    const stats = yield* attemptFile(`Reading ${own}`, () => stat(own))
    if (stats.isFile()) yield* copy(own, name)
    else if (stats.isDirectory())
      for (const path of yield* attemptFile(`Reading ${own}`, () => filesBelow(own)))
        if (!path.endsWith(".new") && (secrets || !KEY_FILE.test(path)))
          yield* copy(join(own, path), join(name, path))
  }
  const providers = yield* Effect.orElseSucceed(providersPlace, () => undefined)
  for (const file of [providers, billing.prices])
    if (typeof file === "string" && existsSync(file) && !isInside(file, data))
      yield* copy(file, join(CONFIGURATION, basename(file)))
})

const isInside = (path: string, folder: string) => `${path}${sep}`.startsWith(`${folder}${sep}`)

/** Everything in a backup is readable only by its owner. */
const PRIVATE = 0o600

const writeManifest = Effect.fn("backup.manifest")(function* (
  folder: string,
  known: Pick<BackupManifest, "made" | "accounts" | "secrets">
) {
  const paths = yield* attemptFile(`Reading ${folder}`, () => filesBelow(folder))
  const files = yield* Effect.forEach(paths, (path) =>
    attemptFile(`Reading ${path}`, async () => {
      await chmod(join(folder, path), PRIVATE)
      return { path, ...(await digestFile(join(folder, path), { sync: true })) }
    })
  )
  const manifest: BackupManifest = { format: BACKUP_FORMAT, sluice: VERSION, ...known, files }
  const text = `${JSON.stringify(manifest, undefined, 1)}\n`
  yield* attemptFile(`Writing ${MANIFEST_FILE}`, () =>
    writeFile(join(folder, MANIFEST_FILE), text, { mode: PRIVATE, flush: true })
  )
  return manifest
})

/** Opening a folder whose name is misspelt would make it, and find it empty. */
export const requireDataFolder = Effect.flatMap(ServerConfig, ({ data }) =>
  existsSync(data) ? Effect.void : reject(`There is no data folder ${data}. Correct --data or SLUICE_DATA.`)
)

const checkTarget = Effect.fnUntraced(function* (target: string) {
  const { data } = yield* ServerConfig
  yield* requireDataFolder
  if (isInside(target, data))
    return yield* reject(`${target} is in the data folder. Choose a place outside it.`)
  if (existsSync(target)) return yield* reject(`${target} exists. Choose another name.`)
})

const LAST_BACKUP = "last-backup.json"

const LastBackup = Schema.fromJsonString(Schema.Struct({ made: Schema.String, target: Schema.String }))

/** When the data folder was last backed up, and where to. Undefined if it never was. */
export const lastBackup = Effect.flatMap(ServerConfig, ({ data }) =>
  Effect.tryPromise(() => readFile(join(data, LAST_BACKUP), "utf8")).pipe(
    Effect.flatMap(Schema.decodeEffect(LastBackup)),
    Effect.orElseSucceed(() => undefined)
  )
)

/**
 * Backs up to a new folder, or to an archive if the name ends in `.tar`, `.tar.gz` or `.tgz`. If it fails, nothing is left.
 *
 * **Details.** With `secrets`, it has the keys of connections.
 */
export const createBackup = Effect.fn("backup.create")(function* (
  place: string,
  { secrets }: { readonly secrets: boolean }
) {
  const target = resolve(place)
  yield* checkTarget(target)
  const made = new Date(yield* Clock.currentTimeMillis).toISOString()
  const partial = `${target}.partial`
  const remove = attemptFile(`Removing ${partial}`, () => rm(partial, { recursive: true, force: true }))
  return yield* Effect.gen(function* () {
    yield* remove
    yield* attemptFile(`Creating ${partial}`, () => mkdir(partial, { recursive: true, mode: 0o700 }))
    const accounts = yield* backUpAccounts(partial)
    yield* backUpLibraries(partial)
    yield* backUpFiles(partial, secrets)
    const manifest = yield* writeManifest(partial, { made, accounts, secrets })
    const { data } = yield* ServerConfig
    if (manifest.files.length === 0)
      return yield* reject(`The data folder ${data} is empty. Correct --data or SLUICE_DATA.`)
    if (isArchive(target)) yield* packArchive(partial, target)
    else yield* attemptFile(`Writing ${target}`, () => rename(partial, target))
    const text = JSON.stringify({ made, target } satisfies typeof LastBackup.Type)
    yield* Effect.ignore(
      attemptFile(`Writing ${LAST_BACKUP}`, () => writeFile(join(data, LAST_BACKUP), text, { mode: PRIVATE }))
    )
    return { target, manifest }
  }).pipe(Effect.ensuring(Effect.ignore(remove)))
})
