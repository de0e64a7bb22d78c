/** The queue of videos: one at a time, fair among users. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { makeFairQueue } from "@sluice/core/workers"

describe("the fair queue", () => {
  const queue = Effect.gen(function* () {
    const run = makeFairQueue(1, 1)
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

  it.effect("serves another user's single job before the rest of one user's many", () =>
    Effect.gen(function* () {
      const { ask, begun, open } = yield* queue
      const films = yield* Effect.forEach(["a1", "a2", "a3", "b1", "c1", "c2"], ask)
      yield* open.open
      yield* Effect.forEach(films, Fiber.join)
      assert.deepStrictEqual(begun, ["a1", "b1", "c1", "a2", "c2", "a3"])
    })
  )

  it.effect("skips interrupted jobs, waiting or running", () =>
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
