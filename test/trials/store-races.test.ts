/** Writers of the same documents at the same time, in a table whose keys are indexed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { collectionIn, documentOf } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const texts = (count: number, about: string) =>
  Array.from({ length: count }, (_, i) => `${about} passage number ${i} of ${about}`)

describe("writers at the same time", () => {
  it.effect(
    "keeps one complete version if four writers commit the same new document by an index of keys",
    () =>
      Effect.gen(function* () {
        const { library } = yield* testFolder
        const writers = yield* Effect.forEach([2, 3, 5, 7], (passages) =>
          Effect.map(collectionIn(library), (collection) => ({ collection, passages }))
        )
        const [{ collection }] = writers as [(typeof writers)[0]]
        // From 5,000 rows on, the keys are indexed.
        yield* collection.commit(
          Array.from({ length: 500 }, (_, i) => documentOf(`d${i}`, texts(10, `d${i}`)))
        )
        yield* collection.settle
        for (let round = 0; round < 12; round++) {
          const path = `new ${round}`
          // Twice: the second time, they replace it.
          for (const words of ["first", "second"]) {
            const replaces = yield* collection.document(documentOf(path, []).info.id)
            yield* Effect.forEach(
              writers,
              ({ collection, passages }) =>
                collection.commit([documentOf(path, texts(passages, words), { replaces })]),
              { concurrency: "unbounded" }
            )
            const own = yield* collection.passages(documentOf(path, []).info.id)
            const stored = (yield* collection.document(documentOf(path, []).info.id))?.info.passages ?? 0
            assert.deepStrictEqual(
              own.map(({ text }) => text),
              texts(stored, words)
            )
          }
        }
        const inventory = yield* collection.inventory
        assert.isTrue(inventory.every(({ isComplete }) => isComplete))
        assert.strictEqual(inventory.length, 512)
        const passages = inventory.reduce((sum, { info }) => sum + info.passages, 0)
        assert.strictEqual(yield* collection.passageCount, passages)
      }).pipe(Effect.scoped)
  )
})
