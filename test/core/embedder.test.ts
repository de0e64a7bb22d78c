import { assert, describe, it } from "@effect/vitest"
import {
  Embedder,
  GatewayEmbedder,
  GatewayError,
  type Embeddings,
  PartialFailure,
  RateLimited
} from "@sluice/core"
import { TestGateway } from "@sluice/core/testing"
import { Effect, Layer } from "effect"

/** A gateway with these embeddings that records its requests. */
const embedderOver = (
  embeddings: (input: ReadonlyArray<string>) => Effect.Effect<Embeddings, GatewayError>,
  options: Partial<GatewayEmbedder.GatewayEmbedderOptions> = {}
) => {
  const asked: Array<ReadonlyArray<string>> = []
  const gateway = TestGateway.mock({
    embeddings: ({ input }) => {
      const texts = typeof input === "string" ? [input] : input
      asked.push(texts)
      return embeddings(texts)
    }
  })
  return { asked, layer: Layer.provide(GatewayEmbedder.layer({ model: "e", ...options }), gateway) }
}

const ofLength = (length: number) => (input: ReadonlyArray<string>) =>
  Effect.succeed({ vectors: input.map(() => new Float32Array(length).fill(3)), tokens: input.length })

describe("GatewayEmbedder", () => {
  it.effect("requests the dimension at most once, and only if it is unknown", () =>
    Effect.gen(function* () {
      const asking = embedderOver(ofLength(4))
      const dimensions = Effect.forEach([1, 2, 3], () => Embedder.use(({ dimension }) => dimension), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* Effect.provide(dimensions, asking.layer), [4, 4, 4])
      assert.strictEqual(asking.asked.length, 1)
      const given = embedderOver(ofLength(4), { dimension: 4 })
      yield* Effect.provide(dimensions, given.layer)
      assert.strictEqual(given.asked.length, 0)
    })
  )

  it.effect("adds the prefix of the purpose to each text", () =>
    Effect.gen(function* () {
      const { asked, layer } = embedderOver(ofLength(2), { prefixes: { query: "query: " } })
      yield* Effect.gen(function* () {
        const embedder = yield* Embedder
        yield* embedder.embed(["a"], "query")
        yield* embedder.embed(["b"], "passage")
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(asked, [["query: a"], ["b"]])
    })
  )

  it.effect("rejects a vector of the wrong dimension", () =>
    Effect.gen(function* () {
      let length = 4
      const { layer } = embedderOver((input) => ofLength(length++)(input))
      const twice = Effect.gen(function* () {
        const embedder = yield* Embedder
        yield* embedder.embed(["a"], "passage")
        return yield* Effect.flip(embedder.embed(["b"], "passage"))
      })
      assert.strictEqual((yield* Effect.provide(twice, layer)).reason._tag, "InvalidResponse")
      const promised = embedderOver(ofLength(4), { dimension: 5 }).layer
      const once = Effect.flip(Embedder.use((embedder) => embedder.embed(["a"], "passage")))
      assert.strictEqual((yield* Effect.provide(once, promised)).reason._tag, "InvalidResponse")
    })
  )

  it.effect("keeps the vectors of a partial failure at the positions of their texts, with norm 1", () =>
    Effect.gen(function* () {
      const { layer } = embedderOver(() => {
        const kept = new Map([[1, Float32Array.of(3, 4)]])
        const first = new RateLimited({ message: "slow down" })
        const reason = new PartialFailure({ message: "1 of 2", failed: [0], kept, first })
        return new GatewayError({ operation: "embeddings", model: "e", requestId: "r-1", reason })
      })
      const texts = ["", "a", " ", "b"]
      const error = yield* Embedder.use((embedder) => embedder.embed(texts, "passage")).pipe(
        Effect.flip,
        Effect.provide(layer)
      )
      assert.strictEqual(error.requestId, "r-1")
      const { reason } = error
      if (reason._tag !== "PartialFailure") return assert.fail(reason._tag)
      assert.deepStrictEqual(reason.failed, [1])
      assert.deepStrictEqual([...reason.kept], [[3, Float32Array.of(0.6, 0.8)]])
      assert.isTrue(reason.isRetryable)
    })
  )
})
