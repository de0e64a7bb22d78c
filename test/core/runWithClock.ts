/** A test clock for calls that also wait for real I/O. */
import { Clock, Effect, type Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Idle turns of the event loop before the clock advances. */
const IDLE_TURNS = 25
const STEP = 250

/**
 * Runs a call to its end. The clock advances by a quarter of a second whenever the event loop is idle, so that timeouts
 * occur, but never before a response in progress.
 */
export const runWithClock = Effect.fn(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
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
