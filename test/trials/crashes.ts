/** Kills a writer repeatedly at random moments. What it leaves must be consistent, and the next writer must finish. */
import { setTimeout as sleep } from "node:timers/promises"
import { checkLibrary, LibraryFolder } from "./LibraryFolder.ts"
import { must, type Trial } from "./Trial.ts"

const SLOTS = 60
const KILLS = 3

export const crashes: Trial = async (random) => {
  const folder = await LibraryFolder.make()
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      await folder.change(random, SLOTS)
      const { child, ended } = folder.ingest()
      // Half of the kills hit during or just after a commit, the others anywhere from the start of the process.
      if (random.next() < 0.5) {
        await new Promise((resolve) => {
          child.stdout?.once("data", resolve)
          void ended.then(resolve)
        })
        await sleep(random.between(0, 30))
      } else {
        await sleep(random.between(100, 1500))
      }
      child.kill("SIGKILL")
      await ended
      await checkLibrary([folder], false)
    }
    const { ok, errors } = await folder.ingest().ended
    must(ok, () => `the ingest after the kills failed: ${errors}`)
    await checkLibrary([folder], true)
  } finally {
    await folder.remove()
  }
}
