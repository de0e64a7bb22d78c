import { assert, describe, it } from "@effect/vitest"
import { type TextBatch, batches } from "../../packages/core/src/client/retrieval/Batches.ts"
import { makeEmbedAll } from "../../packages/core/src/client/retrieval/EmbedAll.ts"
import {
  GatewayError,
  type GatewayReason,
  InsufficientQuota,
  InvalidRequest,
  RateLimited,
  ServerFailure,
  Unauthorized
} from "@sluice/core"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

describe("many texts", () => {
  it.effect("are split into batches within both limits, without loss", () =>
    Effect.sync(() => {
      const texts = Array.from({ length: 200 }, (_, i) => "é".repeat((i * 37) % 50))
      for (const limits of [
        { texts: 1, bytes: 10 },
        { texts: 7, bytes: 100 },
        { texts: 96, bytes: 1e6 }
      ]) {
        const parts = batches(texts, limits)
        assert.deepStrictEqual(
          parts.flatMap((part) => part.texts),
          texts
        )
        for (const { start, texts: own } of parts) {
          assert.strictEqual(texts[start], own[0])
          assert.isAtMost(own.length, limits.texts)
          assert.isTrue(own.length === 1 || Buffer.byteLength(own.join("")) <= limits.bytes)
        }
      }
      assert.deepStrictEqual(batches([], { texts: 1, bytes: 1 }), [])
    })
  )

  it.effect("are sent with limited concurrency and returned in order", () =>
    Effect.gen(function* () {
      let open = 0
      let most = 0
      const send = ({ start, texts }: TextBatch) =>
        Effect.gen(function* () {
          most = Math.max(most, ++open)
          yield* Effect.sleep(1000 - start)
          open--
          return { vectors: texts.map((text) => Float32Array.of(Number(text))), tokens: 1 }
        })
      const input = Array.from({ length: 20 }, (_, i) => String(i))
      const fiber = yield* Effect.forkChild(
        makeEmbedAll({ texts: 2, concurrency: 3 })({ model: "e", input }, send)
      )
      yield* TestClock.adjust("1 minute")
      const { tokens, vectors } = yield* Fiber.join(fiber)
      assert.deepStrictEqual([most, tokens], [3, 10])
      assert.deepStrictEqual(
        vectors.map(([number]) => String(number)),
        input
      )
    })
  )
})

describe("a request that is refused", () => {
  const input = Array.from({ length: 96 }, (_, i) => String(i))
  const refusal = (message: string, status?: number) =>
    new InvalidRequest({ message, ...(status !== undefined && { status }) })

  /** A model that takes what it is not refused, and the sizes of what it was sent. */
  const model = (refused: (texts: ReadonlyArray<string>) => GatewayReason | undefined, attempt = 1) => {
    const sizes: Array<number> = []
    const embedAll = makeEmbedAll({ concurrency: 1 })
    const ask = (texts: ReadonlyArray<string>) =>
      embedAll({ model: "e", input: texts }, ({ texts }) =>
        Effect.suspend(() => {
          sizes.push(texts.length)
          const reason = refused(texts)
          return reason === undefined
            ? Effect.succeed({ vectors: texts.map((text) => Float32Array.of(Number(text))), tokens: 1 })
            : new GatewayError({ operation: "embeddings", reason, ...(attempt !== 0 && { attempt: 1 }) })
        })
      )
    return { ask, sizes }
  }

  for (const status of [undefined, 413, 422])
    it.effect(`for some of its texts, with ${status ?? 400}, returns the vectors of the others`, () =>
      Effect.gen(function* () {
        const long = new Set(["7", "50", "51"])
        const { ask, sizes } = model((texts) =>
          texts.some((text) => long.has(text)) ? refusal("too long", status) : undefined
        )
        const { attempt, reason } = yield* Effect.flip(ask(input))
        if (reason._tag !== "PartialFailure") return assert.fail(reason._tag)
        assert.deepStrictEqual(reason.failed, [7, 50, 51])
        assert.strictEqual(reason.kept.size, 93)
        assert.isTrue([...reason.kept].every(([at, [number]]) => at === number))
        assert.deepStrictEqual([reason.first.message, attempt], ["too long", 1])
        assert.isAtMost(sizes.length, 30)
        // A text that is not taken says nothing of how many are.
        sizes.length = 0
        yield* ask(input.slice(52))
        assert.deepStrictEqual(sizes, [44])
      })
    )

  it.effect("for its size is split, and later batches to the model are smaller", () =>
    Effect.gen(function* () {
      const { ask, sizes } = model(({ length }) => (length > 32 ? refusal("batch size", 422) : undefined))
      const { vectors } = yield* ask(input)
      assert.deepStrictEqual(
        vectors.map(([number]) => String(number)),
        input
      )
      assert.deepStrictEqual(sizes, [96, 64, 32, 32, 32])
      sizes.length = 0
      yield* ask(input)
      yield* ask(input.slice(0, 33))
      assert.deepStrictEqual(sizes, [32, 32, 32, 32, 1])
    })
  )

  it.effect("for a field other than its texts is not split", () =>
    Effect.gen(function* () {
      for (const [reason, attempt] of [
        [new Unauthorized({ message: "key" })],
        [new InsufficientQuota({ message: "quota" })],
        [new RateLimited({ message: "slowly" })],
        [new ServerFailure({ message: "down", status: 503 })],
        [refusal("backend", 424)],
        [new InvalidRequest({ message: "no such format", param: "encoding_format" })],
        [refusal("not sent"), 0]
      ] as ReadonlyArray<readonly [GatewayReason, number?]>) {
        const { ask, sizes } = model(() => reason, attempt)
        assert.strictEqual((yield* Effect.flip(ask(input))).reason, reason)
        assert.deepStrictEqual(sizes, [96])
      }
    })
  )

  it.effect("by a model that accepts nothing is soon not split any more", () =>
    Effect.gen(function* () {
      const { ask, sizes } = model(() => refusal("this model makes no embeddings"))
      assert.strictEqual((yield* Effect.flip(ask(input))).reason._tag, "InvalidRequest")
      assert.isAtMost(sizes.length, 50)
      sizes.length = 0
      yield* Effect.flip(ask(input))
      assert.deepStrictEqual(sizes, [96])
    })
  )
})
