import { assert, describe, it } from "@effect/vitest"
import { type Batch, batches, embedAll } from "@sluice/core/client"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

describe("many texts", () => {
  it.effect("are cut into batches that join to the texts again and keep both limits", () =>
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

  it.effect("are under way no more at once than allowed, and come back in order whoever is first", () =>
    Effect.gen(function* () {
      let open = 0
      let most = 0
      const send = ({ start, texts }: Batch) =>
        Effect.gen(function* () {
          most = Math.max(most, ++open)
          yield* Effect.sleep(1000 - start)
          open--
          return { vectors: texts.map((text) => Float32Array.of(Number(text))), tokens: 1 }
        })
      const input = Array.from({ length: 20 }, (_, i) => String(i))
      const fiber = yield* Effect.forkChild(
        embedAll({ model: "e", input }, { texts: 2, concurrency: 3 }, send)
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
