/** Retrieval recalls 20, reranks in one call, keeps 3, and traces it. */
import { assert, describe, it } from "@effect/vitest"
import { Reranker } from "@sluice/core"
import type { Candidate, Ranking } from "@sluice/core/models"
import { Library } from "@sluice/rag"
import { FUSION, KEEP, RECALL } from "@sluice/rag/retrieval"
import { Effect, Layer, Ref } from "effect"
import { embedderLayer, modelsLayer, readerLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const manySections = Effect.gen(function* () {
  const test = yield* testFolder
  for (let i = 0; i < 40; i++) {
    const text = `The pump of station ${i} is serviced in week ${i} by crew ${i % 7}. `.repeat(14)
    yield* test.write(`docs/station${i}.md`, `# Station ${i}\n\n## Pumps\n\n${text}\n`)
  }
  return test
})

/** A reranker with a fixed answer. */
const scripted = (answer: (documents: ReadonlyArray<Candidate>) => Ranking["results"]) =>
  Effect.gen(function* () {
    const calls = yield* Ref.make<ReadonlyArray<ReadonlyArray<Candidate>>>([])
    const layer = Layer.succeed(
      Reranker,
      Reranker.of({
        model: { id: "scripted", kind: "neural", maxDocuments: 30 },
        rerank: (_, documents) =>
          Effect.as(
            Ref.update(calls, (before) => [...before, documents]),
            {
              results: answer(documents),
              tokens: 0
            }
          )
      })
    )
    return { models: Layer.mergeAll(embedderLayer, layer, readerLayer), calls: Ref.get(calls) }
  })

const reversed = (documents: ReadonlyArray<Candidate>) =>
  documents.map((_, i) => ({ index: documents.length - 1 - i, score: -i }))

describe("retrieve", () => {
  it.effect("traces all recalled passages with both ranks, and keeps the best after reranking", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* manySections
      const { calls, models } = yield* scripted(reversed)
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        const { kept, trace } = yield* library.retrieve("When is the pump of station 7 serviced?")
        assert.deepStrictEqual([RECALL, KEEP], [20, 3])
        assert.strictEqual(trace.passages.length, RECALL)
        assert.deepStrictEqual(
          trace.passages.map(({ recallRank }) => recallRank),
          Array.from({ length: RECALL }, (_, i) => i + 1)
        )
        assert.deepStrictEqual(
          trace.passages.map(({ rerankRank }) => rerankRank),
          Array.from({ length: RECALL }, (_, i) => RECALL - i)
        )
        const scores = trace.passages.map(({ recallScore }) => recallScore)
        assert.deepStrictEqual(
          scores,
          scores.toSorted((a, b) => b - a)
        )
        for (const { keywordRank, keywordScore, similarity, vectorRank } of trace.passages) {
          assert.isTrue(vectorRank !== undefined || keywordRank !== undefined)
          assert.strictEqual(keywordScore === undefined, keywordRank === undefined)
          assert.isTrue(similarity !== undefined && Math.abs(similarity) <= 1.0001)
        }
        assert.isTrue(trace.passages.some(({ keywordScore }) => (keywordScore ?? 0) > 0))
        assert.deepStrictEqual([trace.fusion, trace.candidates], [FUSION, RECALL])
        assert.deepStrictEqual(
          kept.map(({ id }) => id),
          trace.passages
            .filter((passage) => passage.kept)
            .toReversed()
            .map(({ passage }) => passage.id)
        )
        assert.strictEqual(kept.length, KEEP)
        assert.strictEqual(new Set(trace.passages.map(({ passage }) => passage.id)).size, RECALL)
        assert.deepStrictEqual(
          trace.stages.map(({ stage }) => stage),
          ["embed", "recall", "fuse", "dedupe", "rerank", "select"]
        )
        const made = yield* calls
        assert.strictEqual(made.length, 1, "one rerank call for one question")
        assert.match(made[0]?.[0]?.title ?? "", /^Station \d+ > Pumps$/)
      }).pipe(Effect.provide(models))
    }).pipe(Effect.scoped)
  )

  it.effect("accepts other numbers, up to the reranker's limit", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* manySections
      const { models } = yield* scripted(reversed)
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at, { recall: 8, keep: 2 })
        yield* library.ingest(docs)
        const counts = (options?: { recall?: number; keep?: number }) =>
          Effect.map(library.retrieve("pump of station", options), ({ kept, trace }) => [
            trace.passages.length,
            kept.length
          ])
        assert.deepStrictEqual(yield* counts(), [8, 2])
        assert.deepStrictEqual(yield* counts({ recall: 1000, keep: 5 }), [30, 5])
        assert.deepStrictEqual(yield* counts({ recall: 1, keep: 5 }), [1, 1])
      }).pipe(Effect.provide(models))
    }).pipe(Effect.scoped)
  )

  for (const [fault, answer] of [
    ["leaves documents out", (all: Ranking["results"]) => all.slice(1)],
    ["ranks one twice", (all: Ranking["results"]) => all.map((one, i) => (i === 1 ? all[0]! : one))],
    [
      "points outside",
      (all: Ranking["results"]) => all.map((one, i) => (i === 0 ? { ...one, index: 99 } : one))
    ],
    ["scores with NaN", (all: Ranking["results"]) => all.map((one) => ({ ...one, score: Number.NaN }))],
    ["does not sort", (all: Ranking["results"]) => all.map((one, i) => ({ ...one, score: i }))]
  ] as const) {
    it.effect(`rejects a reranker that ${fault}`, () =>
      Effect.gen(function* () {
        const { docs, library: at } = yield* manySections
        const { models } = yield* scripted((documents) => answer(reversed(documents)))
        yield* Effect.gen(function* () {
          const library = yield* Library.open(at)
          yield* library.ingest(docs)
          const error = yield* Effect.flip(library.retrieve("pump of station 3"))
          assert.deepStrictEqual([error.reason, error.stage], ["Model", "retrieve"])
        }).pipe(Effect.provide(models))
      }).pipe(Effect.scoped)
    )
  }

  it.effect("rejects an empty question", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const library = yield* Library.open(at)
      assert.strictEqual((yield* Effect.flip(library.retrieve(" \n"))).reason, "Empty")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
