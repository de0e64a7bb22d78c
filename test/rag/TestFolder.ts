/** A temporary folder with documents in it, removed with the scope. */
import { Effect } from "effect"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** The folder, and how to write files below it. */
export const testFolder = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-rag-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  ),
  (folder) => ({
    folder,
    docs: join(folder, "docs"),
    library: join(folder, "library"),
    write: (path: string, content: string | Uint8Array) =>
      Effect.promise(async () => {
        const file = join(folder, path)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, content)
      }),
    remove: (path: string) => Effect.promise(() => rm(join(folder, path), { recursive: true, force: true }))
  })
)

/** Three small documents about different things. */
export const HANDBOOK = {
  "docs/boiler.md":
    "# Boiler\n\nThe boiler must be inspected every spring before it is lit. Only Anna holds the key to the boiler room.\n",
  "docs/refunds.md":
    "# Refunds\n\nRefunds are paid within fourteen days of the return. Shipping is never refunded.\n",
  "docs/sub/cats.md": "# Cats\n\nThe grey cat sleeps on the warm stove at night.\n"
} as const

export const handbook = Effect.gen(function* () {
  const test = yield* testFolder
  for (const [path, content] of Object.entries(HANDBOOK)) yield* test.write(path, content)
  return test
})
