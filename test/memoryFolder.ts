/** Where the tests of one run keep their files: in memory, where there is room. */
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { freemem, tmpdir } from "node:os"
import { join } from "node:path"

const MEMORY = "/dev/shm"
const PREFIX = "sluice-tests-"

/** Bytes: a run takes one gigabyte, most of it for the packages that one test installs. */
const ROOM = 4e9

const room = (): number => {
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

/** Makes a folder that goes with this process; the system's own one where memory is scarce. What killed runs left goes. */
export const memoryFolder = (): string => {
  if (room() < ROOM) return tmpdir()
  for (const name of readdirSync(MEMORY)) {
    const left = name.startsWith(PREFIX) && !isAlive(Number(name.slice(PREFIX.length)))
    if (left) rmSync(join(MEMORY, name), { recursive: true, force: true })
  }
  const folder = join(MEMORY, `${PREFIX}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  // Some tests write as another user.
  chmodSync(folder, 0o1777)
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
