/** Restores a backup into a data folder, and into the PostgreSQL database of its accounts. */
import { Effect } from "effect"
import { constants, existsSync } from "node:fs"
import { copyFile, mkdir, readdir, rename, rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { ServerConfig } from "../config/ServerConfig.ts"
import { copyAccounts } from "../database/CopyAccounts.ts"
import { ACCOUNTS, IN_USE, isServed } from "../database/Database.ts"
import { RESTORING } from "../database/DataFolder.ts"
import { isArchive, unpackArchive } from "./Archive.ts"
import { attemptFile, digestFile, LOST_AND_FOUND, reject } from "./BackupFiles.ts"
import { type BackupManifest, CONFIGURATION, verifyBackup } from "./BackupManifest.ts"

/** Checks a backup: a folder or an archive. Archives are unpacked until the scope ends. */
export const openBackup = Effect.fn("restore.open")(function* (place: string) {
  const source = resolve(place)
  if (!existsSync(source)) return yield* reject(`There is no backup ${source}.`)
  const folder = isArchive(source) ? yield* unpackArchive(source) : source
  return { folder, manifest: yield* verifyBackup(folder) }
})

const removeDatabases = (folder: string) =>
  attemptFile(`Removing ${ACCOUNTS}`, async () => {
    for (const name of [ACCOUNTS, IN_USE])
      for (const suffix of ["", "-wal", "-shm"]) await rm(join(folder, name + suffix), { force: true })
  })

/** Copies the files of the data folder. */
const copyFiles = (from: string, to: string, { files }: BackupManifest) =>
  Effect.forEach(
    files.filter(({ path }) => !path.startsWith(`${CONFIGURATION}/`)),
    ({ path, sha256 }) =>
      attemptFile(`Writing ${path}`, async () => {
        const file = join(to, path)
        await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        await copyFile(join(from, path), file, constants.COPYFILE_FICLONE)
        if ((await digestFile(file, { sync: true })).sha256 !== sha256)
          throw new Error("The copy has another SHA-256")
      })
  )

/** What a data folder has, apart from a restore in progress and what the file system puts into a volume. */
const contentOf = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await readdir(folder)).filter((name) => name !== RESTORING && name !== LOST_AND_FOUND)

const moveAll = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true })
  for (const name of await contentOf(from)) await rename(join(from, name), join(to, name))
}

/**
 * Restores a checked backup. Fails if the data folder is in use, or is not empty and `replaces` is false.
 *
 * **Details.** The files are copied beside the present ones, and moved into place last: if it fails before, nothing has
 * changed. If it is killed while files are moved, the server does not start until it is run again.
 */
export const restoreBackup = Effect.fn("restore.run")(function* (
  { folder, manifest }: Effect.Success<ReturnType<typeof openBackup>>,
  { replaces }: { readonly replaces: boolean }
) {
  const { data, database } = yield* ServerConfig
  const existed = existsSync(data)
  const present = existed ? yield* attemptFile(`Reading ${data}`, () => contentOf(data)) : []
  if (present.length > 0 && !replaces)
    return yield* reject(
      `The data folder ${data} is not empty. Choose another, or add --replace to delete what it has.`
    )
  const staging = join(data, RESTORING)
  const [fresh, old] = [join(staging, "new"), join(staging, "old")]
  const isInterrupted = existsSync(staging)
  const undo = attemptFile(`Removing ${staging}`, async () => {
    if (!isInterrupted) await rm(existed ? staging : data, { recursive: true, force: true })
  })
  yield* Effect.gen(function* () {
    yield* attemptFile(`Creating ${fresh}`, async () => {
      await rm(fresh, { recursive: true, force: true })
      await mkdir(fresh, { recursive: true, mode: 0o700 })
    })
    // A server that starts from now on finds the folder being restored.
    if (yield* isServed(data)) return yield* reject(`A server uses the data folder ${data}. Stop it before.`)
    yield* copyFiles(folder, fresh, manifest)
    if (database === undefined || manifest.accounts === 0) return
    yield* copyAccounts(fresh, "restored")
    yield* removeDatabases(fresh)
  }).pipe(Effect.onError(() => Effect.ignore(undo)))
  yield* attemptFile(`Replacing the files of ${data}`, async () => {
    await rm(old, { recursive: true, force: true })
    await moveAll(data, old)
    await moveAll(fresh, data)
    await rm(staging, { recursive: true })
  })
  return { data }
})
