import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdir, utimes } from "node:fs/promises"
import { join } from "node:path"
import { vi } from "vitest"
import { collectionIn, documentOf } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

describe("the temporary folder", () => {
  it.live("deletes LanceDB scratch folders older than a day, and nothing else", () =>
    Effect.gen(function* () {
      const { folder, library, write } = yield* testFolder
      const temporary = join(folder, "temporary")
      const others = [
        ".tmpOther1/shuffle_data.lance",
        ".tmpOther1/notes.txt",
        ".tmpOther-/shuffle_data.lance"
      ]
      for (const file of others) yield* write(`temporary/${file}`, "")
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubEnv("TMPDIR", temporary)),
        () => Effect.sync(() => vi.unstubAllEnvs())
      )
      const made = Effect.promise(async () =>
        (await readdir(temporary, { recursive: true })).filter((name) =>
          name.endsWith("/shuffle_offsets.lance")
        )
      )
      const age = (days: number) =>
        Effect.promise(async () => {
          const at = Date.now() / 1000 - days * 86_400
          for (const name of await readdir(temporary)) await utimes(join(temporary, name), at, at)
        })
      const collection = yield* collectionIn(library)
      const texts = Array.from({ length: 2_000 }, (_, i) => `passage ${i % 97} ${i % 89} of ducks`)
      /** Another document, so that `maintain` builds the index again. */
      const maintain = (name: string) =>
        Effect.andThen(collection.commit([documentOf(name, texts)]), collection.maintain)
      yield* maintain("ducks")
      assert.strictEqual((yield* made).length, 1, "LanceDB removes it itself now")
      yield* age(0.9)
      yield* maintain("geese")
      assert.strictEqual((yield* made).length, 2)
      yield* age(1.1)
      yield* maintain("swans")
      assert.strictEqual((yield* made).length, 1)
      const left = yield* Effect.promise(() => readdir(temporary, { recursive: true }))
      for (const file of others) assert.include(left, file)
    }).pipe(Effect.scoped)
  )
})
