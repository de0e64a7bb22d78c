/** `backup.json`: what a backup has. It is written last. */
import { Effect, Schema } from "effect"
import { lstat, readFile } from "node:fs/promises"
import { isAbsolute, join, normalize } from "node:path"
import { VERSION } from "../config/ServerConfig.ts"
import { LATEST } from "../database/Migrations.ts"
import { attemptFile, digestFile, reject } from "./BackupFiles.ts"

/** The version of this file, and the newest that is read. */
export const BACKUP_FORMAT = 1

export const MANIFEST_FILE = "backup.json"

/** The folder of files that are outside the data folder. */
export const CONFIGURATION = "configuration"

const BackupFile = Schema.Struct({ path: Schema.String, bytes: Schema.Int, sha256: Schema.String })

const BackupManifest = Schema.Struct({
  format: Schema.Int,
  /** The version of Sluice that made it. */
  sluice: Schema.String,
  /** When it was begun, ISO 8601. */
  made: Schema.String,
  /** The last migration of the accounts; 0 if there are none. */
  accounts: Schema.Int,
  /** Whether it has the keys of connections. */
  secrets: Schema.Boolean,
  files: Schema.Array(BackupFile)
})
export type BackupManifest = typeof BackupManifest.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(BackupManifest))

/** What is wrong with a file of a backup, if anything. */
const faultOf = async (folder: string, { bytes, path, sha256 }: typeof BackupFile.Type) => {
  if (isAbsolute(path) || normalize(path) !== path || path.startsWith("..")) return "is outside the backup"
  const file = join(folder, path)
  const stats = await lstat(file).catch(() => undefined)
  if (stats === undefined) return "is missing"
  if (!stats.isFile()) return "is not a file"
  if (stats.size !== bytes) return `has ${stats.size} bytes in place of ${bytes}`
  return (await digestFile(file, { sync: false })).sha256 === sha256 ? undefined : "has another SHA-256"
}

/** Reads a backup's manifest and checks every file. Fails with the first fault. */
export const verifyBackup = Effect.fn("backup.verify")(function* (folder: string) {
  const file = join(folder, MANIFEST_FILE)
  const text = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: () =>
      reject(
        `${folder} is no backup: ${MANIFEST_FILE} cannot be read. Name a folder or archive of \`sluice backup\`.`
      )
  })
  const manifest = yield* Effect.mapError(decode(text), () =>
    reject(`The backup ${folder} is damaged: ${MANIFEST_FILE} is not valid. Use another backup.`)
  )
  if (manifest.format > BACKUP_FORMAT || manifest.accounts > LATEST)
    return yield* reject(
      `The backup ${folder} was made by Sluice ${manifest.sluice}, which is newer than this one (${VERSION}). Update, and restore it then.`
    )
  for (const one of manifest.files) {
    const found = yield* attemptFile(`Reading ${one.path}`, () => faultOf(folder, one))
    if (found !== undefined)
      return yield* reject(`The backup ${folder} is damaged: ${one.path} ${found}. Use another backup.`)
  }
  return manifest
})
