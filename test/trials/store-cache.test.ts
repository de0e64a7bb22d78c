import { assert, describe, it } from "@effect/vitest"
import { Filter } from "@sluice/rag"
import type { Collection, Hit } from "@sluice/rag/store"
import { connect } from "@lancedb/lancedb"
import { Field, Schema, Utf8 } from "apache-arrow"
import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { cachedBytes, evictStore, tableCache } from "../../packages/rag/src/store/lance/TableCache.ts"
import { toTable, utf8, vectors } from "../../packages/rag/src/store/lance/LanceRows.ts"
import { vectorType } from "../../packages/rag/src/store/lance/LanceTables.ts"
import { DIMENSION, embedText } from "../rag/Models.ts"
import { collectionIn, documentOf } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const PASSAGES = 2_100
const words = (i: number) => `w${i % 97} w${(i * 7) % 89} w${(i * 13) % 83} w${(i * 29) % 79} item${i}`

const commit = (collection: Collection, name: string, from: number, count: number) =>
  collection.commit([
    documentOf(
      name,
      // A text without a word has no vector, and no keyword finds it.
      Array.from({ length: count }, (_, i) => (i === 7 ? "…" : words(from + i)))
    )
  ])

/** The hits without the order of equal ones. */
const summary = (hits: ReadonlyArray<Hit>) => {
  const least = Math.min(...hits.map(({ keywordScore = Infinity }) => keywordScore))
  return {
    similarities: hits
      .filter(({ vectorRank }) => vectorRank !== undefined)
      .toSorted((a, b) => a.vectorRank! - b.vectorRank!)
      .map(({ similarity }) => similarity!.toFixed(5)),
    scores: hits
      .filter(({ keywordRank }) => keywordRank !== undefined)
      .toSorted((a, b) => a.keywordRank! - b.keywordRank!)
      .map(({ keywordScore }) => keywordScore),
    keywords: hits
      .filter(({ keywordScore = 0 }) => keywordScore > least)
      .map(({ keywordScore, passage }) => [passage, keywordScore] as const)
      .toSorted(([a], [b]) => a.ordinal - b.ordinal || (a.id < b.id ? -1 : 1))
  }
}

const searches = (collection: Collection) =>
  Effect.forEach(Array.from({ length: 30 }).keys(), (i) =>
    collection.search({
      vector: i % 10 === 3 ? undefined : embedText(words(i * 31)),
      words: i % 10 === 6 ? undefined : words(i * 17),
      limit: i % 2 === 0 ? 10 : 35,
      vectors: i % 3 === 0,
      ...(i % 5 === 4 ? { filter: Filter.in("path", ["second", "late"]) } : {})
    })
  )

/** Searches until the table is in memory. */
const untilCached = Effect.fn(function* (collection: Collection, passages: number) {
  for (let i = 0; i < 2_000 && cachedBytes() === 0; i++) {
    yield* collection.search({ vector: embedText(words(i)), limit: 3 })
  }
  assert.isAbove(cachedBytes(), passages * DIMENSION * 4)
})

describe("a collection in the table cache", () => {
  it.live("finds what its table has after every commit, and is evicted when the store is closed", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* Effect.gen(function* () {
        const collection = yield* collectionIn(library)
        yield* commit(collection, "first", 0, PASSAGES / 2)
        yield* commit(collection, "second", PASSAGES / 2, PASSAGES / 2)
        yield* collection.maintain
        const stored = yield* searches(collection)
        assert.strictEqual(cachedBytes(), 0)
        yield* untilCached(collection, PASSAGES)
        const cached = yield* searches(collection)
        assert.deepStrictEqual(cached.map(summary), stored.map(summary))
        for (const [i, hits] of cached.entries()) {
          for (const { passage, vector } of hits) {
            assert.deepStrictEqual(vector, i % 3 === 0 ? embedText(passage.text) : undefined)
          }
        }
        // Another process adds one document and removes another; nothing is indexed yet.
        const other = yield* collectionIn(library)
        yield* commit(other, "late", 5_000, 9)
        yield* other.remove([documentOf("first", []).info.id])
        const [found] = yield* collection.search({ vector: embedText(words(5_003)), limit: 1 })
        assert.strictEqual(found?.passage.text, words(5_003))
        assert.strictEqual(cachedBytes(), 0)
        assert.isAbove((yield* collection.stats).index.unindexed, 0)
        yield* untilCached(collection, PASSAGES / 2)
        const ids = ["first", "late", "second"].map((path) => documentOf(path, []).info.id)
        const infos = Effect.map(collection.infos(ids), (found) =>
          found.map(({ passages, path }) => [path, passages])
        )
        const described = [
          ["late", 9],
          ["second", PASSAGES / 2]
        ]
        assert.deepStrictEqual(yield* infos, described)
        assert.deepStrictEqual(
          (yield* searches(collection)).map(summary),
          (yield* searches(yield* collectionIn(library))).map(summary)
        )
        yield* commit(other, "first", 0, 3)
        assert.deepStrictEqual((yield* infos).toSorted(), [["first", 3], ...described])
      }).pipe(Effect.scoped)
      assert.strictEqual(cachedBytes(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is loaded while searches run", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      yield* commit(collection, "first", 0, 200)
      const search = collection.search({
        vector: embedText(words(3)),
        limit: 3,
        filter: Filter.equals(["metadata", "team"], null)
      })
      const concurrent = Array.from({ length: 8 }, () => search)
      for (let i = 0; i < 60 && cachedBytes() === 0; i++) {
        yield* Effect.all(concurrent, { concurrency: "unbounded" })
      }
      assert.isAbove(cachedBytes(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is freed when another table takes its space", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* Effect.promise(async () => {
        const connection = await connect(library)
        const schema = new Schema([
          ...["passage", "kind", "document", "metadata"].map((name) => new Field(name, new Utf8(), true)),
          new Field("vector", vectorType(8), true)
        ])
        const large = Array.from({ length: 9 }, () => "x".repeat(5_000_000))
        const directions = large.map((_, i) => (i === 0 ? new Float32Array(8).fill(1) : undefined))
        const nothing = utf8(large.map(() => null))
        const columns = [utf8(large), nothing, nothing, nothing, vectors(directions, 8)]
        const cacheOf = async (name: string) => {
          const table = await connection.createTable(name, toTable(schema, large.length, columns))
          const cache = tableCache(connection, 8, (version) =>
            connection.openTable(name, undefined, { version })
          )
          await cache.load(table)
          return cache
        }
        const first = await cacheOf("first")
        const rows = new WeakRef(first.rows()!)
        first.rows()!.vector(0)!.fill(7)
        assert.deepStrictEqual(first.rows()!.vector(0), new Float32Array(8).fill(1))
        const second = await cacheOf("second")
        assert.isDefined(second.rows())
        // An object read from a WeakRef is kept until this turn ends.
        await new Promise(setImmediate)
        setFlagsFromString("--expose-gc")
        ;(runInNewContext("gc") as () => void)()
        assert.isUndefined(rows.deref())
        assert.isUndefined(first.rows())
        evictStore(connection)
        assert.isUndefined(second.rows())
      })
    }).pipe(Effect.scoped)
  )
})
