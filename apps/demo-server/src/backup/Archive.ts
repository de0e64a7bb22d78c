/** Backups as one file, by the system's `tar`. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { attemptFile } from "./BackupFiles.ts"

const run = promisify(execFile)

export const isArchive = (path: string): boolean => /\.(?:tar|tar\.gz|tgz)$/.test(path)

/** `--auto-compress` chooses by the name. */
export const packArchive = Effect.fn("backup.pack")(function* (folder: string, target: string) {
  const unfinished = `${folder}.${target.endsWith(".tar") ? "tar" : "tgz"}`
  yield* attemptFile(`Writing ${target}`, async () => {
    // Only its owner may read it. `tar` keeps the permissions of a file that exists.
    await writeFile(unfinished, "", { mode: 0o600 })
    await run("tar", ["--create", "--auto-compress", "--file", unfinished, "--directory", folder, "."])
    await rename(unfinished, target)
  }).pipe(Effect.onError(() => Effect.promise(() => rm(unfinished, { force: true }))))
})

/** A folder with the archive's content, removed with the scope. */
export const unpackArchive = Effect.fn("backup.unpack")(function* (archive: string) {
  const folder = yield* Effect.acquireRelease(
    attemptFile(`Creating a folder in ${tmpdir()}`, () => mkdtemp(join(tmpdir(), "sluice-restore-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  yield* attemptFile(`Unpacking ${archive} in ${tmpdir()}`, () =>
    run("tar", ["--extract", "--file", archive, "--directory", folder])
  )
  return folder
})
