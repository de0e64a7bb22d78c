/** LanceDB's scratch folders: it builds vector indexes in the system's temporary folder and never removes them. */
import { lstat, readdir, rmdir, unlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clock, Effect } from "effect"

/** What nothing has referred to for this long is dropped: scratch folders, and files that no document names. */
export const GRACE_MILLIS = 24 * 60 * 60 * 1000

const FOLDER = /^\.tmp\w{6}$/
const FILE = /^shuffle_(data|offsets)\.(lance|spill)$/

/** Deletes LanceDB scratch folders of this user older than a day: a younger one may be in use by any process. */
export const deleteScratch: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) =>
  Effect.promise(async () => {
    const names = await readdir(tmpdir()).catch(() => [])
    for (const name of names.filter((name) => FOLDER.test(name)))
      // Another process may delete it at the same time.
      await deleteIfOld(join(tmpdir(), name), now - GRACE_MILLIS).catch(() => undefined)
  })
)

const deleteIfOld = async (folder: string, before: number): Promise<void> => {
  const stats = await lstat(folder)
  const isOwn = stats.uid === (process.getuid?.() ?? stats.uid)
  if (!stats.isDirectory() || !isOwn || stats.mtimeMs >= before) return
  const names = await readdir(folder)
  if (names.length === 0 || !names.every((name) => FILE.test(name))) return
  for (const name of names) await unlink(join(folder, name))
  await rmdir(folder)
}
