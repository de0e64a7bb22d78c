/** Copies an SQLite file while a server writes to it. */
import { constants } from "node:fs"
import { copyFile, open } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"

/** The log starts over every 100 MB of changes. */
const COPIES = 20

/** Bytes at the beginning of the log, which change when it starts over. */
const HEADER_BYTES = 32

const ignoreMissing = (cause: NodeJS.ErrnoException) => {
  if (cause.code !== "ENOENT") throw cause
  return undefined
}

const headerOf = async (log: string): Promise<string | undefined> => {
  const file = await open(log).catch(ignoreMissing)
  if (file === undefined) return undefined
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    return buffer.toString("hex", 0, bytesRead)
  } finally {
    await file.close()
  }
}

const copyOnce = async (from: string, to: string): Promise<boolean> => {
  const before = await headerOf(`${from}-wal`)
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  await copyFile(`${from}-wal`, `${to}-wal`).catch(ignoreMissing)
  return (await headerOf(`${from}-wal`)) === before
}

/**
 * Copies a database as it is after one of its commits, and checks the copy.
 *
 * **Details.** The server has locked the file, so that SQLite's own backup cannot read it. The file is copied before its
 * log. A checkpoint changes only pages that the log has too, until the log starts over: then both are copied again. SQLite
 * drops an unfinished commit at the end of the log.
 *
 * **Gotchas.** Not in the server's process: closing the file there would release the server's lock.
 */
export const copySqlite = async (from: string, to: string): Promise<void> => {
  let copies = 1
  while (!(await copyOnce(from, to)))
    if (copies++ === COPIES) throw new Error(`${from} changes faster than it can be copied`)
  const database = new DatabaseSync(to)
  try {
    // Moves the log into the file.
    database.exec("PRAGMA journal_mode = DELETE")
    const [fault] = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})
    if (fault !== "ok") throw new Error(`${from} is damaged: ${fault}`)
  } finally {
    database.close()
  }
}
