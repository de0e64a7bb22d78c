/** The options of retrieval, each with its effect on a small library. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder, Reader, Reranker } from "@sluice/core"
import type { RerankerModel } from "@sluice/core/models"
import { Filter, Fusion, type RetrieveOptions } from "@sluice/rag"
import { CANDIDATES, RECALL, retrieveOptionsSchema } from "@sluice/rag/retrieval"
import { Deferred, Duration, Effect, Fiber, Layer, Queue, Ref, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { embedderLayer, embedText, modelsLayer, readerLayer, rerankerLayer } from "./Models.ts"
import { library, pathsOf } from "./SmallLibrary.ts"

const GATES = {
  "a.md": "# Gates\n\nThe lower gate of the lock opens at seven in the morning.\n",
  "b.md": "# Weirs\n\nThe weir holds the water of the upper pond back in summer.\n",
  "c.md": "# Fees\n\nA boat pays a fee of nine crowns for each lock it passes.\n"
}

/** A reranker that keeps the order, and counts calls and documents. */
const watched = (model: Partial<RerankerModel>, wait: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    const calls = yield* Ref.make<ReadonlyArray<number>>([])
    const layer = Layer.succeed(
      Reranker,
      Reranker.of({
        model: { id: "watched", kind: "neural", maxDocuments: 1000, ...model },
        rerank: (_, documents) =>
          Ref.update(calls, (before) => [...before, documents.length]).pipe(
            Effect.andThen(wait),
            Effect.as({ results: documents.map((_, index) => ({ index, score: -index })), tokens: 0 })
          )
      })
    )
    return { calls: Ref.get(calls), models: Layer.mergeAll(embedderLayer, layer, readerLayer) }
  })

const many = Object.fromEntries(
  Array.from({ length: 70 }, (_, i) => [`d${i}.md`, `# Station ${i}\n\nPump number ${i} of the station.\n`])
)

describe("options of retrieval", () => {
  it.effect("rerank more candidates with a lexical reranker than with a neural one, in one call", () =>
    Effect.gen(function* () {
      // Seven eighths from each retriever: fewer than all if both find the same passages.
      for (const [model, options, least, most] of [
        [{ kind: "lexical" }, {}, 35, CANDIDATES],
        [{ kind: "neural" }, {}, RECALL, RECALL],
        [{ kind: "neural" }, { candidates: 40 }, 35, 40],
        [{ kind: "neural" }, { candidates: 40, fusion: Fusion.keywords }, 40, 40],
        [{ kind: "lexical", maxDocuments: 30 }, {}, 27, 30],
        [{ kind: "neural", maxDocuments: 7 }, { recall: 20, candidates: 60 }, 7, 7],
        [{ kind: "lexical" }, { recall: 60, candidates: 5 }, 60, 60]
      ] as const) {
        const { calls, models } = yield* watched(model)
        yield* Effect.gen(function* () {
          const from = yield* library(many)
          const { trace } = yield* from.retrieve("pump of the station", options)
          const seen = trace.candidates
          assert.deepStrictEqual(yield* calls, [seen])
          assert.isTrue(seen >= least && seen <= most, `${seen} of ${least} to ${most}`)
          assert.strictEqual(
            trace.passages.length,
            Math.min(seen, "recall" in options ? options.recall : RECALL)
          )
        }).pipe(Effect.provide(models))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("are rejected with a typed error if they are invalid", () =>
    Effect.gen(function* () {
      const from = yield* library(GATES)
      for (const [wrong, told] of [
        [{ fusion: { _tag: "MinMax" } }, /^fusion is .*expected a fusion made by Fusion\.minMax\(\)/],
        [{ fusion: "rrf" }, /^fusion is "rrf"/],
        [{ fusion: Fusion.rrf({ weights: { vector: Number.NaN, keywords: 1 } }) }, /^fusion is /],
        [{ fusion: Fusion.minMax({ weights: { vector: 0, keywords: 0 } }) }, /^fusion is .*not both 0/],
        [{ deadline: "soon" }, /^deadline is "soon"; expected a Duration/],
        [{ deadline: Number.NaN }, /^deadline is NaN/],
        [{ keep: Number.NaN }, /^keep is NaN; expected a whole number, 1 or more\. Change it/],
        [{ keep: -1 }, /keep is -1/],
        [{ keep: 1.5 }, /keep is 1\.5/],
        [{ recall: 0 }, /recall is 0/],
        [{ candidates: "40" }, /candidates is "40"/],
        [{ diversity: 2 }, /diversity is 2; expected a number from 0 to 1/],
        [{ expand: "all" }, /expand is "all"; expected "section" or "none"/],
        [
          { keeps: 3 },
          /"keeps" is not an option\. Options: deadline, previous, hyde, queries, recall, .*expand\./
        ],
        [{ minimumRelevance: "0.5" }, /minimumRelevance is "0\.5"; expected a number/],
        [{ filter: null }, /Not a valid filter/],
        [
          { filter: Filter.equals("page", Number.NaN) },
          /^Not a valid filter: Expected a finite number at \["value"\]\. Fields/
        ],
        [
          { filter: Filter.and(Filter.not(Filter.equals("format", "md"))) },
          /has the format "md"\. Give one of markdown, .*image/
        ],
        [
          { filter: Filter.or(Filter.in("kind", ["table", "tables"])) },
          /the kind "tables"\. Give one of passage, figure, table/
        ],
        [{ filter: { _tag: "Like", field: "path" } }, /Not a valid filter/]
      ] as ReadonlyArray<readonly [object, RegExp]>) {
        const error = yield* Effect.flip(from.retrieve("lower gate", wrong))
        assert.strictEqual(error.reason, "Malformed")
        assert.match(error.message, told)
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keep the fused order when the reranker is late, and say so", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const { calls, models } = yield* watched(
        {},
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      )
      yield* Effect.gen(function* () {
        const from = yield* library(GATES, { deadline: "1 hour" })
        // No time is left for the reranker: it is not called.
        const { kept, trace } = yield* from.retrieve("When does the lower gate open?", {
          deadline: Duration.zero
        })
        assert.deepStrictEqual(yield* calls, [])
        assert.match(
          trace.stages.find(({ stage }) => stage === "rerank")?.failed ?? "",
          /not answered at once.*fused order/
        )
        assert.isTrue(trace.passages.every(({ rerankScore }) => rerankScore === undefined))
        assert.deepStrictEqual(
          trace.passages.map(({ rerankRank }) => rerankRank),
          trace.passages.map(({ recallRank }) => recallRank)
        )
        assert.strictEqual(kept[0]?.document.path, "a.md")
        // Called, and interrupted.
        const asking = yield* Effect.forkChild(
          from.retrieve("When does the lower gate open?", { deadline: "2 seconds", minimumRelevance: 9 })
        )
        yield* Deferred.await(begun)
        yield* TestClock.adjust("2 seconds")
        const late = yield* Fiber.join(asking)
        assert.deepStrictEqual(yield* calls, [3])
        assert.match(
          late.trace.stages.find(({ stage }) => stage === "rerank")?.failed ?? "",
          /2s after the question/
        )
        assert.strictEqual(late.kept.length, 3)
      }).pipe(Effect.provide(models))
    }).pipe(Effect.scoped)
  )

  it.effect("search keywords alone if the question is not embedded by the deadline, and say so", () =>
    Effect.gen(function* () {
      const begun = yield* Queue.unbounded<void>()
      const never = Layer.succeed(
        Embedder,
        Embedder.of({
          model: { id: "hangs", kind: "neural", free: true },
          dimension: Effect.succeed(64),
          embed: (texts, purpose) =>
            purpose === "query"
              ? Effect.andThen(Queue.offer(begun, undefined), Effect.never)
              : Effect.succeed({ vectors: texts.map((text) => embedText(text)), tokens: 0 })
        })
      )
      yield* Effect.gen(function* () {
        const from = yield* library(GATES)
        const atDeadline = (fusion: Fusion) =>
          Effect.gen(function* () {
            const asking = yield* Effect.forkChild(
              from.retrieve("lower gate", { deadline: "2 seconds", fusion })
            )
            yield* Queue.take(begun)
            yield* TestClock.adjust("2 seconds")
            return yield* Fiber.join(asking)
          })
        const { kept, trace } = yield* atDeadline(Fusion.minMax())
        assert.deepStrictEqual(
          kept.map(({ document }) => document.path),
          ["a.md"]
        )
        assert.match(
          trace.stages[0]?.failed ?? "",
          /hangs had not answered 2s after .*only keywords were searched/
        )
        assert.isTrue(trace.passages.every(({ vectorRank }) => vectorRank === undefined))
        const error = yield* Effect.flip(atDeadline(Fusion.dense))
        assert.strictEqual(error.reason, "Model")
        assert.match(error.message, /hangs had not answered.*later deadline/)
      }).pipe(Effect.provide(Layer.mergeAll(never, rerankerLayer, readerLayer)))
    }).pipe(Effect.scoped)
  )

  it.effect("search only with the retrievers of the fusion", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make(0)
      const embedder = Layer.succeed(
        Embedder,
        Embedder.of({
          model: { id: "asked", kind: "lexical", free: true },
          dimension: Effect.succeed(64),
          embed: (texts, purpose) =>
            Effect.as(
              Ref.update(asked, (n) => n + (purpose === "query" ? 1 : 0)),
              {
                vectors: texts.map((text) => embedText(text)),
                tokens: 0
              }
            )
        })
      )
      yield* Effect.gen(function* () {
        const from = yield* library(GATES, { fusion: Fusion.keywords })
        const keywords = yield* from.retrieve("lower gate")
        assert.strictEqual(yield* Ref.get(asked), 0, "the question is not embedded")
        assert.deepStrictEqual(
          keywords.trace.stages.map(({ stage }) => stage),
          ["recall", "fuse", "dedupe", "rerank", "select"]
        )
        assert.deepStrictEqual(
          keywords.trace.passages.map(({ keywordRank, passage, similarity }) => [
            passage.document.path,
            keywordRank,
            similarity
          ]),
          [["a.md", 1, undefined]]
        )
        const dense = yield* from.retrieve("lower gate", { fusion: Fusion.dense })
        assert.strictEqual(yield* Ref.get(asked), 1)
        assert.isTrue(
          dense.trace.passages.every(
            ({ keywordRank, vectorRank }) => keywordRank === undefined && vectorRank !== undefined
          )
        )
        assert.deepStrictEqual(dense.trace.fusion, Fusion.dense)
      }).pipe(Effect.provide(Layer.mergeAll(embedder, rerankerLayer, readerLayer)))
    }).pipe(Effect.scoped)
  )

  it.effect("keep only passages that match the filter and have the minimum relevance", () =>
    Effect.gen(function* () {
      const from = yield* library(GATES)
      const ask = (options: RetrieveOptions) =>
        Effect.map(from.retrieve("a fee for the lock", options), pathsOf)
      assert.deepStrictEqual(yield* ask({ filter: Filter.not(Filter.equals("path", "c.md")), keep: 1 }), [
        "a.md"
      ])
      assert.deepStrictEqual(yield* ask({ filter: Filter.equals("path", "x'; DROP TABLE --") }), [])
      assert.deepStrictEqual(yield* ask({ filter: Filter.range("page", { from: 1 }) }), [])
      // The test's reranker counts words in common: "fee", "lock", "a", "for" are in c.md, "the", "lock" in a.md.
      assert.deepStrictEqual(yield* ask({ minimumRelevance: 4 }), ["c.md"])
      assert.deepStrictEqual(yield* ask({ minimumRelevance: 40 }), [])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keep different passages with diversity, the best one first", () =>
    Effect.gen(function* () {
      const from = yield* library({
        "a.md": "Red gate opens at seven for boats.",
        "b.md": "Red gate opens at eight for boats.",
        "c.md": "Red gate opens at nine for boats.",
        "z.md": "Boats moor under the willow; a red lamp burns."
      })
      const ask = (diversity: number) =>
        Effect.map(from.retrieve("red gate boats", { diversity, keep: 2 }), pathsOf)
      const [best, next] = yield* ask(0)
      assert.notInclude([best, next], "z.md")
      assert.deepStrictEqual(yield* ask(0.9), [best, "z.md"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keep the requested number, and the same with little diversity as with none", () =>
    Effect.gen(function* () {
      const reranker = Layer.succeed(
        Reranker,
        Reranker.of({
          model: { id: "mixed", kind: "lexical", maxDocuments: 100 },
          rerank: (_, documents) =>
            Effect.succeed({
              results: documents
                .map((_, index) => ({ index, score: (index * 7919) % 101 }))
                .toSorted((a, b) => b.score - a.score),
              tokens: 0
            })
        })
      )
      yield* Effect.gen(function* () {
        const pump = (i: number) =>
          `Pump ${i}${i % 3 ? "" : " has a red wheel"}${i % 5 ? "" : " and a valve"}.`
        const pumps = Array.from({ length: 40 }, (_, i) => [`p${i}.md`, pump(i)])
        const from = yield* library(Object.fromEntries(pumps))
        const ask = (diversity: number) =>
          Effect.map(
            from.retrieve("Which pump has a red wheel and a valve?", { diversity, keep: 20 }),
            pathsOf
          )
        // A tiny diversity does not change the order.
        assert.deepStrictEqual(yield* ask(1e-9), yield* ask(0))
        const kept = (options: RetrieveOptions) =>
          Effect.map(from.retrieve("Which pump has a valve?", options), ({ kept }) => kept.length)
        // A larger `keep` raises `recall`.
        assert.deepStrictEqual([yield* kept({ keep: 30 }), yield* kept({ keep: 30, recall: 7 })], [30, 7])
      }).pipe(Effect.provide(Layer.mergeAll(embedderLayer, reranker, readerLayer)))
    }).pipe(Effect.scoped)
  )

  it.effect("read the kept passages first, then the rest of their sections, each once", () =>
    Effect.gen(function* () {
      const given = yield* Ref.make<ReadonlyArray<string>>([])
      const reader = Layer.succeed(
        Reader,
        Reader.of({
          model: { id: "listens", kind: "extractive" },
          read: (_, passages) =>
            Stream.drain(
              Stream.fromEffect(
                Ref.set(
                  given,
                  passages.map(({ text }) => text)
                )
              )
            )
        })
      )
      yield* Effect.gen(function* () {
        const from = yield* library({
          "guide.md": `# Guide\n\n${["Alder", "Birch", "Cedar"].map((word) => `${word} stands by the lock and the boats. `.repeat(30)).join("\n\n")}\n`
        })
        const { kept } = yield* from.retrieve("cedar", { expand: "section", keep: 2 })
        const texts = kept.map(({ text }) => text)
        yield* from.ask("cedar", { keep: 2 })
        assert.deepStrictEqual(yield* Ref.get(given), texts)
        yield* from.ask("cedar", { keep: 2, expand: "section" })
        const read = yield* Ref.get(given)
        const whole = new Set(kept.flatMap(({ section }) => section ?? []).map(({ text }) => text))
        assert.deepStrictEqual(read.slice(0, 2), texts)
        assert.deepStrictEqual([read.length, new Set(read)], [whole.size, whole])
        assert.isAbove(read.length, 2)
      }).pipe(Effect.provide(Layer.mergeAll(embedderLayer, rerankerLayer, reader)))
    }).pipe(Effect.scoped)
  )

  it.effect("answer any question in libraries of any size", () =>
    Effect.gen(function* () {
      for (const size of [0, 1, 19, 21]) {
        const from = yield* library(Object.fromEntries(Object.entries(many).slice(0, size)))
        for (const options of [
          {},
          { fusion: Fusion.rrf() },
          { fusion: Fusion.dense },
          { fusion: Fusion.keywords }
        ]) {
          const { kept, trace } = yield* from.retrieve("pump of the station", options)
          assert.deepStrictEqual(
            [trace.passages.length, kept.length],
            [Math.min(size, RECALL), Math.min(size, 3)]
          )
        }
      }
      const from = yield* library({ ...GATES, "水.md": "# 水位\n\n水位在每天七点测量，闸门随后打开。\n" })
      for (const nothing of ["???", "“”", "🦆", '- + " OR * ~ ( )']) {
        assert.deepStrictEqual(pathsOf(yield* from.retrieve(nothing, { fusion: Fusion.keywords })), [])
        yield* from.retrieve(nothing)
      }
      assert.strictEqual(
        pathsOf(yield* from.retrieve("水位什么时候测量？", { keep: 1, fusion: Fusion.keywords }))[0],
        "水.md"
      )
      assert.strictEqual(pathsOf(yield* from.retrieve(`${"zzz yyy ".repeat(400)} lower gate`))[0], "a.md")
      const long = yield* from.retrieve(`lower gate ${"of the lock ".repeat(2_000)}`)
      assert.strictEqual(long.kept.length, 3)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it("are decoded by their schema", () => {
    const decode = Schema.decodeUnknownSync(retrieveOptionsSchema())
    const { deadline, ...rest } = decode({
      keep: 5,
      deadline: 250,
      fusion: { _tag: "Dense" },
      expand: "section"
    })
    assert.deepStrictEqual(rest, { keep: 5, fusion: Fusion.dense, expand: "section" })
    assert.isTrue(deadline !== undefined && Duration.toMillis(deadline) === 250)
    for (const wrong of [{ keep: 0 }, { diversity: 2 }, { recall: 1e9 }, { filter: "page = 1" }]) {
      assert.throws(() => decode(wrong))
    }
  })
})
