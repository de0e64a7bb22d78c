/** The temporary folder of a test run, in memory if there is room. */
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { freemem, tmpdir } from "node:os"
import { join } from "node:path"

const MEMORY = "/dev/shm"
const PREFIX = "sluice-tests-"

/** Bytes. A run takes one gigabyte, mostly for the packages that one test installs. */
const NEEDED = 4e9

const freeBytes = (): number => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, freemem())
  } catch {
    return 0
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Creates a folder in memory that is deleted when this process exits, and deletes those of killed runs. Returns the
 * system's temporary folder if memory is scarce.
 */
export const memoryFolder = (): string => {
  if (freeBytes() < NEEDED) return tmpdir()
  for (const name of readdirSync(MEMORY)) {
    const isStale = name.startsWith(PREFIX) && !isAlive(Number(name.slice(PREFIX.length)))
    if (isStale) rmSync(join(MEMORY, name), { recursive: true, force: true })
  }
  const folder = join(MEMORY, `${PREFIX}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  // Some tests write as another user.
  chmodSync(folder, 0o1777)
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
