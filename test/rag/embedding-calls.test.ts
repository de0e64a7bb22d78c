/** Texts that several batches embed concurrently are sent once and cached. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder } from "@sluice/core"
import { Deferred, Effect, Fiber } from "effect"
import type { VectorCache } from "../../packages/rag/src/store/PassageIndex.ts"
import { sha256 } from "../../packages/rag/src/document/Hash.ts"
import { makePassageEmbedder } from "../../packages/rag/src/embedding/PassageEmbedder.ts"
import { DIMENSION, embedText } from "./Models.ts"

const texts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => {
    const text = `text number ${from + i}`
    return { text, hash: sha256(text) }
  })

/** An embedder that answers when the test lets it, and a cache in memory. */
const held = (free = false) =>
  Effect.gen(function* () {
    const sent: Array<string> = []
    const use = { now: 0, most: 0 }
    const open = yield* Deferred.make<void>()
    const kept = new Map<string, Float32Array>()
    const cache: VectorCache = {
      get: (keys) => Effect.sync(() => new Map(keys.flatMap((key) => pair(key, kept.get(key))))),
      put: (entries) => Effect.sync(() => entries.forEach((vector, key) => kept.set(key, vector)))
    }
    const model = Embedder.of({
      model: { id: "held", kind: "lexical", free },
      dimension: Effect.succeed(DIMENSION),
      embed: Effect.fnUntraced(function* (asked) {
        sent.push(...asked)
        use.most = Math.max(use.most, ++use.now)
        yield* Effect.ensuring(
          Deferred.await(open),
          Effect.sync(() => use.now--)
        )
        return { vectors: asked.map((text) => embedText(text)), tokens: 0 }
      })
    })
    const embedder = yield* makePassageEmbedder(DIMENSION, free ? undefined : cache).pipe(
      Effect.provideService(Embedder, model)
    )
    return { embedder, sent, kept, use, open: Deferred.succeed(open, undefined) }
  })

const pair = (key: string, vector: Float32Array | undefined) =>
  vector === undefined ? [] : [[key, vector] as const]

const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

describe("concurrent batches", () => {
  it.effect("send each text once, four calls at a time, and cache all vectors", () =>
    Effect.gen(function* () {
      const { embedder, kept, open, sent, use } = yield* held()
      const [one, other] = [texts(0, 1_000), texts(500, 1_500)]
      const both = yield* Effect.forkChild(
        Effect.all([embedder.embed(one), embedder.embed(other)], { concurrency: 2 })
      )
      yield* settled
      assert.strictEqual(use.now, 4)
      yield* open
      const [first, second] = yield* Fiber.join(both)
      assert.strictEqual(use.most, 4)
      assert.strictEqual(sent.length, 1_500)
      assert.strictEqual(new Set(sent).size, 1_500)
      assert.strictEqual(kept.size, 1_500)
      const vectors = (given: typeof first) =>
        given.map((it) => (it._tag === "Vector" ? it.vector : it.error))
      assert.deepStrictEqual(
        vectors(first),
        one.map(({ text }) => embedText(text))
      )
      assert.deepStrictEqual(
        vectors(second),
        other.map(({ text }) => embedText(text))
      )
      yield* embedder.embed(other)
      assert.strictEqual(sent.length, 1_500)
    })
  )

  it.effect("send a text again if its call was interrupted", () =>
    Effect.gen(function* () {
      const { embedder, open, sent } = yield* held()
      const broken = yield* Effect.forkChild(embedder.embed(texts(0, 10)))
      yield* settled
      yield* Fiber.interrupt(broken)
      yield* open
      const given = yield* embedder.embed(texts(0, 10))
      assert.isTrue(given.every(({ _tag }) => _tag === "Vector"))
      assert.strictEqual(sent.length, 20)
    })
  )

  it.effect("make one call at a time to a free model, and cache nothing", () =>
    Effect.gen(function* () {
      const { embedder, kept, open, sent, use } = yield* held(true)
      yield* open
      yield* Effect.all([embedder.embed(texts(0, 600)), embedder.embed(texts(600, 1_000))], {
        concurrency: 2
      })
      assert.strictEqual(use.most, 1)
      assert.strictEqual(sent.length, 1_000)
      assert.strictEqual(kept.size, 0)
      yield* embedder.embed(texts(0, 10))
      assert.strictEqual(sent.length, 1_010)
    })
  )
})
