import { assert, describe, it } from "@effect/vitest"
import { connect } from "@lancedb/lancedb"
import type { RagError } from "@sluice/rag"
import type { IndexedDocument } from "@sluice/rag/store"
import { Effect, Fiber, Logger } from "effect"
import { readdir } from "node:fs/promises"
import { DIMENSION, embedText } from "../rag/Models.ts"
import { collectionIn, documentOf, MANIFEST, passagesIn, storeIn } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const texts = (count: number, about: string) =>
  Array.from({ length: count }, (_, i) => `${about} passage number ${i} of ${about}`)

describe("the index of a collection", () => {
  it.effect("finds what a scan finds, and passages outside the index", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      const words = (i: number) => `w${i % 97} w${(i * 7) % 89} w${(i * 13) % 83} w${(i * 29) % 79} item${i}`
      yield* collection.commit(
        Array.from({ length: 25 }, (_, d) =>
          documentOf(
            `document ${d}`,
            Array.from({ length: 100 }, (_, i) => words(d * 100 + i))
          )
        )
      )
      const question = embedText("w1 w7 w13 w29 item1")
      const similarities = Effect.map(collection.search({ vector: question, limit: 20 }), (hits) =>
        hits.map(({ similarity }) => similarity ?? 0)
      )
      const scanned = yield* similarities
      yield* collection.settle
      const indexed = yield* similarities
      const total = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)
      assert.isTrue(total(indexed) >= total(scanned) * 0.99, `${total(indexed)} of ${total(scanned)}`)
      yield* collection.commit([documentOf("late", ["w1 w7 w13 w29 item1 late"])])
      const { kind, unindexed, unindexedTexts } = (yield* collection.stats).index
      assert.deepStrictEqual([kind, unindexed, unindexedTexts], ["IVF_RQ", 2, 2])
      assert.include(
        (yield* collection.search({ vector: question, limit: 20 })).map(
          ({ passage }) => passage.document.path
        ),
        "late"
      )
      yield* collection.maintain
      assert.include(
        (yield* collection.search({ vector: question, limit: 20 })).map(
          ({ passage }) => passage.document.path
        ),
        "late"
      )
      assert.strictEqual((yield* collection.stats).passages, 2501)
      const stats = (yield* collection.stats).index
      assert.strictEqual(stats.unindexed, 0)
      assert.isAtLeast(stats.recall ?? 0, 0.97)
      assert.strictEqual(stats.measuredAt, 2501)
      assert.isAtLeast(stats.extra ?? 0, 20)
    }).pipe(Effect.scoped)
  )

  it.live("compacts many small files in the background, but not if one file has most rows", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      const connection = yield* Effect.promise(() => connect(library))
      const files = Effect.promise(async () => {
        const name = (await connection.tableNames()).find((table) => table.startsWith("c_"))!
        return (await (await connection.openTable(name)).stats()).fragmentStats.numFragments
      })
      const commits = (count: number, about: string, passages: number) =>
        Effect.forEach(Array.from({ length: count }).keys(), (i) =>
          collection.commit([documentOf(`${about} ${i}`, texts(passages, `${about} ${i}`))])
        )
      yield* commits(12, "duck", 5)
      assert.strictEqual(yield* files, 12)
      yield* collection.settle
      yield* Effect.repeat(files, { until: (count) => count === 1 })
      yield* commits(9, "heron", 1)
      yield* collection.settle
      assert.strictEqual(yield* files, 10)
      assert.strictEqual((yield* collection.stats).passages, 69)
      assert.strictEqual((yield* collection.search({ words: "heron", limit: 20 })).length, 9)
      connection.close()
    }).pipe(Effect.scoped)
  )

  it.live("joins the last small files without another index, and finds what is in them", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      yield* collection.commit([documentOf("long", texts(300, "duck"))])
      yield* collection.settle
      for (let i = 1; i < 32; i++)
        yield* collection.commit([documentOf(`heron ${i}`, [`heron number h${i}`])])
      const table = yield* Effect.promise(() => passagesIn(library))
      const filesAfter = (change: Effect.Effect<void, RagError>) =>
        Effect.andThen(
          change,
          Effect.promise(async () => (await table.stats()).fragmentStats.numFragments)
        )
      assert.strictEqual(yield* filesAfter(Effect.void), 32)
      assert.strictEqual(yield* filesAfter(collection.settle), 2)
      const { index, passages } = yield* collection.stats
      assert.deepStrictEqual([passages, index.unindexedTexts], [331, 62])
      const found = yield* collection.search({ words: "h17", limit: 3 })
      assert.deepStrictEqual(
        found.map(({ passage }) => passage.text),
        ["heron number h17"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("an ingest does not wait for the measurement of the index that another one has built", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      const lots = Array.from({ length: 25 }, (_, d) => documentOf(`duck ${d}`, texts(100, `duck ${d}`)))
      yield* collection.commit(lots)
      yield* collection.settle
      yield* collection.commit([documentOf("late", texts(1, "heron"))])
      yield* collection.settle
      assert.isUndefined((yield* collection.stats).index.measuredAt)
      yield* Effect.repeat(collection.stats, {
        until: ({ index: { measuredAt } }) => measuredAt !== undefined
      })
    }).pipe(Effect.scoped)
  )

  it.live("a collection dropped during compaction is removed, and can be created again", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const tables = Effect.promise(async () =>
        (await readdir(library)).filter((name) => name.startsWith("c_"))
      )
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(String(message)))
      const dropped = yield* Effect.gen(function* () {
        const index = yield* storeIn(library)
        const collection = yield* index.open("default", MANIFEST)
        yield* Effect.forEach(Array.from({ length: 12 }).keys(), (d) =>
          collection.commit([documentOf(`duck ${d}`, texts(100, `duck ${d}`))])
        )
        const [own] = yield* tables
        // What settle has begun beside it is under way, and another one waits for its turn.
        yield* collection.settle
        const other = yield* Effect.forkChild(Effect.exit(collection.maintain))
        yield* Effect.yieldNow
        yield* index.drop("default")
        yield* Fiber.join(other)
        assert.deepStrictEqual(yield* tables, [])
        const anew = yield* index.open("default", MANIFEST)
        yield* anew.commit([documentOf("heron", ["heron"])])
        assert.strictEqual((yield* anew.stats).passages, 1)
        return own
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([logger])))
      // The store is closed: nothing goes on beside this.
      const left = yield* tables
      assert.strictEqual(left.length, 1)
      assert.notInclude(left, dropped)
      assert.deepStrictEqual(logged, [])
    }).pipe(Effect.scoped)
  )

  it.live("allows writes and searches while an index is built", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      yield* collection.commit(
        Array.from({ length: 30 }, (_, d) =>
          documentOf(
            `document ${d}`,
            texts(100, `about ${d}`).map((text, i) => `${text} item${d * 100 + i}`)
          )
        )
      )
      const settling = yield* Effect.forkChild(collection.settle)
      for (let i = 0; i < 5; i++) {
        yield* collection.commit([documentOf(`late ${i}`, [`zebra ${i}`])])
        const hits = yield* collection.search({ vector: embedText("zebra"), words: "zebra", limit: 10 })
        assert.strictEqual(hits.filter(({ passage }) => passage.text.startsWith("zebra")).length, i + 1)
      }
      yield* Fiber.join(settling)
      assert.strictEqual((yield* collection.stats).passages, 3005)
      assert.strictEqual((yield* collection.stats).index.kind, "IVF_RQ")
    }).pipe(Effect.scoped)
  )

  it.effect("answers in collections of 0, 1 and 19 passages, and for zero vectors", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      const ask = (vector: Float32Array) =>
        Effect.map(collection.search({ vector, words: "duck", limit: 20 }), (hits) => hits.length)
      const duck = embedText("duck")
      assert.strictEqual(yield* ask(duck), 0)
      yield* collection.commit([documentOf("a", ["duck"])])
      yield* collection.maintain
      assert.strictEqual(yield* ask(duck), 1)
      // the same text again and again, each in its place
      yield* collection.commit([
        documentOf(
          "b",
          Array.from({ length: 18 }, () => "duck")
        )
      ])
      yield* collection.settle
      assert.strictEqual(yield* ask(duck), 19)
      assert.strictEqual(yield* ask(new Float32Array(DIMENSION)), 19)
      assert.deepStrictEqual(yield* collection.search({ vector: new Float32Array(DIMENSION), limit: 20 }), [])
      for (const wrong of [new Float32Array(3), new Float32Array(DIMENSION).fill(Number.NaN)])
        assert.strictEqual((yield* Effect.flip(ask(wrong))).reason, "Model")
    }).pipe(Effect.scoped)
  )

  it.live("is measured before the program ends, and after another one was killed", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const settled = (documents: ReadonlyArray<IndexedDocument>) =>
        Effect.flatMap(collectionIn(library), (collection) =>
          Effect.andThen(collection.commit(documents), collection.settle)
        ).pipe(Effect.scoped)
      const recall = Effect.flatMap(collectionIn(library), ({ stats }) =>
        Effect.map(stats, ({ index }) => index.recall)
      ).pipe(Effect.scoped)
      yield* settled([documentOf("duck", texts(2_000, "duck"))])
      assert.isAtLeast((yield* recall) ?? 0, 0.97)
      yield* Effect.promise(async () => {
        const table = await passagesIn(library)
        await table.updateFieldMetadata([{ path: "vector", metadata: { "sluice:recall": null } }])
      })
      assert.isUndefined(yield* recall)
      yield* settled([])
      assert.isAtLeast((yield* recall) ?? 0, 0.97)
    }).pipe(Effect.scoped)
  )

  it.live("uses the measurement of another process", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      yield* collection.commit([documentOf("duck", texts(300, "duck"))])
      const compared = Effect.map(
        collection.search({ vector: embedText("number 299"), words: "duck", limit: 50 }),
        (hits) => hits.every(({ similarity }) => similarity !== undefined)
      )
      assert.isFalse(yield* compared)
      yield* Effect.promise(async () => {
        const table = await passagesIn(library)
        const found = { extra: 640, recall: 1, questions: 16, rows: 100, measured: 0 }
        await table.updateFieldMetadata([
          { path: "vector", metadata: { "sluice:recall": JSON.stringify(found) } }
        ])
      })
      let all = false
      for (let i = 0; i < 60 && !all; i++) all = yield* compared
      assert.isTrue(all)
    }).pipe(Effect.scoped)
  )
})
