import { assert, describe, it } from "@effect/vitest"
import { Library, type RagError } from "@sluice/rag"
import { LanceIndex, PassageIndex } from "@sluice/rag/store"
import { Clock, Context, Effect, Layer } from "effect"
import { connect } from "../../packages/rag/src/store/lance/Lance.ts"
import { embedText, modelsLayer } from "./Models.ts"
import { s3Server, s3ServerWith } from "./S3Server.ts"
import { documentOf, MANIFEST } from "./StoredDocuments.ts"
import { handbook } from "./TestFolder.ts"

/** Rounds of one commit for each writer. */
const MOST_ROUNDS = 40

/** In most runs of ten rounds, one maintenance failed with "Not found … manifest". */
const MAINTAINED_ROUNDS = 10

describe("a library on an object store", () => {
  it.live("ingests, answers, tags and compacts", () =>
    Effect.gen(function* () {
      const { storageOptions } = yield* s3Server
      const { docs } = yield* handbook
      const library = yield* Library.open("s3://bucket/some/library", { storageOptions })
      yield* library.ingest(docs)
      yield* library.tag("before")
      const question = "Where does the grey cat sleep?"
      assert.isTrue((yield* library.ask(question)).found)
      const cats = (yield* library.documents).find(({ path }) => path.endsWith("cats.md"))!
      yield* library.remove(cats.id)
      yield* library.maintain
      const again = yield* Library.open("s3://bucket/some/library", { storageOptions })
      assert.isFalse((yield* again.ask(question)).found)
      assert.isTrue((yield* (yield* again.checkout("before")).ask(question)).found)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.live.each([
    ["ignored", /ignores `If-None-Match`: of 6 simultaneous writes [1-5] are there/],
    ["refused", /refuses writes with `If-None-Match`/]
  ] as const)("is refused where conditional writes are %s", ([conditionalWrites, message]) =>
    Effect.gen(function* () {
      const { storageOptions } = yield* s3ServerWith(conditionalWrites)
      const error = yield* Effect.flip(Library.open("s3://bucket/library", { storageOptions }))
      assert.strictEqual(error.reason, "Malformed")
      assert.match(error.message, message)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.live("is not said to lack conditional writes where its name has the number of that status", () =>
    Effect.gen(function* () {
      const { storageOptions } = yield* s3ServerWith("denied")
      const error = yield* Effect.flip(Library.open("s3://bucket/501", { storageOptions }))
      assert.notMatch(error.message, /If-None-Match/)
      assert.include(String(error.cause), "501")
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.live("is looked through for its newest version once by each call", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      const store = yield* Layer.build(LanceIndex.layer("s3://bucket/library", { storageOptions }))
      const { commit, search, settle, stats, stored } = yield* Context.get(store, PassageIndex).open(
        "default",
        MANIFEST
      )
      const listsOf = Effect.fnUntraced(function* (call: Effect.Effect<unknown, RagError>) {
        const { lists } = counts
        yield* call
        return counts.lists - lists
      })
      yield* commit([documentOf("duck", ["duck"])])
      // The first one looks for what a killed process left.
      yield* settle
      const calls = [settle, stats, search({ vector: embedText("duck"), words: "duck", limit: 1 })]
      assert.deepStrictEqual(yield* Effect.forEach(calls, listsOf), [1, 1, 1])
      // Before the write, by LanceDB at the commits of both tables, and the name of the collection.
      assert.strictEqual(yield* listsOf(commit([documentOf("pond", ["pond"])])), 4)
      // Of the version that was looked at, the write needs none.
      const heron = documentOf("heron", ["heron"])
      assert.deepStrictEqual(yield* stored([heron.info.id]), [])
      assert.strictEqual(yield* listsOf(commit([heron])), 3)
    }).pipe(Effect.scoped)
  )

  it.live("is written by a process that has not seen another's restored snapshot", () =>
    Effect.gen(function* () {
      const { storageOptions } = yield* s3Server
      const open = Effect.map(
        Layer.build(LanceIndex.layer("s3://bucket/library", { storageOptions })),
        (store) => Context.get(store, PassageIndex)
      )
      const [first, second] = [yield* open, yield* open]
      const { commit, documents, stored } = yield* first.open("default", MANIFEST)
      yield* commit([documentOf("duck", ["duck"])])
      yield* first.tag("default", "before")
      yield* commit([documentOf("pond", ["pond"])])
      const heron = documentOf("heron", ["heron"])
      yield* stored([heron.info.id])
      yield* second.restore("default", "before", MANIFEST)
      yield* commit([heron])
      assert.deepStrictEqual((yield* documents).map(({ path }) => path).toSorted(), ["duck", "heron"])
    }).pipe(Effect.scoped)
  )

  it.live("is read once by an upload for each file outside the indexes", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      const store = yield* Layer.build(LanceIndex.layer("s3://bucket/library", { storageOptions }))
      const { commit, stored } = yield* Context.get(store, PassageIndex).open("default", MANIFEST)
      const upload = (n: number) => {
        const document = documentOf(`${n}`, [`duck ${n}`])
        return Effect.flatMap(stored([document.info.id]), ([replaces]) => commit([{ ...document, replaces }]))
      }
      const requestsOf = Effect.fnUntraced(function* (n: number) {
        const { requests } = counts
        yield* upload(n)
        return counts.requests - requests
      })
      const requests = yield* Effect.forEach([1, 2, 3, 4, 5, 6], requestsOf)
      assert.strictEqual(requests[5]! - requests[2]!, 3)
    }).pipe(Effect.scoped)
  )

  it.live("is read twice by stats for each file outside the indexes", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      const store = yield* Layer.build(LanceIndex.layer("s3://bucket/library", { storageOptions }))
      const { commit, stats } = yield* Context.get(store, PassageIndex).open("default", MANIFEST)
      const requestsOf = Effect.fnUntraced(function* (n: number) {
        yield* commit([documentOf(`${n}`, [`duck ${n}`])])
        // The first call reads the descriptions of the files too.
        yield* stats
        const { requests } = counts
        assert.deepInclude(yield* stats, { documents: n, passages: n })
        return counts.requests - requests
      })
      const requests = yield* Effect.forEach([1, 2, 3, 4, 5, 6], requestsOf)
      assert.strictEqual(requests[5]! - requests[2]!, 2 * 3)
    }).pipe(Effect.scoped)
  )

  it.live("is read by a search for the texts of its hits, not of all candidates", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      const store = yield* Layer.build(LanceIndex.layer("s3://bucket/library", { storageOptions }))
      const { commit, search } = yield* Context.get(store, PassageIndex).open("default", MANIFEST)
      const long = "and so it goes by the pond ".repeat(400)
      yield* commit(Array.from({ length: 200 }, (_, i) => documentOf(`${i}`, [`heron ${i} ${long}`])))
      const nearest = (i: number) => search({ vector: embedText(`heron ${i}`), limit: 2, vectors: true })
      yield* nearest(0)
      const { read } = counts
      const hits = yield* nearest(7)
      assert.deepStrictEqual([hits.length, hits[0]?.vector?.length], [2, 64])
      // Sixty candidates have 650 KB of texts.
      assert.isBelow(counts.read - read, 300_000)
    }).pipe(Effect.scoped)
  )

  it.live("has one version of a document whose description was lost, after a look-up found none", () =>
    Effect.gen(function* () {
      const { storageOptions } = yield* s3Server
      const address = "s3://bucket/library"
      const store = yield* Layer.build(LanceIndex.layer(address, { storageOptions }))
      const { commit, passages, stored } = yield* Context.get(store, PassageIndex).open("default", MANIFEST)
      const document = documentOf("pond", ["duck", "pond"])
      yield* commit([document])
      const connection = yield* connect(address, { storageOptions })
      yield* Effect.promise(async () => {
        const name = (await connection.tableNames()).find((table) => table.startsWith("c_"))!
        await (await connection.openTable(name)).delete("kind = 'document'")
      })
      assert.deepStrictEqual(yield* stored([document.info.id]), [])
      yield* commit([document])
      assert.deepStrictEqual(
        (yield* passages(document.info.id)).map(({ text }) => text),
        ["duck", "pond"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is maintained by two processes at the same time", () =>
    Effect.gen(function* () {
      const { storageOptions } = yield* s3Server
      const open = Effect.flatMap(
        Layer.build(LanceIndex.layer("s3://bucket/shared", { storageOptions })),
        (store) => Context.get(store, PassageIndex).open("default", MANIFEST)
      )
      const [first, second] = [yield* open, yield* open]
      const clock = yield* Clock.Clock
      // Two days later, all versions but the last are dropped: each process lists some that the other one has dropped.
      const later: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + 2 * 24 * 60 * 60 * 1000)
      })
      for (let round = 0; round < MAINTAINED_ROUNDS; round++) {
        for (let i = 0; i < 3; i++)
          yield* first.commit([
            documentOf(
              `duck ${round} ${i}`,
              Array.from({ length: 60 }, () => "duck")
            )
          ])
        yield* Effect.all([first.maintain, second.maintain], { concurrency: 2 }).pipe(
          Effect.provideService(Clock.Clock, later)
        )
      }
      assert.strictEqual((yield* first.documents).length, 3 * MAINTAINED_ROUNDS)
    }).pipe(Effect.scoped)
  )

  it.live("retries conflicting commits of several writers", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      const open = Effect.flatMap(
        Layer.build(LanceIndex.layer("s3://bucket/shared", { storageOptions })),
        (store) => Context.get(store, PassageIndex).open("default", MANIFEST)
      )
      const first = yield* open
      const writers = [first, yield* open, yield* open]
      let rounds = 0
      // Until two of them have met: how often they do is the machine's matter.
      while (counts.refused === 0 && rounds < MOST_ROUNDS) {
        const round = rounds++
        yield* Effect.forEach(
          writers,
          (writer, w) => writer.commit([documentOf(`document ${w} ${round}`, ["duck", "pond"])]),
          { concurrency: "unbounded" }
        )
      }
      assert.strictEqual((yield* first.documents).length, 3 * rounds)
      assert.strictEqual((yield* first.search({ words: "duck", limit: 3 * rounds + 1 })).length, 3 * rounds)
      assert.isTrue((yield* first.inventory).every(({ isComplete }) => isComplete))
      assert.isAbove(counts.conditional, 3 * rounds)
      assert.isAbove(counts.refused, 0)
    }).pipe(Effect.scoped)
  )
})
