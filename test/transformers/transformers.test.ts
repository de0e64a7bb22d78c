/** Tests without the library, and with two small models if it is installed. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder, Reranker, Verifier } from "@sluice/core"
import { Library } from "@sluice/rag"
import { TransformersEmbedder, TransformersReranker, TransformersVerifier } from "@sluice/transformers"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { pool, pooledRows } from "../../packages/transformers/src/Pooling.ts"
import { entailmentOf, scoresOf, tokenLimit } from "../../packages/transformers/src/ModelJobs.ts"
import { batchesByLength, modelName } from "../../packages/transformers/src/ModelThread.ts"
import { embedderLaws, rerankerLaws } from "../laws/models.ts"
import { readerLayer, rerankerLayer } from "../rag/Models.ts"
import { handbook } from "../rag/TestFolder.ts"
import { peerLibrary } from "./PeerLibrary.ts"
import { referenceVector, writeModel, WIDTH } from "./TinyModel.ts"

const floats = (vectors: ReadonlyArray<Float32Array>) =>
  vectors.map((vector) => [...vector].map((it) => Math.round(it * 1e6) / 1e6))

describe("pooling", () => {
  // two texts of three tokens of two numbers; the second text has one token, filled up on the right
  const hidden = { dims: [2, 3, 2], data: Float32Array.from([3, 0, 0, 4, 3, 4, 0, 2, 9, 9, 9, 9]) }
  const mask = { dims: [2, 3], data: BigInt64Array.from([1n, 1n, 1n, 1n, 0n, 0n]) }

  it("takes the mean, the first or the last token, with norm 1", () => {
    const half = Math.round(Math.SQRT1_2 * 1e6) / 1e6
    assert.deepStrictEqual(floats(pool(hidden, mask, "mean")), [
      [0.6, 0.8],
      [0, 1]
    ])
    assert.deepStrictEqual(floats(pool(hidden, mask, "cls")), [
      [1, 0],
      [0, 1]
    ])
    assert.deepStrictEqual(floats(pool(hidden, mask, "last")), [
      [0.6, 0.8],
      [0, 1]
    ])
    // filled up on the left
    const left = { dims: [1, 2], data: [0, 1] }
    const two = { dims: [1, 2, 2], data: [9, 9, 1, 1] }
    for (const pooling of ["mean", "cls", "last"] as const)
      assert.deepStrictEqual(floats(pool(two, left, pooling)), [[half, half]])
  })

  it("truncates vectors before normalizing, and gives zero without tokens", () => {
    assert.deepStrictEqual(floats(pool(hidden, mask, "mean", 1)), [[1], [0]])
    assert.deepStrictEqual(floats(pooledRows({ dims: [2, 2], data: [3, 4, 0, 0] })), [
      [0.6, 0.8],
      [0, 0]
    ])
    assert.deepStrictEqual(floats(pooledRows({ dims: [1, 3], data: [3, 4, 9] }, 2)), [[0.6, 0.8]])
    assert.deepStrictEqual(
      floats(pool({ dims: [1, 1, 2], data: [5, 5] }, { dims: [1, 1], data: [0] }, "mean")),
      [[0, 0]]
    )
  })
})

describe("scores of a cross-encoder", () => {
  it("are between 0 and 1 for one or two outputs, and undefined otherwise", () => {
    assert.deepStrictEqual(scoresOf({ dims: [2, 1], data: [0, 1000] }, 2), [0.5, 1])
    const [score = 0] = scoresOf({ dims: [1, 2], data: [1, 3] }, 1) ?? []
    assert.closeTo(score, Math.exp(3) / (Math.exp(1) + Math.exp(3)), 1e-9)
    assert.isUndefined(scoresOf({ dims: [1, 3], data: [1, 2, 3] }, 1))
    assert.isUndefined(scoresOf({ dims: [1, 1], data: [1] }, 2))
    assert.isUndefined(scoresOf({ dims: [1, 1], data: [Number.NaN] }, 1))
    assert.isUndefined(scoresOf(undefined, 0))
  })
})

describe("entailments", () => {
  it("are the share of their label, wherever it is, and undefined without one", () => {
    const labels = { CONTRADICTION: 0, entailment: 1, neutral: 2 }
    const [yes = 0, no = 0] = entailmentOf({ dims: [2, 3], data: [0, 9, 0, 9, 0, 0] }, 2, labels) ?? []
    assert.isAbove(yes, 0.99)
    assert.isBelow(no, 0.01)
    assert.deepStrictEqual(entailmentOf({ dims: [1, 2], data: [4, 4] }, 1, { ENTAILMENT: 0, not: 1 }), [0.5])
    assert.isUndefined(entailmentOf({ dims: [1, 2], data: [1, 2] }, 1, { LABEL_0: 0, LABEL_1: 1 }))
    assert.isUndefined(entailmentOf({ dims: [1, 1], data: [1] }, 1, labels))
    assert.isUndefined(entailmentOf({ dims: [1, 3], data: [1, Number.NaN, 1] }, 1, labels))
  })

  /** A library whose model entails where the premise has each word of the hypothesis. */
  const words = `data:text/javascript,${encodeURIComponent(`
    const tokenizer = (texts, { text_pair }) => ({ attention_mask: { dims: [texts.length, 1], data: texts.map(() => 1) }, texts, text_pair })
    const model = ({ texts, text_pair }) => ({ logits: { dims: [texts.length, 2], data: texts.flatMap((text, i) =>
      text_pair[i].split(" ").every((word) => text.includes(word)) ? [0, 5] : [5, 0]) } })
    model.config = { label2id: { not_entailment: 0, entailment: 1 } }
    export const AutoTokenizer = { from_pretrained: async () => tokenizer }
    export const AutoModelForSequenceClassification = { from_pretrained: async () => async (inputs) => model(inputs) }
    const load = AutoModelForSequenceClassification.from_pretrained
    AutoModelForSequenceClassification.from_pretrained = async () => Object.assign(await load(), { config: model.config })
  `)}`

  it.effect("verify the sentences of an answer by their quotes and context", () =>
    Effect.gen(function* () {
      const { model, verify } = yield* Verifier
      assert.deepStrictEqual(model, { id: "nli", kind: "neural" })
      const { doubts, tokens } = yield* verify([
        { sentence: "mooring costs twelve", quotes: ["It costs twelve crowns."], context: "mooring" },
        { sentence: "mooring costs ten", quotes: ["It costs twelve crowns."], context: "mooring" }
      ])
      assert.isUndefined(doubts[0])
      assert.include(doubts[1], "probability of 0.01")
      assert.strictEqual(tokens, 2)
      assert.deepStrictEqual(yield* verify([]), { doubts: [], tokens: 0 })
    }).pipe(Effect.provide(TransformersVerifier.layer({ model: "nli", library: words })))
  )
})

describe("batches by length", () => {
  it("put texts of similar length together, and not too many characters", () => {
    const texts = ["x".repeat(4_000), "bb", " ", "a", "y".repeat(4_000), "z".repeat(4_000), "w".repeat(9_000)]
    assert.deepStrictEqual(batchesByLength(texts), [[3, 1], [0, 4], [5], [6]])
    assert.deepStrictEqual(
      batchesByLength(Array.from({ length: 40 }, () => "same")).map(({ length }) => length),
      [16, 16, 8]
    )
  })

  it("are the same for the same texts in another order", () => {
    const texts = ["d", "bb", "aa", "c", "e".repeat(100)]
    const read = (all: ReadonlyArray<string>) => batchesByLength(all).map((batch) => batch.map((i) => all[i]))
    assert.deepStrictEqual(read(texts), read(texts.toReversed()))
  })
})

describe("without the library", () => {
  it.effect("a call says what to install, and the layer builds", () =>
    Effect.gen(function* () {
      const empty = { model: "./models/e5", library: "data:text/javascript,export{}" }
      const absent = { model: "./models/e5", library: "no-such-package" }
      for (const options of [empty, absent]) {
        const embedder = yield* Effect.provide(Embedder, TransformersEmbedder.layer(options))
        const reranker = yield* Effect.provide(Reranker, TransformersReranker.layer(options))
        for (const error of [
          yield* Effect.flip(embedder.dimension),
          yield* Effect.flip(embedder.embed(["text"], "query")),
          yield* Effect.flip(reranker.rerank("question", [{ text: "text" }]))
        ]) {
          assert.deepStrictEqual(
            [error._tag, error.reason._tag, error.model],
            ["GatewayError", "ServerFailure", "e5"]
          )
          assert.include(error.message, "npm install @huggingface/transformers")
        }
        assert.deepStrictEqual(yield* reranker.rerank("question", []), { results: [], tokens: 0 })
      }
    })
  )

  it.effect("opening a rag library fails and says why", () =>
    Effect.gen(function* () {
      const { library: at } = yield* handbook
      const embedder = TransformersEmbedder.layer({ model: "e5", library: "data:text/javascript,export{}" })
      const error = yield* Effect.flip(
        Library.open(at).pipe(Effect.provide(Layer.mergeAll(embedder, rerankerLayer, readerLayer)))
      )
      assert.deepStrictEqual([error.stage, error.reason], ["open", "Model"])
      assert.include(error.message, "npm install @huggingface/transformers")
    }).pipe(Effect.scoped)
  )

  it("names a model by every setting that changes its vectors", () => {
    assert.strictEqual(modelName({ model: "org/e5-small" }), "org/e5-small")
    assert.strictEqual(modelName({ model: "org/e5", revision: "v2", dtype: "q8" }), "org/e5@v2 q8")
    assert.strictEqual(modelName({ model: "/srv/models/e5/", dtype: "fp32" }), "e5")
    assert.strictEqual(modelName({ model: "./e5", name: "ours", maxTokens: 64 }), "ours 64 tokens")
  })

  it("limits tokens by the option and by the tokenizer", () => {
    assert.deepStrictEqual([tokenLimit(undefined, null), tokenLimit(undefined, 64)], [512, 64])
    assert.deepStrictEqual(
      [tokenLimit(2048, undefined), tokenLimit(2048, 1e30), tokenLimit(2048, 64)],
      [2048, 2048, 64]
    )
    assert.deepStrictEqual([tokenLimit(undefined, 1e30), tokenLimit(32, 64)], [512, 32])
  })
})

const library = peerLibrary ?? ""

// Skipped: the library weighs 474 MB and is installed only when asked for; peer/README.md says how.
describe.skipIf(peerLibrary === undefined)("through the library", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-transformers-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const model = await writeModel(folder, "encoder")
  const crossEncoder = await writeModel(folder, "crossEncoder")
  const embedder = TransformersEmbedder.layer({ model, library })
  const reranker = TransformersReranker.layer({ model: crossEncoder, library })

  embedderLaws("a transformers model", embedder)
  rerankerLaws("a cross-encoder", reranker)

  it.effect("adds the prefix of the purpose, and describes it", () =>
    Effect.gen(function* () {
      const prefixes = { query: "query: ", passage: "passage: " }
      const plain = yield* Embedder.use(({ embed }) =>
        embed(["query: boiler", "passage: boiler"], "query")
      ).pipe(Effect.provide(embedder))
      const [query, passage] = yield* Effect.gen(function* () {
        const { embed, model: described } = yield* Embedder
        assert.deepStrictEqual(described, { id: "encoder", kind: "neural", free: false, prefixes })
        return [yield* embed(["boiler"], "query"), yield* embed(["boiler"], "passage")] as const
      }).pipe(Effect.provide(TransformersEmbedder.layer({ model, library, prefixes })))
      assert.deepStrictEqual(floats(query.vectors), floats(plain.vectors.slice(0, 1)))
      assert.deepStrictEqual(floats(passage.vectors), floats(plain.vectors.slice(1)))
      assert.notDeepEqual(floats(query.vectors), floats(passage.vectors))
    })
  )

  it.effect("gives the vectors that are worked out by hand, with whole and with 8-bit weights", () =>
    Effect.gen(function* () {
      const texts = ["boiler inspected every spring", "refunds"]
      const difference = (vector: ArrayLike<number>, quantized: boolean, text: string) =>
        Math.max(...referenceVector(text, quantized).map((value, i) => Math.abs(value - vector[i]!)))
      for (const dtype of ["fp32", "q8"] as const) {
        const { vectors } = yield* Embedder.use(({ embed }) => embed(texts, "query")).pipe(
          Effect.provide(TransformersEmbedder.layer({ model, library, dtype }))
        )
        for (const [i, text] of texts.entries()) {
          assert.isBelow(difference(vectors[i]!, dtype === "q8", text), 1e-5)
          assert.isAbove(difference(vectors[i]!, dtype !== "q8", text), 1e-4)
        }
      }
    })
  )

  it.effect("truncates texts and dimensions, and counts tokens", () =>
    Effect.gen(function* () {
      const { dimension, embed } = yield* Embedder
      assert.strictEqual(yield* dimension, WIDTH / 2)
      const { tokens, vectors } = yield* embed(["boiler ".repeat(1000)], "passage")
      assert.deepStrictEqual([tokens, vectors[0]?.length], [64, WIDTH / 2])
    }).pipe(Effect.provide(TransformersEmbedder.layer({ model, library, dimension: WIDTH / 2 })))
  )

  it.effect("fails with a typed error for a missing or wrong model, and downloads nothing", () =>
    Effect.gen(function* () {
      const absent = yield* Embedder.use(({ embed }) => embed(["a"], "query")).pipe(
        Effect.provide(TransformersEmbedder.layer({ model: "nobody/nothing", library })),
        Effect.flip
      )
      assert.deepInclude(absent.reason, { _tag: "ServerFailure", status: 503, isRetryable: false })
      assert.include(absent.message, "cannot be loaded")
      const wrong = yield* Embedder.use(({ embed }) => embed(["a"], "query")).pipe(
        Effect.provide(TransformersEmbedder.layer({ model: crossEncoder, library })),
        Effect.flip
      )
      assert.strictEqual(wrong.reason._tag, "InvalidResponse")
    })
  )

  it.live("a library answers with both models, and refuses other prefixes", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const models = Layer.mergeAll(embedder, reranker, readerLayer)
      yield* Effect.gen(function* () {
        const opened = yield* Library.open(at)
        assert.strictEqual((yield* opened.ingest(docs)).added, 3)
        const { kept } = yield* opened.retrieve("When are refunds paid after a return?")
        assert.strictEqual(kept[0]?.document.path, "refunds.md")
        assert.strictEqual((yield* opened.stats).embeddingModel, "encoder")
      }).pipe(Effect.provide(models))
      const prefixed = TransformersEmbedder.layer({ model, library, prefixes: { query: "query: " } })
      const error = yield* Effect.flip(
        Library.open(at).pipe(Effect.provide(Layer.mergeAll(prefixed, reranker, readerLayer)))
      )
      assert.strictEqual(error.reason, "ManifestMismatch")
      assert.include(error.message, 'now encoder with prefixes "query: "')
    }).pipe(Effect.scoped)
  )
})
