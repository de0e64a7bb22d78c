/** Files of any size are read completely. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readSource } from "../../packages/rag/src/ingest/sources/SourceFiles.ts"
import { testFolder } from "./TestFolder.ts"

describe("readSource", () => {
  it.effect("reads files of any size, and reports a missing one", () =>
    Effect.gen(function* () {
      const { docs } = yield* testFolder
      mkdirSync(docs, { recursive: true })
      for (const size of [0, 1, 65_535, 65_536, 1_000_000]) {
        const bytes = randomBytes(size)
        writeFileSync(join(docs, "file"), bytes)
        assert.isTrue(bytes.equals(yield* readSource(docs, "file")), `${size} bytes`)
      }
      assert.strictEqual((yield* Effect.flip(readSource(docs, "none"))).reason, "NotFound")
    }).pipe(Effect.scoped)
  )
})
