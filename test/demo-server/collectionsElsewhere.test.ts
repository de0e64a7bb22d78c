/** Collections that another server removes. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Embedded from "@sluice/embedded"
import { LanceIndex, PassageIndex } from "@sluice/rag/store"
import { Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { openCollections } from "../../apps/demo-server/src/libraries/OpenCollections.ts"

const files = [{ path: "heron.md", bytes: new TextEncoder().encode("# Heron\n\nA heron waits.") }]

it.effect("a collection removed at another server is not made again by a question, but by an upload", () =>
  Effect.gen(function* () {
    const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const { collection, names } = yield* openCollections(
      folder,
      {},
      { beforeCreation: () => Effect.void, countStored: () => Effect.void }
    )
    const library = yield* (yield* collection("harbour", true)).library
    yield* library.ingest({ files })
    yield* Effect.provide(
      Effect.flatMap(PassageIndex, ({ drop }) => drop("harbour")),
      LanceIndex.layer(folder)
    )
    const question = Effect.flip(library.retrieve("Where does the heron wait?"))
    assert.strictEqual((yield* question).reason, "NotFound")
    // A library looks up its table once a second.
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual((yield* question).reason, "NotFound")
    assert.notInclude(yield* names, "harbour")
    const again = yield* (yield* collection("harbour", true)).library
    assert.strictEqual((yield* again.ingest({ files })).added, 1)
    assert.include(yield* names, "harbour")
  }).pipe(Effect.provide([Embedded.layer, NodeServices.layer]), Effect.scoped)
)
