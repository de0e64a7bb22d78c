/** File operations of backups, whose failures say what to do. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { open, readdir } from "node:fs/promises"
import { join } from "node:path"
import { StartError } from "../config/StartError.ts"

/** A folder of the file system in the root of a volume, which only root may read. */
export const LOST_AND_FOUND = "lost+found"

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full. Free some space, or choose another place",
  EDQUOT: "The disk quota is used up. Free some space, or choose another place",
  EFBIG: "The file is too large for this disk. Choose another place",
  EACCES: "Give this user the right to read and write it",
  EPERM: "Give this user the right to read and write it",
  EROFS: "It is read-only. Choose another place",
  ENOTDIR: "A part of the path is a file. Choose another place"
}

/** Says why there is no backup or restore, and what to do. */
export const reject = (message: string): StartError => new StartError({ message })

/** Runs a file operation. The error names the place and what to do. */
export const attemptFile = <A>(doing: string, run: () => Promise<A>): Effect.Effect<A, StartError> =>
  Effect.uninterruptible(
    Effect.tryPromise({
      try: run,
      catch: (cause) => {
        const { code = "", message } = cause as NodeJS.ErrnoException
        return reject(`${doing} failed. ${ADVICE[code] ?? message}.`)
      }
    })
  )

/** Paths of the regular files below a folder, relative to it. Links are left out. */
export const filesBelow = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath.slice(folder.length + 1), entry.name)] : []))
    .toSorted()
}

/** The size and SHA-256 of a file; with `sync`, once it is on disk. A file that is only read may not allow that. */
export const digestFile = async (file: string, { sync }: { readonly sync: boolean }) => {
  const opened = await open(file)
  try {
    if (sync) await opened.sync()
    const hash = createHash("sha256")
    let bytes = 0
    for await (const part of opened.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 })) {
      hash.update(part)
      bytes += part.length
    }
    return { bytes, sha256: hash.digest("hex") }
  } finally {
    await opened.close()
  }
}
