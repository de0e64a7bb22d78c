/** Files are read at once or in the thread pool, and are the same bytes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readAtOnce, SMALL_BYTES } from "../../packages/rag/src/ingest/sources/ReadAtOnce.ts"
import { readSource } from "../../packages/rag/src/ingest/sources/SourceFiles.ts"
import { testFolder } from "./TestFolder.ts"

describe("a file", () => {
  it.effect("of any size is read whole", () =>
    Effect.gen(function* () {
      const { docs } = yield* testFolder
      mkdirSync(docs, { recursive: true })
      for (const size of [0, 1, SMALL_BYTES - 1, SMALL_BYTES, SMALL_BYTES + 1, 3 * SMALL_BYTES]) {
        const bytes = randomBytes(size)
        writeFileSync(join(docs, "file"), bytes)
        assert.isTrue(bytes.equals(yield* readSource(docs, "file")), `${size} bytes`)
      }
      assert.strictEqual((yield* Effect.flip(readSource(docs, "none"))).reason, "NotFound")
    }).pipe(Effect.scoped)
  )

  it.effect("that is a pipe, a folder or large is left to the thread pool, without a wait", () =>
    Effect.gen(function* () {
      const { docs } = yield* testFolder
      mkdirSync(docs, { recursive: true })
      execFileSync("mkfifo", [join(docs, "pipe")])
      writeFileSync(join(docs, "large"), randomBytes(SMALL_BYTES + 1))
      for (const path of [join(docs, "pipe"), join(docs, "large"), docs])
        assert.isUndefined(readAtOnce(path), path)
    }).pipe(Effect.scoped)
  )
})
