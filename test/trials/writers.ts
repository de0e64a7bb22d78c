/** Two processes write different versions of the same documents at once: each document must come whole from one of them. */
import { checkLibrary, LibraryFolder } from "./LibraryFolder.ts"
import { must, type Trial } from "./Trial.ts"

const SLOTS = 30

export const writers: Trial = async (random) => {
  const first = await LibraryFolder.make()
  const second = await LibraryFolder.make(first, "other")
  try {
    for (let slot = 0; slot < SLOTS; slot++) {
      await first.write(slot, random.between(1, 1_000_000))
      await second.write(slot, random.between(1, 1_000_000))
    }
    const ends = await Promise.all([first.ingest().ended, second.ingest().ended])
    must(
      ends.every(({ ok }) => ok),
      () => `a writer failed: ${ends.map(({ errors }) => errors).join("\n")}`
    )
    await checkLibrary([first, second], true)
  } finally {
    await first.remove()
  }
}
