/** The queue of films: one at a time, the users in turn. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { makeFairQueue } from "../../apps/demo-server/src/embedded/FairQueue.ts"

describe("fair turns", () => {
  const queue = Effect.gen(function* () {
    const { run } = makeFairQueue()
    const begun: Array<string> = []
    const open = yield* Latch.make()
    let atOnce = 0
    const ask = (name: string) =>
      run(
        name.slice(0, 1),
        Effect.gen(function* () {
          atOnce++
          begun.push(name)
          assert.strictEqual(atOnce, 1)
          yield* open.await
          yield* Effect.yieldNow
        }).pipe(Effect.ensuring(Effect.sync(() => void atOnce--)))
      ).pipe(Effect.forkChild({ startImmediately: true }))
    return { ask, begun, open }
  })

  it.effect("one user's many wait for another's one", () =>
    Effect.gen(function* () {
      const { ask, begun, open } = yield* queue
      const films = yield* Effect.forEach(["a1", "a2", "a3", "b1", "c1", "c2"], ask)
      yield* open.open
      yield* Effect.forEach(films, Fiber.join)
      assert.deepStrictEqual(begun, ["a1", "b1", "c1", "a2", "c2", "a3"])
    })
  )

  it.effect("who goes is passed over, whether waiting or at work", () =>
    Effect.gen(function* () {
      const { ask, begun, open } = yield* queue
      const first = yield* ask("a1")
      const second = yield* ask("a2")
      const third = yield* ask("b1")
      const last = yield* ask("a3")
      yield* Fiber.interrupt(third)
      yield* Fiber.interrupt(first).pipe(Effect.andThen(Fiber.interrupt(second)))
      yield* open.open
      yield* Fiber.join(last)
      assert.strictEqual(begun.at(-1), "a3")
      assert.notInclude(begun, "b1")
    })
  )
})
