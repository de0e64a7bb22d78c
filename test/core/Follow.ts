/** The test's clock, for calls that also wait for the process: connections, and promises of bodies. */
import { Clock, Effect, type Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Turns of the process in which nothing may happen before the test's clock goes on. */
const IDLE_TURNS = 25
const STEP = 250

/**
 * Follows a call to its end: the clock goes on by a quarter of a second each time that the process has been idle, so that
 * every time-out comes, and none before an answer that is under way.
 */
export const follow = Effect.fn(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
  const start = yield* Clock.currentTimeMillis
  let end = start
  const timed = Effect.onExit(call, () => Effect.map(Clock.currentTimeMillis, (now) => void (end = now)))
  const fiber = yield* Effect.forkChild(Effect.exit(timed), { startImmediately: true })
  let done: Exit.Exit<Exit.Exit<A, E>> | undefined
  while (done === undefined) {
    for (let turn = 0; turn < IDLE_TURNS && fiber.pollUnsafe() === undefined; turn++) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    done = fiber.pollUnsafe()
    if (done === undefined) yield* TestClock.adjust(STEP)
  }
  const exit = yield* Fiber.join(fiber)
  return { exit, seconds: (end - start) / 1000 }
})
