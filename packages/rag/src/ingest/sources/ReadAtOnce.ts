/** Small files of a fast disk, read at once. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"

/** What is larger is read in the thread pool. */
export const SMALL_BYTES = 256 * 1024

/** A read that takes so long holds everybody up: the disk is asleep, far away or busy … */
const SLOW_MILLIS = 2
/** … and so many files are then read in the thread pool before it is tried again: the more, the longer it stays so. */
const LEFT_AT_FIRST = 4
const LEFT_AT_MOST = 256

let left = 0
let next = LEFT_AT_FIRST

/**
 * The bytes of a small file; undefined where it is left to the thread pool: one that is large or no file at all, and
 * every one while the disk is slow.
 *
 * Not by way of promises, for five turns of the thread pool take 230 µs, and this takes 10: of an unchanged folder,
 * reading its files is nearly all there is to do.
 */
export const readAtOnce = (path: string): Uint8Array | undefined => {
  if (left > 0) {
    left--
    return undefined
  }
  const start = performance.now()
  // A pipe would wait for somebody to write.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size > SMALL_BYTES) return undefined
    // One more than it has, so that the end is seen; what has grown since is left to the thread pool too.
    const bytes = Buffer.allocUnsafeSlow(stats.size + 1)
    let length = 0
    for (let read = -1; read !== 0 && length <= stats.size; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null)
    return length <= stats.size ? bytes.subarray(0, length) : undefined
  } finally {
    closeSync(file)
    // Once in a while it was only another process's turn.
    const slow = performance.now() - start > SLOW_MILLIS
    if (slow) left = next
    next = slow ? Math.min(next * 4, LEFT_AT_MOST) : LEFT_AT_FIRST
  }
}
