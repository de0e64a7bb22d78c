/** Commands on the data folder of a running server. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { startServer, temporaryFolder } from "../demo-server/TestServer.ts"
import { sluiceHere } from "./Launcher.ts"

it.live("write nothing into the library of a running server", () =>
  Effect.gen(function* () {
    const data = yield* temporaryFolder
    const docs = yield* temporaryFolder
    yield* Effect.promise(() => writeFile(join(docs, "crew.md"), "# Crew\n\nTwo keepers hold the watch.\n"))
    const sluice = (...words: ReadonlyArray<string>) =>
      Effect.promise(() => sluiceHere([...words, "--data", data]))
    const ask = sluice("ask", "Who holds the watch?", "--docs", docs)
    yield* Effect.gen(function* () {
      yield* startServer({ data })
      for (const command of [ask, sluice("ingest", docs), sluice("chat", "--docs", docs)]) {
        const refused = yield* command
        assert.strictEqual(refused.code, 1)
        assert.match(
          refused.stderr,
          /A server is using the data folder .* nothing was written\. Upload .*--data/
        )
      }
      const reads = yield* sluice("ask", "Who holds the watch?")
      assert.include(reads.stderr, "The library is empty")
      const rebuilt = yield* sluice("rebuild")
      assert.match(rebuilt.stderr, /A server is using the data folder .*rebuilt while it runs/)
    }).pipe(Effect.scoped)
    const stopped = yield* ask
    assert.include(stopped.stdout, "[1] crew.md")
  }).pipe(Effect.scoped)
)
