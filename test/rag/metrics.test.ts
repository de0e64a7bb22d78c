/** The metrics of retrieval, computed by hand. */
import { assert, describe, it } from "@effect/vitest"
import {
  evaluateRetrieval,
  hasRelevant,
  hit,
  meanOf,
  measureOne,
  ndcg,
  recall,
  reciprocalRank
} from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { modelsLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const grades = new Map([
  ["a", 3],
  ["b", 1],
  ["c", 0]
])

describe("evaluation", () => {
  it("uses grades as gains, discounted by the logarithm of the rank", () => {
    assert.strictEqual(ndcg(["a", "b"], grades, 10), 1)
    assert.closeTo(
      ndcg(["c", "b", "a"], grades, 10),
      (1 / Math.log2(3) + 3 / 2) / (3 + 1 / Math.log2(3)),
      1e-12
    )
    assert.closeTo(ndcg(["x", "a"], grades, 1), 0, 0)
    assert.deepStrictEqual([recall(["c", "a"], grades, 2), recall(["c", "a"], grades, 1)], [0.5, 0])
    assert.deepStrictEqual(
      [reciprocalRank(["c", "x", "b"], grades, 10), reciprocalRank(["c"], grades, 10)],
      [1 / 3, 0]
    )
    assert.deepStrictEqual([hit(["c", "x", "b"], grades, 3), hit(["c", "x", "b"], grades, 2)], [1, 0])
  })

  it("averages over queries, and counts missing rankings as 0", () => {
    const other = new Map([["d", 1]])
    assert.deepStrictEqual([grades, other, new Map([["d", 0]])].map(hasRelevant), [true, true, false])
    const metrics = meanOf([measureOne(["a"], grades), measureOne([], other)])
    assert.deepStrictEqual([metrics["MRR@10"], metrics["recall@20"], metrics["hit@3"]], [0.5, 0.25, 0.5])
  })

  it.effect("measures every search method on a folder in BEIR's format", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* testFolder
      const documents = Array.from({ length: 60 }, (_, i) => ({
        _id: `d${i}`,
        title: i % 2 ? `Station ${i}` : "",
        text: `The pumps of station${i} were servicing field${(i * 7) % 13}.`
      }))
      const lines = (values: ReadonlyArray<unknown>) =>
        `${values.map((value) => JSON.stringify(value)).join("\n")}\n`
      yield* write("retrieval/small/corpus.jsonl", lines(documents))
      yield* write(
        "retrieval/small/queries.jsonl",
        lines([
          { _id: "q1", text: "pump service station7" },
          { _id: "q2", text: " " }
        ])
      )
      yield* write("retrieval/small/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td7\t2\nq2\td1\t1\n")
      const { collection, runs } = yield* evaluateRetrieval({ data: folder, collection: "small" })
      assert.strictEqual(collection, "small")
      assert.deepStrictEqual(
        runs.map(({ metrics, name }) => [name, metrics["hit@3"]]),
        [
          ["bm25", 0.5],
          ["embeddings", 0.5],
          ["hybrid", 0.5],
          ["embeddings+rerank", 0.5],
          ["default", 0.5]
        ]
      )
      const missing = yield* Effect.flip(evaluateRetrieval({ data: folder, collection: "none" }))
      assert.deepStrictEqual([missing.stage, missing.reason], ["evaluate", "NotFound"])
      yield* write("retrieval/small/corpus.jsonl", '{"_id": "d1", "text": "x"}\n{"_id": 7}\n')
      const broken = yield* Effect.flip(evaluateRetrieval({ data: folder, collection: "small" }))
      assert.deepStrictEqual(broken.reason, "Malformed")
      assert.include(broken.message, "Line 2")
      assert.include(broken.message, "_id")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reads a collection as BEIR unpacks it, and rejects one without relevant documents", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* testFolder
      const evaluate = evaluateRetrieval({ data: folder, collection: "beir" })
      const corpus = ["d1", "d2"].map((_id) => JSON.stringify({ _id, text: `The pump of ${_id} is red.` }))
      yield* write("beir/corpus.jsonl", `\uFEFF${corpus.join("\r\n")}\r\n`)
      yield* write("beir/queries.jsonl", `\uFEFF{"_id":"q1","text":"red pump of d2"}\r\n`)
      yield* write("beir/qrels/test.tsv", "\uFEFFquery-id\tcorpus-id\tscore\r\nq1\td2\t1\r\n")
      assert.strictEqual((yield* evaluate).queries, 1)
      const refused = Effect.map(Effect.flip(evaluate), ({ message, reason }) => `${reason}: ${message}`)
      for (const judgements of ["", "q1\td9\t1", "q9\td2\t1", "q1\td2\t0"]) {
        yield* write("beir/qrels/test.tsv", `query-id\tcorpus-id\tscore\n${judgements}\n`)
        assert.match(yield* refused, /^Empty: .*identifiers/)
      }
      yield* write("beir/qrels/test.tsv", "q1\td2\t1\n")
      yield* write("beir/corpus.jsonl", `${corpus.join("\n")}\n${corpus[0]}\n`)
      assert.match(yield* refused, /^Malformed: .*"d1" twice/)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("ranks duplicates of a kept passage directly after it", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* testFolder
      const text =
        "The keeper of the lock writes down each boat that passes, its name and where it comes from, before the lower gate is shut behind it and the water of the upper pond is let in."
      const documents = [
        ...["a", "b", "c"].map((_id) => ({ _id, title: "Rules", text })),
        ...["d", "e", "f"].map((_id, i) => ({ _id, title: `Lock ${i}`, text: `The lock of boat ${i}.` }))
      ]
      const lines = (values: ReadonlyArray<unknown>) =>
        values.map((value) => JSON.stringify(value)).join("\n")
      yield* write("retrieval/copies/corpus.jsonl", lines(documents))
      yield* write(
        "retrieval/copies/queries.jsonl",
        lines([{ _id: "q", text: "keeper of the lock writes down each boat" }])
      )
      yield* write("retrieval/copies/qrels.tsv", "query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\t1\nq\tc\t1\n")
      const { runs } = yield* evaluateRetrieval({ data: folder, collection: "copies" })
      // One of the three is kept, with two other passages.
      assert.strictEqual(runs.find(({ name }) => name === "default")?.metrics["nDCG@3"], 1)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
