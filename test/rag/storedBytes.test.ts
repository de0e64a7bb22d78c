/** The bytes of a collection that two processes write. */
import { assert, it } from "@effect/vitest"
import { storedBytesOf } from "@sluice/rag/store"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { documentOf, MANIFEST, storeIn } from "./StoredDocuments.ts"
import { testFolder } from "./TestFolder.ts"

it.effect("documents that another process adds or removes count after a while", () =>
  Effect.gen(function* () {
    const { library } = yield* testFolder
    const opened = Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
    const [first, second] = yield* Effect.all([opened, opened])
    const [pike, swan] = [documentOf("pike.md", ["the pike left"]), documentOf("swan.md", ["the swan left"])]
    yield* first.commit([pike])
    const one = storedBytesOf([pike.info])
    assert.strictEqual(yield* first.storedBytes, one)
    yield* second.commit([swan])
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* first.storedBytes, 2 * one)
    yield* second.remove([swan.info.id])
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* first.storedBytes, one)
    // The first has not counted the second's.
    yield* second.commit([swan])
    yield* first.remove([pike.info.id, swan.info.id])
    assert.strictEqual(yield* first.storedBytes, 0)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* second.storedBytes, 0)
  }).pipe(Effect.scoped)
)
