import { assert, describe, it } from "@effect/vitest"
import { connect } from "@lancedb/lancedb"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { mkdir, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { DIMENSION, embedText } from "./Models.ts"
import { documentOf, MANIFEST, storeIn } from "./StoredDocuments.ts"
import { testFolder } from "./TestFolder.ts"

describe("garbage collection", () => {
  it.effect("removes the bytes of documents dropped a day ago, and the vectors of unused models", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const index = yield* storeIn(library)
      const collection = yield* index.open("one", MANIFEST)
      const [secret, ...others] = ["secret", ..."abcdefghijklmnopqrstuvw"].map((about) =>
        documentOf(`${about}.md`, [`This is about ${about}.`])
      )
      if (secret === undefined) return
      // One file of the store, of which little is dropped.
      yield* collection.commit([secret, ...others])
      const vector = new Map([[secret.info.sha256, embedText("secret")]])
      const cached = (model: string) =>
        Effect.flatMap(index.vectors(model, DIMENSION), ({ put }) => put(vector))
      yield* cached(MANIFEST.embeddingModel)
      yield* cached("gone")
      yield* collection.remove([secret.info.id])
      const bytesOf = (what: string) =>
        Effect.promise(async () => {
          const entries = await readdir(join(library, "files.lance"), {
            recursive: true,
            withFileTypes: true
          })
          const files = entries.filter((entry) => entry.isFile())
          const read = files.map(({ name, parentPath }) => readFile(join(parentPath, name), "latin1"))
          return (await Promise.all(read)).filter((bytes) => bytes.includes(what)).length
        })
      const caches = Effect.promise(
        async () => (await readdir(library)).filter((name) => name.startsWith("vectors_")).length
      )
      yield* collection.maintain
      assert.deepStrictEqual([yield* bytesOf("about secret"), yield* caches], [1, 2])
      // Whoever reads or writes keeps what was current when he began: it goes a day later.
      for (const hours of [25, 50]) {
        yield* TestClock.setTime(Date.now() + hours * 60 * 60 * 1000)
        yield* collection.maintain
        yield* collection.commit([documentOf(`${hours}.md`, [`After ${hours} hours.`])])
      }
      assert.deepStrictEqual([yield* bytesOf("about secret"), yield* caches], [0, 1])
      for (const { info } of others) assert.isDefined(yield* collection.original(info.sha256))
      const kept = yield* index.vectors(MANIFEST.embeddingModel, DIMENSION)
      assert.deepStrictEqual(yield* kept.get([secret.info.sha256]), vector)
    }).pipe(Effect.scoped)
  )

  it.effect("keeps one of the copies of a file that two processes stored", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const [one, other] = [yield* storeIn(library), yield* storeIn(library)]
      const [here, there] = [yield* one.open("one", MANIFEST), yield* other.open("one", MANIFEST)]
      const same = (path: string) => documentOf(path, ["The same text."])
      const copies = Effect.promise(async () => {
        const table = await (await connect(library)).openTable("files")
        return table.countRows(`sha256 = '${same("a.md").info.sha256}'`)
      })
      yield* here.commit([same("a.md")])
      // This process has stored it.
      yield* here.commit([same("b.md")])
      assert.strictEqual(yield* copies, 1)
      yield* there.commit([same("c.md"), documentOf("d.md", ["Another text."])])
      assert.strictEqual(yield* copies, 2)
      yield* here.maintain
      assert.strictEqual(yield* copies, 2)
      yield* TestClock.setTime(Date.now() + 25 * 60 * 60 * 1000)
      yield* here.maintain
      assert.strictEqual(yield* copies, 1)
      for (const path of ["a.md", "d.md"])
        assert.isDefined(
          yield* there.original(
            documentOf(path, [path === "a.md" ? "The same text." : "Another text."]).info.sha256
          )
        )
      // What was dropped is stored again.
      yield* here.remove(["a.md", "b.md", "c.md"].map((path) => same(path).info.id))
      yield* here.maintain
      assert.strictEqual(yield* copies, 0)
      yield* here.commit([same("a.md")])
      assert.strictEqual(yield* copies, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("ignores a table without a version", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* (yield* storeIn(library)).open("one", MANIFEST)
      const document = documentOf("gone.md", ["This is about a secret."])
      yield* collection.commit([document])
      yield* collection.remove([document.info.id])
      // As a full disk leaves it.
      yield* Effect.promise(() => mkdir(join(library, "c_99e2.lance/_versions"), { recursive: true }))
      yield* TestClock.setTime(Date.now() + 25 * 60 * 60 * 1000)
      yield* collection.maintain
      assert.isUndefined(yield* collection.original(document.info.sha256))
    }).pipe(Effect.scoped)
  )

  it.effect("does not disturb a reader", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const [one, other] = [yield* storeIn(library), yield* storeIn(library)]
      const reader = yield* one.open("one", MANIFEST)
      const keeper = yield* other.open("one", MANIFEST)
      const documents = Array.from({ length: 8 }, (_, i) => documentOf(`${i}.md`, [`Number ${i} of them.`]))
      for (const document of documents) yield* keeper.commit([document])
      yield* keeper.remove(documents.slice(0, 2).map(({ info }) => info.id))
      yield* TestClock.setTime(Date.now() + 25 * 60 * 60 * 1000)
      const read = Effect.forEach(Array.from({ length: 100 }), () =>
        reader.original(documents[7]!.info.sha256)
      )
      const [originals] = yield* Effect.all([read, keeper.maintain], { concurrency: 2 })
      assert.isTrue(originals.every((bytes) => bytes !== undefined))
    }).pipe(Effect.scoped)
  )
})
