import { assert, describe, it } from "@effect/vitest"
import { Library, type RagError } from "@sluice/rag"
import { type Collection, LanceIndex, PassageIndex } from "@sluice/rag/store"
import { connect } from "@lancedb/lancedb"
import { Array as Arrays, Context, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { oldestKept, pruneVersions } from "../../packages/rag/src/store/lance/LanceSnapshots.ts"
import { countingEmbedder, embedText, modelsLayer, readerLayer, rerankerLayer } from "../rag/Models.ts"
import { documentOf, MANIFEST, storeIn } from "../rag/StoredDocuments.ts"
import { handbook, testFolder } from "../rag/TestFolder.ts"

const textsOf = (collection: Collection) =>
  Effect.map(collection.search({ vector: embedText("duck"), words: "duck", limit: 50 }), (hits) =>
    hits.map(({ passage }) => passage.text).toSorted()
  )

const day = 24 * 60 * 60 * 1000

/** Versions made so many minutes before `now`, the newest first. */
const madeBefore = (now: number, minutes: ReadonlyArray<number>) =>
  minutes.map((ago, i) => ({ version: minutes.length - i, timestamp: new Date(now - ago * 60_000) }))

describe("old versions", () => {
  const now = Date.now()
  const kept = (minutes: ReadonlyArray<number>, inUse: ReadonlyArray<number>, retention: object) => {
    const versions = madeBefore(now, minutes)
    const oldest = oldestKept(versions, new Set(inUse), now, retention)
    return versions.filter(({ timestamp }) => timestamp >= oldest!).length
  }

  it("are kept for ten minutes after the next one was written", () => {
    // The second was the newest until nine minutes ago, the third until eleven.
    assert.strictEqual(kept([9, 11, 60, 90], [], {}), 2)
    assert.strictEqual(kept([60, 90], [], {}), 1)
  })

  it("are kept for two minutes beyond a hundred", () => {
    const each = (seconds: number) => Array.from({ length: 400 }, (_, i) => (i * seconds) / 60)
    assert.strictEqual(kept(each(1), [], {}), 122)
    assert.strictEqual(kept(each(4), [], {}), 100)
    assert.strictEqual(kept(each(0.1), [], {}), 400)
  })

  it("are kept as long, and as many, as was set, and from the oldest snapshot on", () => {
    const minutes = [1, 20, 40, 80, 90]
    assert.strictEqual(kept(minutes, [], { keepFor: "1 hour" }), 4)
    assert.strictEqual(kept(minutes, [], { keepFor: 0 }), 2)
    assert.strictEqual(kept(minutes, [], { keepFor: 0, keepVersions: 3 }), 3)
    assert.strictEqual(kept(minutes, [2], { keepFor: 0 }), 4)
  })

  it.effect("are dropped after many commits, without maintain", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* Effect.flatMap(storeIn(library), (index) => index.open("default", MANIFEST))
      const versions = Effect.promise(async () => {
        const table = (await readdir(library)).find((name) => name.startsWith("c_"))!
        return (await readdir(join(library, table, "_versions"))).filter((name) => name.endsWith(".manifest"))
          .length
      })
      yield* TestClock.setTime(Date.now())
      yield* Effect.forEach(Arrays.range(1, 100), (n) =>
        collection.commit([documentOf(`${n}`, [`duck ${n}`])])
      )
      assert.isAtLeast(yield* versions, 100)
      yield* TestClock.adjust("11 minutes")
      yield* collection.commit([documentOf("last", ["duck"])])
      // They are dropped in the background.
      yield* Effect.repeat(versions, { until: (count) => count <= 10 })
    }).pipe(Effect.scoped)
  )
})

describe("snapshots", () => {
  it.effect("are read-only while the collection changes, and can be restored", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const index = yield* storeIn(library)
      const now = yield* index.open("default", MANIFEST)
      const first = documentOf("a", ["duck one", "duck two"])
      yield* now.commit([first])
      yield* index.tag("default", "it's 一")
      yield* now.commit([documentOf("b", ["duck three"])])
      yield* index.tag("default", "second")
      yield* now.remove([first.info.id])
      assert.deepStrictEqual(
        (yield* index.tags("default")).map(({ name }) => name),
        ["it's 一", "second"]
      )
      const then = yield* index.checkout("default", "it's 一", MANIFEST)
      assert.deepStrictEqual(yield* textsOf(then), ["duck one", "duck two"])
      assert.deepStrictEqual(yield* textsOf(now), ["duck three"])
      assert.deepStrictEqual(
        (yield* then.documents).map(({ path }) => path),
        ["a"]
      )
      for (const write of [then.commit([first]), then.remove([first.info.id]), then.inventory, then.settle])
        assert.strictEqual((yield* Effect.flip(write)).reason, "PermissionDenied")
      yield* index.restore("default", "second", MANIFEST)
      assert.deepStrictEqual(yield* textsOf(now), ["duck one", "duck three", "duck two"])
      // and on from there
      yield* now.commit([documentOf("c", ["duck four"])])
      assert.strictEqual((yield* textsOf(now)).length, 4)
      assert.strictEqual((yield* textsOf(then)).length, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("survive compaction, pruning, a rebuild and a day, with their originals", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const store = yield* Layer.build(LanceIndex.layer(library, { keepFor: 0, keepVersions: 1 }))
      const index = Context.get(store, PassageIndex)
      const now = yield* index.open("default", MANIFEST)
      const [old, other] = [documentOf("a", ["duck one"]), documentOf("b", ["duck two"])]
      yield* now.commit([old])
      yield* index.tag("default", "before")
      yield* now.remove([old.info.id])
      for (let i = 0; i < 6; i++) yield* now.commit([documentOf("b", [`duck ${i}`])])
      const { next, publish } = yield* index.replace("default", MANIFEST)
      yield* next.commit([other])
      assert.isTrue(yield* publish(Effect.void))
      yield* TestClock.setTime(Date.now() + 2 * day)
      const anew = yield* index.open("default", MANIFEST)
      yield* anew.maintain
      yield* now.maintain
      const before = yield* index.checkout("default", "before", MANIFEST)
      assert.deepStrictEqual(yield* textsOf(before), ["duck one"])
      assert.deepStrictEqual(yield* before.original(old.info.sha256), Buffer.from(old.original))
      assert.deepStrictEqual(yield* textsOf(yield* index.open("default", MANIFEST)), ["duck two"])
      yield* index.restore("default", "before", MANIFEST)
      assert.deepStrictEqual(yield* textsOf(yield* index.open("default", MANIFEST)), ["duck one"])
    }).pipe(Effect.scoped)
  )

  it.effect("are dropped when removed, with what only they used", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const index = yield* storeIn(library)
      const now = yield* index.open("default", MANIFEST)
      const old = documentOf("a", ["duck one"])
      yield* now.commit([old])
      yield* index.tag("default", "before")
      yield* now.remove([old.info.id])
      yield* now.commit([documentOf("b", ["duck two"])])
      yield* TestClock.setTime(Date.now() + 2 * day)
      const versions = Effect.promise(async () => {
        const table = (await readdir(library)).find((name) => name.startsWith("c_"))!
        return (await readdir(join(library, table, "_versions"))).length
      })
      yield* now.maintain
      assert.isDefined(yield* now.original(old.info.sha256))
      const kept = yield* versions
      yield* index.untag("default", "before")
      yield* now.maintain
      assert.isUndefined(yield* now.original(old.info.sha256))
      assert.isBelow(yield* versions, kept)
      assert.deepStrictEqual(yield* textsOf(now), ["duck two"])
      for (const missing of [
        index.untag("default", "before"),
        index.checkout("default", "before", MANIFEST),
        index.restore("default", "before", MANIFEST),
        index.tag("nowhere", "x")
      ])
        assert.strictEqual((yield* Effect.flip(missing)).reason, "NotFound")
    }).pipe(Effect.scoped)
  )

  it.effect("open as read-only libraries", () =>
    Effect.gen(function* () {
      const { docs, library: folder } = yield* handbook
      const library = yield* Library.open(folder)
      yield* library.ingest(docs)
      yield* library.tag("monday")
      const question = "Where does the grey cat sleep?"
      const cats = (yield* library.documents).find(({ path }) => path.endsWith("cats.md"))!
      yield* library.remove(cats.id)
      const monday = yield* library.checkout("monday")
      const was = yield* monday.ask(question)
      assert.deepStrictEqual([was.found, (yield* library.ask(question)).found], [true, false])
      assert.strictEqual((yield* monday.stats).documents, 3)
      assert.strictEqual((yield* monday.stats).index.kind, "exact")
      for (const write of [
        monday.ingest(docs),
        monday.remove(cats.id),
        Stream.runDrain(monday.rebuild),
        monday.maintain,
        monday.tag("tuesday"),
        monday.untag("monday"),
        monday.restore("monday")
      ])
        assert.strictEqual(
          (yield* Effect.flip(Effect.asVoid<unknown, RagError, never>(write))).reason,
          "PermissionDenied"
        )
      yield* library.restore("monday")
      assert.isTrue((yield* library.ask(question)).found)
      yield* library.untag("monday")
      const half = "half of a smile \uD83D"
      yield* library.tag(half)
      assert.strictEqual((yield* (yield* library.checkout(half)).stats).documents, 3)
      yield* library.untag(half)
      assert.deepStrictEqual(yield* library.tags, [])
      yield* library.tag("latest")
      const earlier = yield* library.checkout("latest")
      yield* library.remove(cats.id)
      yield* library.tag("latest")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* earlier.documents).length, 3)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.effect("of the model before a rebuild are restored with that model", () =>
    Effect.gen(function* () {
      const { docs, library: folder } = yield* handbook
      const { layer } = yield* countingEmbedder({ id: "other-words", dimension: 32 })
      const other = Layer.mergeAll(layer, rerankerLayer, readerLayer)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const library = yield* Library.open(folder)
          yield* library.ingest(docs)
          yield* library.tag("before the move")
        })
      )
      yield* Stream.runDrain(Library.rebuild(folder)).pipe(Effect.provide(other))
      for (const refused of [
        Effect.flatMap(Library.open(folder), (library) => library.restore("before the move")),
        Library.restore(folder, "before the move")
      ]) {
        const told = yield* Effect.flip(Effect.scoped(refused).pipe(Effect.provide(other)))
        assert.strictEqual(told.reason, "ManifestMismatch")
        assert.match(told.message, /^Snapshot "before the move".*test-words.*Library\.restore/)
      }
      yield* Library.restore(folder, "before the move")
      const library = yield* Library.open(folder)
      assert.isTrue((yield* library.ask("Where does the grey cat sleep?")).found)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.effect("of another model are refused", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const index = yield* storeIn(library)
      yield* index.open("default", MANIFEST)
      yield* index.tag("default", "before")
      const other = { ...MANIFEST, embeddingModel: "other" }
      for (const refused of [
        index.checkout("default", "before", other),
        index.restore("default", "before", other)
      ])
        assert.strictEqual((yield* Effect.flip(refused)).reason, "ManifestMismatch")
    }).pipe(Effect.scoped)
  )

  it.effect("survive pruning during another call to the table", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const index = yield* storeIn(library)
      const collection = yield* index.open("default", MANIFEST)
      yield* collection.commit([documentOf("a", ["duck one"])])
      yield* index.tag("default", "before")
      yield* collection.commit([documentOf("b", ["duck two"])])
      const connection = yield* Effect.promise(() => connect(library))
      const names = yield* Effect.promise(() => connection.tableNames())
      const name = names.find((one) => one.startsWith("c_"))!
      const table = yield* Effect.promise(() => connection.openTable(name))
      const [snapshot] = yield* index.tags("default")
      const version =
        Math.max(...(yield* Effect.promise(() => table.listVersions())).map((one) => one.version)) - 1
      const kept = [{ ...snapshot!, collection: "default", table: name, version }]
      const counting = table.countRows()
      yield* pruneVersions(table, name, kept, {})
      assert.strictEqual(yield* Effect.promise(() => counting), 4)
      const then = yield* index.checkout("default", "before", MANIFEST)
      assert.deepStrictEqual(yield* textsOf(then), ["duck one"])
    }).pipe(Effect.scoped)
  )
})
