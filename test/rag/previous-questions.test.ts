/** A question in a conversation whose words do not show that it depends on the turns before: they are searched too. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder, QuestionRewriter, Reader } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { NodeServices } from "@effect/platform-node"
import { Fusion } from "@sluice/rag"
import { Effect, Layer, Stream } from "effect"
import { library } from "./SmallLibrary.ts"

const others = [
  "berries",
  "bread",
  "soup",
  "fish",
  "peas",
  "herbs",
  "cakes",
  "meat",
  "milk",
  "cheese",
  "rice",
  "plums"
]
const FILES = {
  "tumours.md":
    "# Tumours\n\nAn alternative to surgery of tumours is cryotherapy, which kills cells by cold.",
  ...Object.fromEntries(
    others.map((food) => [`${food}.md`, `# Freezing ${food}\n\nFreezing ${food} does work for a year.`])
  )
}
const QUESTION = "Does freezing work?"
const BEFORE = "What are the alternatives to surgery of tumours?"
const options = { keep: 2, recall: 8 }

/** The embedder, with the texts of each call. */
const counting = () => {
  const calls: Array<ReadonlyArray<string>> = []
  const layer = Layer.effect(
    Embedder,
    Effect.map(Embedder, (embedder) =>
      Embedder.of({
        ...embedder,
        embed: (texts, purpose) => {
          calls.push(texts)
          return embedder.embed(texts, purpose)
        }
      })
    )
  ).pipe(Layer.provide(Embedded.layerEmbedder))
  return { calls, layer }
}

/** A chat model that must not be asked. */
const Unasked = Layer.succeed(QuestionRewriter, {
  model: { id: "unasked" },
  rewrite: () => Effect.die("A question was rewritten.")
})

const pathsOf = ({
  passages
}: {
  readonly passages: ReadonlyArray<{ passage: { document: { path: string } } }>
}) => passages.map(({ passage }) => passage.document.path)

const models = (embedder: Layer.Layer<Embedder> = Embedded.layerEmbedder) =>
  Layer.mergeAll(Embedded.layer, NodeServices.layer, Unasked, embedder)

describe("the questions before one that may depend on them", () => {
  it.live("are searched with it, in one call of the embedder and none of the chat model", () => {
    const { calls, layer } = counting()
    return Effect.gen(function* () {
      const opened = yield* library(FILES)
      const alone = yield* opened.ask(QUESTION, options)
      calls.length = 0
      const after = yield* opened.ask(QUESTION, { ...options, history: [{ question: BEFORE }] })
      assert.deepStrictEqual(calls, [[QUESTION, `${BEFORE} ${QUESTION}`]])
      assert.notInclude(pathsOf(alone.trace), "tumours.md")
      assert.include(pathsOf(after.trace), "tumours.md")
      assert.isUndefined(after.standalone)
      assert.deepStrictEqual(after.trace.stages[0]?.texts, [`${BEFORE} ${QUESTION}`])
    }).pipe(Effect.scoped, Effect.provide(models(layer)))
  })

  it.live("leave the best passages of the question itself in their places", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const question = "How long does freezing soup work?"
      const alone = yield* opened.retrieve(question, options)
      const after = yield* opened.retrieve(question, { ...options, previous: BEFORE })
      assert.strictEqual(after.kept[0]?.document.path, "soup.md")
      assert.strictEqual(after.kept[0]?.id, alone.kept[0]?.id)
      assert.deepStrictEqual(
        after.trace.passages.map(({ rerankRank }) => rerankRank).toSorted((a, b) => a - b),
        [1, 2, 3, 4, 5, 6, 7, 8]
      )
    }).pipe(Effect.scoped, Effect.provide(models()))
  )

  it.live("are searched by each fusion", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      for (const fusion of [Fusion.keywords, Fusion.dense, Fusion.rrf()]) {
        const { trace } = yield* opened.retrieve(QUESTION, { ...options, fusion, previous: BEFORE })
        assert.include(pathsOf(trace), "tumours.md", fusion._tag)
      }
    }).pipe(Effect.scoped, Effect.provide(models()))
  )

  it.live("are not searched for a question that is complete", () => {
    const { calls, layer } = counting()
    return Effect.gen(function* () {
      const opened = yield* library(FILES)
      calls.length = 0
      const question =
        "Which alternatives to the surgery of malignant tumours of older patients does the handbook of oncology name?"
      yield* opened.ask(question, { ...options, history: [{ question: "How are peas frozen?" }] })
      assert.deepStrictEqual([...new Set(calls.flat())], [question])
    }).pipe(Effect.scoped, Effect.provide(models(layer)))
  })

  it.live("are told to a reader that writes, and not if the question was completed", () => {
    const asked: Array<string> = []
    const Writes = Layer.succeed(Reader, {
      model: { id: "writes", kind: "generative" },
      read: (question) => {
        asked.push(question)
        return Stream.empty
      }
    })
    return Effect.gen(function* () {
      const opened = yield* library(FILES)
      yield* opened.ask(QUESTION, { history: [{ question: BEFORE }] })
      yield* opened.ask(QUESTION, { history: [{ question: BEFORE }], standalone: BEFORE })
      assert.deepStrictEqual(asked, [`${QUESTION}\n(Asked after: ${BEFORE})`, BEFORE])
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(models(), Writes)))
  })
})
