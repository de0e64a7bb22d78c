/** Laws of Embedder, Reranker, Reader and Vision: one suite for each service, run against every implementation. */
import { assert, layer as describeLayer } from "@effect/vitest"
import { Embedder, Reader, Reranker, Vision } from "@sluice/core"
import { isCitedSentence } from "@sluice/core/models"
import { Effect, type Layer, Stream } from "effect"
import { BLUE, GIF, GREEN, JPEG, png, RED, WEBP } from "./Pictures.ts"

const TEXTS = [
  "The boiler must be inspected every spring before it is lit.",
  "Die Katze schläft auf dem warmen Ofen.",
  "检索增强生成把检索与生成结合起来。",
  "Refunds are paid within fourteen days of the return.",
  "🙂 naïve café — “quoted”, line\nbreak\tand tab"
]

const norm = (vector: Float32Array) => Math.hypot(...vector)

const assertVector = (vector: Float32Array, dimension: number) => {
  assert.instanceOf(vector, Float32Array)
  assert.strictEqual(vector.length, dimension)
  assert.isTrue(vector.every(Number.isFinite), "every number is finite")
  const length = norm(vector)
  assert.isTrue(length === 0 || Math.abs(length - 1) < 1e-3, `L2 norm is 1 or 0, not ${length}`)
}

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

/** Count, order, dimension, finiteness, norm, determinism, empty input, blank text, many texts. */
export const embedderLaws = <E>(name: string, layer: Layer.Layer<Embedder, E>): void =>
  describeLayer(layer)(`${name} obeys the laws of an Embedder`, (it) => {
    it.effect("returns one vector per text, of the model's dimension, finite, with norm 1 or 0", () =>
      Effect.gen(function* () {
        const embedder = yield* Embedder
        const dimension = yield* embedder.dimension
        assert.isTrue(Number.isInteger(dimension) && dimension > 0)
        for (const purpose of ["query", "passage"] as const) {
          const { vectors, tokens } = yield* embedder.embed(TEXTS, purpose)
          assert.strictEqual(vectors.length, TEXTS.length)
          for (const vector of vectors) assertVector(vector, dimension)
          assert.isTrue(Number.isInteger(tokens) && tokens >= 0)
        }
      })
    )

    it.effect("keeps the order of texts and is deterministic", () =>
      Effect.gen(function* () {
        const embedder = yield* Embedder
        const forward = yield* embedder.embed(TEXTS, "passage")
        const backward = yield* embedder.embed(TEXTS.toReversed(), "passage")
        assert.deepStrictEqual(backward.vectors.toReversed(), forward.vectors)
      })
    )

    it.effect("sends no request for an empty list", () =>
      Effect.gen(function* () {
        const { vectors, tokens } = yield* (yield* Embedder).embed([], "passage")
        assert.deepStrictEqual([vectors.length, tokens], [0, 0])
      })
    )

    it.effect("accepts empty and blank texts", () =>
      Effect.gen(function* () {
        const embedder = yield* Embedder
        const dimension = yield* embedder.dimension
        const { vectors } = yield* embedder.embed(["", " \n\t", TEXTS[0] ?? ""], "passage")
        assert.strictEqual(vectors.length, 3)
        for (const vector of vectors) assertVector(vector, dimension)
        assert.isAbove(norm(vectors[2] ?? new Float32Array()), 0)
      })
    )

    it.effect("keeps order and count across several requests", () =>
      Effect.gen(function* () {
        const embedder = yield* Embedder
        const texts = Array.from({ length: 301 }, (_, i) => `passage number ${i} speaks of item ${i * 7919}`)
        const { vectors } = yield* embedder.embed(texts, "passage")
        assert.strictEqual(vectors.length, texts.length)
        for (const i of [0, 1, 150, 299, 300]) {
          const alone = yield* embedder.embed([texts[i] ?? ""], "passage")
          assert.isAbove(
            cosine(vectors[i] ?? new Float32Array(), alone.vectors[0] ?? new Float32Array()),
            0.999
          )
        }
      })
    )

    it.effect("places a question nearest to the passage that shares its words", () =>
      Effect.gen(function* () {
        const embedder = yield* Embedder
        const { vectors } = yield* embedder.embed(TEXTS, "passage")
        const question = yield* embedder.embed(["When are refunds paid after a return?"], "query")
        const scores = vectors.map((vector) => cosine(vector, question.vectors[0] ?? new Float32Array()))
        assert.strictEqual(scores.indexOf(Math.max(...scores)), 3)
      })
    )
  })

const QUERY = "How long does a refund take?"
const CANDIDATES = [
  { title: "Heating", text: "The boiler must be inspected every spring before it is lit." },
  { title: "Returns", text: "A refund takes fourteen days after the goods are returned." },
  { text: "Our office is closed on public holidays." },
  { title: "Returns", text: "Goods can be returned by post." }
]

/** Indices unique and in range, scores finite and falling, topN, determinism, empty input, the obvious winner. */
export const rerankerLaws = <E>(name: string, layer: Layer.Layer<Reranker, E>): void =>
  describeLayer(layer)(`${name} obeys the laws of a Reranker`, (it) => {
    const rerank = (topN?: number) =>
      Reranker.use((reranker) => reranker.rerank(QUERY, CANDIDATES, topN === undefined ? {} : { topN }))

    it.effect("ranks every document once, best first", () =>
      Effect.gen(function* () {
        const { results, tokens } = yield* rerank()
        assert.deepStrictEqual(results.map(({ index }) => index).toSorted(), [0, 1, 2, 3])
        const scores = results.map(({ score }) => score)
        assert.isTrue(scores.every(Number.isFinite))
        assert.deepStrictEqual(
          scores,
          scores.toSorted((a, b) => b - a)
        )
        assert.isTrue(Number.isInteger(tokens) && tokens >= 0)
        assert.strictEqual(results[0]?.index, 1)
      })
    )

    it.effect("returns the same ranking again", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* rerank(), yield* rerank())
      })
    )

    it.effect("truncates the ranking to topN", () =>
      Effect.gen(function* () {
        const { results } = yield* rerank()
        for (const topN of [0, 1, 2, 4, 9]) {
          const top = yield* rerank(topN)
          assert.deepStrictEqual(
            top.results.map(({ index }) => index),
            results.slice(0, topN).map(({ index }) => index)
          )
        }
      })
    )

    it.effect("sends no request for an empty list of documents", () =>
      Effect.gen(function* () {
        const { results } = yield* (yield* Reranker).rerank(QUERY, [])
        assert.deepStrictEqual(results, [])
      })
    )

    it.effect("keeps the given order among equal documents", () =>
      Effect.gen(function* () {
        const same = { text: "Goods can be returned by post." }
        const { results } = yield* (yield* Reranker).rerank(QUERY, [same, same, same])
        assert.deepStrictEqual(
          results.map(({ index }) => index),
          [0, 1, 2]
        )
      })
    )
  })

const PASSAGES = [
  {
    title: "Handbook > Returns",
    text: "Goods can be returned within thirty days. A refund takes fourteen days after the goods arrive. Ask at the counter."
  },
  { title: "Handbook > Heating", text: "The boiler is inspected every spring. It is lit in October." }
]

/** Every sentence has evidence; every quote occurs verbatim in its passage; without an answer there is no sentence. */
export const readerLaws = <E>(name: string, layer: Layer.Layer<Reader, E>): void =>
  describeLayer(layer)(`${name} obeys the laws of a Reader`, (it) => {
    const read = (question: string, passages = PASSAGES) =>
      Reader.use((reader) =>
        Stream.runCollect(Stream.filter(reader.read(question, passages), isCitedSentence))
      )

    it.effect("answers in sentences that each quote a passage verbatim", () =>
      Effect.gen(function* () {
        const sentences = yield* read("How long does a refund take?")
        assert.isAbove(sentences.length, 0)
        for (const { text, evidence } of sentences) {
          assert.isAbove(text.trim().length, 0)
          assert.isAbove(evidence.length, 0)
          for (const { passage, quote } of evidence) {
            assert.isAbove(quote.length, 0)
            assert.include(PASSAGES[passage]?.text ?? "", quote)
          }
        }
        const quotes = sentences.flatMap(({ evidence }) => evidence.map(({ quote }) => quote))
        assert.isTrue(quotes.some((quote) => quote.includes("fourteen days")))
      })
    )

    it.effect("gives the same answer again", () =>
      Effect.gen(function* () {
        const question = "When is the boiler inspected?"
        assert.deepStrictEqual(yield* read(question), yield* read(question))
      })
    )

    it.effect("emits no sentence when the passages do not answer or there are none", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* read("Which planet has the most moons?"), [])
        assert.deepStrictEqual(yield* read("How long does a refund take?", []), [])
      })
    )
  })

/** Describes images, keeps their order, accepts every format, is deterministic, and names the image that breaks a limit. */
export const visionLaws = <E>(name: string, layer: Layer.Layer<Vision, E>): void =>
  describeLayer(layer)(`${name} obeys the laws of a Vision`, (it) => {
    const look = (images: ReadonlyArray<Uint8Array>, question = "What colour is each image? Name it.") =>
      Vision.use((vision) => vision.look(question, images))

    it.effect("describes an image", () =>
      Effect.gen(function* () {
        const { text, tokens } = yield* look([png(RED)])
        assert.match(text, /\bred\b/i)
        assert.notMatch(text, /\b(green|blue)\b/i)
        assert.isTrue(Number.isInteger(tokens) && tokens >= 0)
      })
    )

    it.effect("takes several images together, in the given order", () =>
      Effect.gen(function* () {
        const { text } = yield* look([png(BLUE), png(RED), png(GREEN)])
        const places = [/\bblue\b/i, /\bred\b/i, /\bgreen\b/i].map((colour) => text.search(colour))
        assert.deepStrictEqual(
          places,
          places.toSorted((a, b) => a - b)
        )
        assert.isAtLeast(places[0] ?? -1, 0, text)
      })
    )

    it.effect("finds no text line in an image without text and rejects bytes that are no image", () =>
      Effect.gen(function* () {
        const { read } = yield* Vision
        if (read === undefined) return
        assert.deepStrictEqual(yield* read(png(RED)), [])
        for (const image of [GIF, png(BLUE).subarray(0, 20)]) {
          assert.strictEqual((yield* Effect.flip(read(image))).reason._tag, "InvalidRequest")
        }
      })
    )

    it.effect("gives the same answer again", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* look([png(GREEN)]), yield* look([png(GREEN)]))
      })
    )

    it.effect("accepts PNG, JPEG and WEBP at every detail level", () =>
      Effect.gen(function* () {
        const vision = yield* Vision
        assert.deepStrictEqual([...vision.model.formats].toSorted(), ["jpeg", "png", "webp"])
        for (const detail of ["low", "high", "auto"] as const) {
          const { text } = yield* vision.look("What is it?", [png(RED), JPEG, WEBP], { detail })
          assert.isAbove(text.trim().length, 0)
        }
      })
    )

    it.effect(
      "refuses no image, too many, one too large, other formats and damaged ones, and says which",
      () =>
        Effect.gen(function* () {
          const { maxImageBytes, maxImages } = (yield* Vision).model
          const large = new Uint8Array(maxImageBytes + 1)
          large.set(png(RED))
          const refusals: ReadonlyArray<readonly [images: ReadonlyArray<Uint8Array>, said: RegExp]> = [
            [[], /no image/i],
            [Array.from({ length: maxImages + 1 }, () => JPEG), new RegExp(String(maxImages))],
            [[JPEG, large], /\b2\b.* MB/s],
            [[GIF], /\b1\b.*GIF/s],
            [[png(RED), png(BLUE), png(GREEN).subarray(0, 20)], /\b3\b/]
          ]
          for (const [images, said] of refusals) {
            const { reason } = yield* Effect.flip(look(images))
            assert.strictEqual(reason._tag, "InvalidRequest")
            assert.match(reason.message, said)
          }
        })
    )
  })
