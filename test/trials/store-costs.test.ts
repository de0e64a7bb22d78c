/** What a call reads depends on what it touches: bytes and requests of a collection and of one ten times as large. */
import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { LanceIndex, PassageIndex } from "@sluice/rag/store"
import { presentManifest } from "../../packages/rag/src/embedding/PassageEmbedder.ts"
import { Context, Effect, Layer, Schedule } from "effect"
import { modelsLayer } from "../rag/Models.ts"
import { s3Server } from "../rag/S3Server.ts"
import { documentOf } from "../rag/StoredDocuments.ts"

const PASSAGES_OF_DOCUMENT = 10
const SMALL = 2_000
const LARGE = 20_000
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
  const count = passages / PASSAGES_OF_DOCUMENT
  for (let d = 0; d < count; d += 500)
    yield* collection.commit(
      Array.from({ length: Math.min(500, count - d) }, (_, i) =>
        documentOf(`document ${d + i}`, texts(d + i))
      )
    )
  yield* collection.settle
  yield* collection.maintain
}, Effect.scoped)

/** The requests and bytes of each call on a library of that size. */
const costs = Effect.fnUntraced(function* (passages: number) {
  const { counts, storageOptions } = yield* s3Server
  yield* fill(passages, storageOptions)
  const library = yield* Library.open(ADDRESS, { storageOptions })
  const costOf = Effect.fnUntraced(function* (call: Effect.Effect<unknown, unknown>) {
    const { read, requests } = counts
    yield* Effect.orDie(call)
    return { read: counts.read - read, requests: counts.requests - requests }
  })
  const file = { path: "late.md", bytes: bytes("# Late\n\nA late heron waits.") }
  // The first upload creates the vector cache and reads what every later call finds in memory.
  yield* library.ingest({ files: [{ path: "first.md", bytes: bytes("# First\n\nA heron waits.") }] })
  yield* library.stats
  const [removed] = yield* library.documents
  return {
    upload: yield* costOf(library.ingest({ files: [file] })),
    unchanged: yield* costOf(library.ingest({ files: [file] })),
    stats: yield* costOf(library.stats),
    removal: yield* costOf(library.remove(removed!.id))
  }
}, Effect.scoped)

/** Bytes that a call may read for each passage in the collection. */
const BYTES_PER_PASSAGE = {
  // A commit compares the identifiers of all rows: two writers of one new document must leave it once.
  upload: 45,
  unchanged: 4,
  stats: 1,
  removal: 4
}

describe("the cost of a call", () => {
  it.live("depends on what it touches, not on the size of the collection", () =>
    Effect.gen(function* () {
      const small = yield* costs(SMALL)
      const large = yield* costs(LARGE)
      for (const call of ["upload", "unchanged", "stats", "removal"] as const) {
        const grown = (large[call].read - small[call].read) / (LARGE - SMALL)
        const what = `${call}: ${JSON.stringify({ small: small[call], large: large[call], grown })}`
        assert.isAtMost(grown, BYTES_PER_PASSAGE[call], what)
        assert.isAtMost(large[call].requests, 2 * small[call].requests, what)
      }
    }).pipe(Effect.provide(modelsLayer))
  )

  it.live("a warm question on an object store makes a quarter of the requests", () =>
    Effect.gen(function* () {
      const { counts, storageOptions } = yield* s3Server
      yield* fill(LARGE, storageOptions)
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
      // The table is loaded in the background.
      const warm = yield* Effect.repeat(requestsOf(50), {
        schedule: Schedule.spaced("50 millis"),
        until: (requests) => requests <= cold / 4
      }).pipe(Effect.timeout("20 seconds"), Effect.orDie)
      assert.isAtMost(warm, 12)
    }).pipe(Effect.scoped, Effect.provide(modelsLayer))
  )
})
