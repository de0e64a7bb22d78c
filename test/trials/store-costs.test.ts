/** What a call reads depends on what it touches: bytes and requests of a collection and of one ten times as large. */
import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { LanceIndex, PassageIndex } from "@sluice/rag/store"
import { connectStore } from "../../packages/rag/src/store/lance/Lance.ts"
import { openFiles } from "../../packages/rag/src/store/lance/LanceFiles.ts"
import { presentManifest } from "../../packages/rag/src/embedding/PassageEmbedder.ts"
import { Clock, Context, Effect, Layer, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import { modelsLayer } from "../rag/Models.ts"
import { s3Server } from "../rag/S3Server.ts"
import { collectionIn, documentOf } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"
import { mkdir } from "node:fs/promises"

const PASSAGES_OF_DOCUMENT = 10
const SMALL = 10_000
const LARGE = 100_000
/** Of the trial of questions. */
const CACHED = 20_000
/** A folder is ingested in commits of so many passages: 5 and 50 versions, of which each call lists those that are kept. */
const COMMIT_PASSAGES = 2_000
const ADDRESS = "s3://bucket/library"

const bytes = (text: string) => new TextEncoder().encode(text)

const fill = Effect.fnUntraced(function* (
  passages: number,
  storageOptions: Readonly<Record<string, string>>
) {
  const index = Context.get(yield* Layer.build(LanceIndex.layer(ADDRESS, { storageOptions })), PassageIndex)
  const collection = yield* index.open("default", yield* presentManifest)
  const texts = (d: number) =>
    Array.from({ length: PASSAGES_OF_DOCUMENT }, (_, i) => `heron w${(d * 7 + i) % 97} number ${d} ${i}`)
  const each = COMMIT_PASSAGES / PASSAGES_OF_DOCUMENT
  for (let d = 0; d < passages / PASSAGES_OF_DOCUMENT; d += each)
    yield* collection.commit(
      Array.from({ length: each }, (_, i) => documentOf(`document ${d + i}`, texts(d + i)))
    )
  yield* collection.settle
  const clock = yield* Clock.Clock
  // As the server does once an hour. The versions of the originals are dropped, and their files compacted, after a day.
  const later: Clock.Clock = Object.assign(Object.create(clock), {
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + 25 * 60 * 60 * 1000)
  })
  yield* Effect.provideService(collection.maintain, Clock.Clock, later)
}, Effect.scoped)

/** Waits for what runs in the background. */
const isQuiet = (counts: { readonly requests: number }) => {
  let last = -1
  return Effect.repeat(
    Effect.sync(() => last === (last = counts.requests)),
    { schedule: Schedule.spaced("200 millis"), until: (isQuiet) => isQuiet }
  )
}

const CALLS = ["upload", "unchanged", "stats", "removal"] as const

/** Calls of each kind that are counted. */
const COUNTED = 5

/** The mean requests and bytes of each call on a library of that size. */
const costs = Effect.fnUntraced(function* (passages: number) {
  const { counts, storageOptions } = yield* s3Server
  yield* fill(passages, storageOptions)
  const library = yield* Library.open(ADDRESS, { storageOptions })
  const sums = Object.fromEntries(CALLS.map((call) => [call, { read: 0, requests: 0 }]))
  const count = Effect.fnUntraced(function* (
    name: (typeof CALLS)[number],
    call: Effect.Effect<unknown, unknown>
  ) {
    const { read, requests } = counts
    yield* Effect.orDie(call)
    sums[name]!.read += (counts.read - read) / COUNTED
    sums[name]!.requests += (counts.requests - requests) / COUNTED
  })
  const upload = (n: number) =>
    library.ingest({ files: [{ path: `late ${n}.md`, bytes: bytes(`# Late ${n}\n\nA late heron waits.`) }] })
  // The first calls read what every later call finds in memory.
  yield* upload(0)
  yield* library.stats
  const documents = yield* library.documents
  // The index of documents is read in the background.
  yield* isQuiet(counts)
  for (let n = 1; n <= COUNTED; n++) {
    yield* count("upload", upload(n))
    yield* count("unchanged", upload(n))
    yield* count("stats", library.stats)
    yield* count("removal", library.remove(documents[n * 100]!.id))
  }
  return sums
}, Effect.scoped)

/** Uploads of one passage, and the sizes of the collections that they are made to. */
const UPLOADS = 256
const SIZES = [3_000, 30_000] as const

/** The mean bytes and requests of uploads, with all that follows from them. */
const uploadCosts = Effect.fnUntraced(function* (passages: number) {
  const { counts, storageOptions } = yield* s3Server
  yield* fill(passages, storageOptions)
  const library = yield* Library.open(ADDRESS, { storageOptions })
  const upload = (n: number) =>
    library.ingest({
      files: [{ path: `late ${n}.md`, bytes: bytes(`# Late ${n}\n\nA late heron ${n} waits.`) }]
    })
  yield* upload(0)
  const { read, requests, written } = counts
  yield* Effect.forEach(Array.from({ length: UPLOADS }).keys(), (n) => upload(n + 1), { discard: true })
  yield* isQuiet(counts)
  return {
    written: (counts.written - written) / UPLOADS,
    read: (counts.read - read) / UPLOADS,
    requests: (counts.requests - requests) / UPLOADS
  }
}, Effect.scoped)

const MOST_SEARCHES = 500

/** How much more a call may cost in a collection ten times as large. */
const GROWTH = 1.3

describe("the cost of a call", () => {
  it.live("depends on what it touches, not on the size of the collection", () =>
    Effect.gen(function* () {
      const [small, large] = [yield* costs(SMALL), yield* costs(LARGE)]
      for (const call of CALLS) {
        const what = `${call}: ${JSON.stringify({ small: small[call], large: large[call] })}`
        assert.isAtMost(large[call]!.requests, GROWTH * small[call]!.requests, what)
        assert.isAtMost(large[call]!.read, GROWTH * small[call]!.read, what)
      }
    }).pipe(Effect.provide(modelsLayer))
  )

  it.live("of an upload, with the compactions that many cause, does not grow with the collection", () =>
    Effect.gen(function* () {
      const [small, large] = yield* Effect.forEach(SIZES, uploadCosts)
      for (const cost of ["written", "read", "requests"] as const)
        assert.isAtMost(large![cost], GROWTH * small![cost], JSON.stringify({ cost, small, large }))
    }).pipe(Effect.provide(modelsLayer))
  )

  it.live("of a search for the texts outside the index is bounded: they are added to it", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      const texts = (count: number) => Array.from({ length: count }, (_, i) => `heron w${i % 97} number ${i}`)
      yield* collection.commit(Array.from({ length: 30 }, (_, d) => documentOf(`d${d}`, texts(100))))
      yield* collection.settle
      yield* collection.commit([documentOf("late", texts(150))])
      yield* collection.settle
      const unindexed = Effect.map(collection.stats, ({ index }) => index.unindexedTexts)
      assert.strictEqual(yield* unindexed, 151)
      // Eight of them have read as many texts as a third of the rows. The index of the first commit may still be measured.
      const search = collection.search({ words: "heron w7", limit: 3 })
      const left = Effect.andThen(search, unindexed)
      const last = yield* Effect.repeat(left, { until: (texts) => texts === 0, times: MOST_SEARCHES })
      assert.strictEqual(last, 0)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "of the first search after many uploads is that of a search: the texts are added to the index at a pause",
    () =>
      Effect.gen(function* () {
        const { library } = yield* testFolder
        const collection = yield* collectionIn(library)
        const texts = (count: number) =>
          Array.from({ length: count }, (_, i) => `heron w${i % 97} number ${i}`)
        yield* collection.commit(Array.from({ length: 30 }, (_, d) => documentOf(`d${d}`, texts(100))))
        yield* collection.settle
        // The index is measured in the background, and a pass over it would wait.
        yield* Effect.repeat(collection.stats, {
          until: ({ index }) => index.recall !== undefined,
          times: MOST_SEARCHES
        })
        yield* collection.commit([documentOf("late", texts(150))])
        yield* collection.settle
        const unindexed = Effect.map(collection.stats, ({ index }) => index.unindexedTexts)
        yield* TestClock.adjust("29 seconds")
        yield* collection.settle
        yield* TestClock.adjust("29 seconds")
        // Another ingest has ended since.
        assert.strictEqual(yield* unindexed, 151)
        yield* TestClock.adjust("31 seconds")
        assert.strictEqual(
          yield* Effect.repeat(unindexed, { until: (texts) => texts === 0, times: MOST_SEARCHES }),
          0
        )
      }).pipe(Effect.scoped)
  )

  it.live("many files of a request are looked up and committed together", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      const library = yield* Library.open(ADDRESS, { storageOptions })
      const files = Stream.range(1, 200).pipe(
        Stream.map((n) => ({ path: `${n}.md`, bytes: bytes(`# ${n}\n\nHeron ${n} waits.`) })),
        // As the parts of a form come.
        Stream.rechunk(1)
      )
      const { requests } = counts
      assert.strictEqual((yield* library.ingest({ files })).added, 200)
      assert.isAtMost(counts.requests - requests, 200)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )

  it.live("a look-up of an original opens a hundred files at most, however many were written", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      yield* Effect.promise(() => mkdir(library))
      const { opened, put } = yield* openFiles(yield* connectStore(library))
      const table = yield* opened
      let most = 0
      for (let written = 0; written < 200; written++) {
        yield* put(new Map([[`${written}`.padStart(64, "0"), bytes(`original ${written}`)]]))
        // LanceDB looks into each data file outside the index: 75 ms of CPU for 1,000.
        const stats = yield* Effect.promise(() => table.indexStats("sha256_idx"))
        most = Math.max(most, written + 1 - (stats?.numIndexedRows ?? 0))
      }
      assert.isAtMost(most, 100)
    }).pipe(Effect.scoped)
  )

  it.live("a warm question on an object store makes six requests", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      yield* fill(CACHED, storageOptions)
      const library = yield* Library.open(ADDRESS, { storageOptions })
      const ask = (n: number) => library.retrieve(`heron w${n % 97} number ${n}`)
      const requestsOf = Effect.fnUntraced(function* (from: number) {
        const { requests } = counts
        for (let n = from; n < from + 5; n++) yield* ask(n)
        return (counts.requests - requests) / 5
      })
      yield* ask(0)
      const cold = yield* requestsOf(1)
      for (let n = 6; n < 41; n++) yield* ask(n)
      // The table is loaded in the background. The questions that saw it first may have begun before.
      yield* Effect.repeat(requestsOf(50), {
        schedule: Schedule.spaced("50 millis"),
        until: (requests) => requests <= cold / 4
      }).pipe(Effect.timeout("20 seconds"), Effect.orDie)
      // Once a second, the name of the collection is looked up too.
      assert.isAtMost(yield* requestsOf(60), 7)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )
})
