import { assert, describe, it } from "@effect/vitest"
import { LanceIndex, PassageIndex } from "@sluice/rag/store"
import { Effect, Layer } from "effect"
import { sha256 } from "../../packages/rag/src/document/Hash.ts"
import { testFolder } from "./TestFolder.ts"

const DIMENSION = 8

/** Another connection to the folder, as in another process. */
const cacheIn = (folder: string) =>
  Layer.build(LanceIndex.layer(folder)).pipe(
    Effect.flatMap((store) =>
      Effect.provideContext(
        Effect.flatMap(PassageIndex, (index) => index.vectors("acme", DIMENSION)),
        store
      )
    )
  )

const entry = (text: string) =>
  [sha256(text), Float32Array.from({ length: DIMENSION }, (_, i) => text.length + i)] as const

describe("the vector cache", () => {
  it.effect("finds vectors that either of two processes wrote", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const [one, other] = [yield* cacheIn(library), yield* cacheIn(library)]
      const [a, b, c, d] = [entry("a"), entry("bb"), entry("ccc"), entry("dddd")]
      const all = [a, b, c, d].map(([key]) => key)
      assert.isEmpty([...(yield* one.get(all))])
      yield* one.put(new Map([a]))
      yield* other.put(new Map([b]))
      assert.deepStrictEqual(new Map(yield* one.get(all)), new Map([a, b]))
      assert.deepStrictEqual(new Map(yield* other.get(all)), new Map([a, b]))
      yield* Effect.all([one.put(new Map([c])), other.put(new Map([d]))], { concurrency: 2 })
      for (const cache of [one, other, yield* cacheIn(library)])
        assert.deepStrictEqual(new Map(yield* cache.get(all)), new Map([a, b, c, d]))
    }).pipe(Effect.scoped)
  )

  it.effect("keeps a zero vector", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const cache = yield* cacheIn(library)
      const [a, b] = [entry("a"), [sha256("nothing"), new Float32Array(DIMENSION)] as const]
      yield* cache.put(new Map([a, b]))
      assert.deepStrictEqual(new Map(yield* cache.get([a[0], b[0]])), new Map([a, b]))
    }).pipe(Effect.scoped)
  )
})
