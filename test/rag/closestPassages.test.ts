/** The passages that are shown instead of an answer: of a deeper search, and by letters, where models compare words. */
import { assert, describe, it } from "@effect/vitest"
import { GatewayError, Reader, Reranker, Unreachable } from "@sluice/core"
import { Library } from "@sluice/rag"
import { Effect, Layer, Stream } from "effect"
import { orderByLetters } from "../../packages/rag/src/answering/ClosestPassages.ts"
import { letterScores } from "../../packages/rag/src/answering/LetterGroups.ts"
import { embedderLayer, rerankerLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const QUESTION = "Where are the lanterns of the harbour?"
/** It has no word of the question. */
const PARTS = "Lanternkeepers wait at the harbourside."
const OTHERS = 60

const silent = Layer.succeed(
  Reader,
  Reader.of({ model: { id: "silent", kind: "extractive" }, read: () => Stream.empty })
)

type RerankerService = typeof Reranker.Service

/** What is answered to `QUESTION` by a reranker, of many passages with a word of it and one with parts of its words. */
const answerBy = (change: (reranker: RerankerService) => RerankerService) =>
  Effect.gen(function* () {
    const test = yield* testFolder
    for (let i = 0; i < OTHERS; i++) yield* test.write(`docs/${i}.md`, `The harbour has the gate ${i}.\n`)
    yield* test.write("docs/parts.md", `${PARTS}\n`)
    const reranker = Layer.effect(Reranker, Effect.map(Reranker, change)).pipe(Layer.provide(rerankerLayer))
    return yield* Effect.gen(function* () {
      const library = yield* Library.open(test.library)
      yield* library.ingest(test.docs)
      const { closest, trace } = yield* library.ask(QUESTION)
      const ranked = trace.passages.toSorted((a, b) => a.rerankRank - b.rerankRank)
      return {
        closest: closest.map(({ passage }) => passage.text.trim()),
        recalled: ranked.map(({ passage }) => passage.text.trim())
      }
    }).pipe(Effect.provide(Layer.mergeAll(embedderLayer, silent, reranker)), Effect.scoped)
  }).pipe(Effect.scoped)

describe("the closest passages", () => {
  it.effect("have one with parts of the question's words that was not recalled", () =>
    Effect.gen(function* () {
      const { closest, recalled } = yield* answerBy((reranker) => reranker)
      assert.strictEqual(recalled.length, 20)
      assert.notInclude(recalled, PARTS)
      assert.include(closest, PARTS)
      assert.strictEqual(closest.length, 10)
    })
  )

  it.effect("are the first of the retrieval if its models are neural, which are not asked twice", () =>
    Effect.gen(function* () {
      let calls = 0
      const { closest, recalled } = yield* answerBy(({ model, rerank }) => ({
        model: { ...model, kind: "neural" },
        rerank: (...given) => Effect.suspend(() => (calls++, rerank(...given)))
      }))
      assert.deepStrictEqual([closest, calls], [recalled.slice(0, 10), 1])
    })
  )

  it.effect("are of the retrieval if no more can be found", () =>
    Effect.gen(function* () {
      const down = new GatewayError({ operation: "rerank", reason: new Unreachable({ message: "down" }) })
      const { closest, recalled } = yield* answerBy(({ model, rerank }) => ({
        model,
        rerank: (question, documents, options) =>
          documents.length > 40 ? Effect.fail(down) : rerank(question, documents, options)
      }))
      assert.strictEqual(closest.length, 10)
      for (const text of closest) assert.include(recalled, text)
    })
  )
})

describe("letterScores", () => {
  const best = (question: string, ...texts: ReadonlyArray<string>): ReadonlyArray<string> =>
    letterScores(question, texts)
      .map((score, at) => [score, texts[at]!] as const)
      .filter(([score]) => score > 0)
      .toSorted(([a], [b]) => b - a)
      .map(([, text]) => text)

  it("finds other forms and parts of words, and letters with other accents", () => {
    assert.deepStrictEqual(best("Kündigung", "Die Kundigungsfristen stehen hier.", "Der Hof ist offen."), [
      "Die Kundigungsfristen stehen hier."
    ])
    assert.deepStrictEqual(best("cat", "A cat.", "A category.", "The dog."), ["A cat."])
    assert.deepStrictEqual(best("", "A cat."), [])
    assert.deepStrictEqual(letterScores("cat", []), [])
    assert.deepStrictEqual(letterScores("cat", ["", "…"]), [0, 0])
  })

  it("finds characters and pairs of scripts without spaces", () => {
    assert.deepStrictEqual(best("洗碗", "先洗手。", "如何洗碗", "炒饭。"), ["如何洗碗", "先洗手。"])
  })

  it("prefers what few texts have, often, in a short text", () => {
    const [rare, often, short, long] = [
      "lantern post",
      "harbour harbour post",
      "harbour post",
      "harbour post and wall"
    ] as const
    assert.deepStrictEqual(best("harbour lantern", long, short, often, rare)[0], rare)
    assert.deepStrictEqual(best("harbour lantern", long, short, often, rare).slice(2), [short, long])
  })
})

describe("orderByLetters", () => {
  it("is between the order given and that by letters", () => {
    const texts = ["a gate", "a wall", "a quay", "lanterns here", "a gull"]
    assert.deepStrictEqual(orderByLetters("lanterns", texts), [0, 3, 1, 2, 4])
    assert.deepStrictEqual(orderByLetters("nothing", texts.slice(0, 3)), [0, 1, 2])
  })
})
