/** Evaluation of a library by its own headings and by questions of its owner. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder, Reranker } from "@sluice/core"
import { Library } from "@sluice/rag"
import { evaluateLibrary, evaluateQuestions, meteredModels } from "@sluice/rag/evaluation"
import { Effect, Layer, Stream } from "effect"
import { modelsLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const about = (what: string, more: string) =>
  `The ${what} is looked after by the keeper of the lock, who writes down in the book what was done to the ${what} and when. ${more}`

const MANUAL = [
  "# The lock",
  about("lock", "It has two gates."),
  "## Oiling hinges in winter",
  about("hinge", "Hinges want oil in winter, more of it than in summer."),
  "## Painting the beams",
  about("beam", "Beams are painted white so that boats see them at night."),
  "## Counting of passing boats",
  about("boat", "Boats that pass are counted by the hour."),
  "## Winter",
  about("ice", "Ice is broken every morning before the first boat.")
].join("\n\n")

describe("evaluation of a library", () => {
  it.effect("asks for sections by their headings, which are not indexed", () =>
    Effect.gen(function* () {
      const { docs, library: folder, write } = yield* testFolder
      yield* write("docs/manual.md", MANUAL)
      const library = yield* Library.open(folder)
      yield* library.ingest(docs)
      const before = yield* library.stats
      const asked: Array<number> = []
      const { comparisons, each, note, queries, runs } = yield* evaluateLibrary({
        library,
        configurations: [{ name: "a", options: { recall: 1, keep: 1 } }],
        onQuestion: (number) => Effect.sync(() => asked.push(number))
      })
      // A third of the three specific headings.
      assert.deepStrictEqual([queries, asked], [1, [1]])
      assert.deepStrictEqual(
        runs.map(({ name }) => name),
        ["bm25", "default", "a"]
      )
      assert.deepStrictEqual(
        comparisons.map(({ a, b }) => [a, b]),
        [
          ["default", "bm25"],
          ["a", "default"]
        ]
      )
      assert.strictEqual(runs[1]?.metrics["recall@20"], 1)
      assert.isTrue(each.every((run) => run.each.length === 1))
      assert.deepStrictEqual(
        runs.map(({ cost }) => cost),
        [
          { embeddingCalls: 0, rerankCalls: 0, tokens: 0 },
          { embeddingCalls: 1, rerankCalls: 1, tokens: 0 },
          { embeddingCalls: 1, rerankCalls: 1, tokens: 0 }
        ]
      )
      assert.include(note, "not indexed")
      assert.deepStrictEqual(yield* library.stats, before)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("asks its owner's questions, and reports those that cannot be asked", () =>
    Effect.gen(function* () {
      const { docs, library: folder, write } = yield* testFolder
      yield* write("docs/manual.md", MANUAL)
      yield* write("docs/empty.md", "# Nothing\n\nOf any of this there is nothing here.")
      const { embedder, meter, reranker } = yield* meteredModels
      const models = Layer.merge(Layer.succeed(Embedder, embedder), Layer.succeed(Reranker, reranker))
      const library = yield* Library.open(folder).pipe(Effect.provide(models))
      yield* library.ingest(docs)
      const ask = (
        ...questions: ReadonlyArray<{ question: string; document: string; page?: number; text?: string }>
      ) => evaluateQuestions({ library, meter, questions: Stream.fromIterable(questions) })
      const { each, queries, runs } = yield* ask(
        { question: "Who counts boats by the hour?", document: "manual.md", text: "counted by\nthe hour" },
        { question: "Which colour do beams have at night?", document: "empty.md" }
      )
      const found = runs.find(({ name }) => name === "default")
      assert.strictEqual(queries, 2)
      const ranks = each.find(({ name }) => name === "default")?.each.map((metrics) => 1 / metrics["MRR@10"])
      assert.strictEqual(ranks?.[0], 1)
      assert.isAbove(ranks?.[1] ?? 0, 1)
      assert.strictEqual(found?.cost.rerankCalls, 2)

      const nowhere = yield* Effect.flip(ask({ question: "Where?", document: "gone.md" }))
      assert.deepStrictEqual([nowhere.reason, nowhere.document], ["NotFound", "gone.md"])
      for (const wrong of [{ text: "no such words" }, { page: 3 }]) {
        const unsaid = yield* Effect.flip(ask({ question: "Where?", document: "manual.md", ...wrong }))
        assert.strictEqual(unsaid.reason, "Malformed")
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reports a library without usable headings and captions", () =>
    Effect.gen(function* () {
      const { docs, library: folder, write } = yield* testFolder
      const library = yield* Library.open(folder)
      const nothing = yield* Effect.flip(evaluateLibrary({ library }))
      assert.deepStrictEqual([nothing.stage, nothing.reason], ["evaluate", "Empty"])
      const none = yield* Effect.flip(evaluateLibrary({ library, questions: Number.NaN }))
      assert.match(none.message, /^questions is NaN/)
      const { meter } = yield* meteredModels
      const unasked = evaluateQuestions({ library, meter, questions: Stream.empty })
      assert.strictEqual((yield* Effect.flip(unasked)).reason, "Empty")
      for (const copy of ["new", "old"]) yield* write(`docs/${copy}/manual.md`, MANUAL)
      yield* library.ingest(docs)
      const twice = yield* Effect.flip(evaluateLibrary({ library }))
      assert.deepStrictEqual([twice.stage, twice.reason], ["evaluate", "Empty"])
      assert.match(twice.message, /occur more than once/)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
