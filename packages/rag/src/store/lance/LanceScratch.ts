/** What LanceDB makes a vector index by, in the system's temporary folder, and never removes. */
import { lstat, readdir, rmdir, unlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clock, Effect } from "effect"
import { GRACE_MILLIS } from "./LanceFiles.ts"

const FOLDER = /^\.tmp\w{6}$/
const FILES = new Set([
  "shuffle_data.lance",
  "shuffle_data.spill",
  "shuffle_offsets.lance",
  "shuffle_offsets.spill"
])

/** Removes this user's folders of nothing else that are a day old: a younger one may be in use, by any process. */
export const dropScratch: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) =>
  Effect.promise(async () => {
    const names = await readdir(tmpdir()).catch(() => [])
    for (const name of names.filter((name) => FOLDER.test(name)))
      // Another process may do the same.
      await dropOld(join(tmpdir(), name), now - GRACE_MILLIS).catch(() => undefined)
  })
)

const dropOld = async (folder: string, before: number): Promise<void> => {
  const stats = await lstat(folder)
  const own = stats.uid === (process.getuid?.() ?? stats.uid)
  if (!stats.isDirectory() || !own || stats.mtimeMs >= before) return
  const names = await readdir(folder)
  if (names.length === 0 || !names.every((name) => FILES.has(name))) return
  for (const name of names) await unlink(join(folder, name))
  await rmdir(folder)
}
