import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { within } from "../../packages/core/src/client/call/Within.ts"

const late = () => Effect.fail("late" as const)
const soon = Duration.millis(1)
const long = Duration.hours(1)

/** Never ends; says whether it was begun, and whether its end was waited for. */
const endless = () => {
  const seen: Array<string> = []
  const effect = Effect.never.pipe(
    Effect.onInterrupt(() =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => seen.push("ended"))
      )
    ),
    (never) =>
      Effect.andThen(
        Effect.sync(() => seen.push("begun")),
        never
      )
  )
  return { effect, seen }
}

/** What holds by the machine's clock, and by one that a test turns: there it is `Effect.timeoutOrElse`. */
const laws = (clock: string, run: typeof it.live, pass: Effect.Effect<void>) =>
  describe(`a time limit by ${clock}`, () => {
    run("gives what was ready in time, and fails as it failed", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* within(Effect.succeed(1), long, late), 1)
        assert.strictEqual(
          yield* within(Effect.delay(Effect.succeed(2), soon), long, late).pipe(besides(pass)),
          2
        )
        assert.strictEqual(yield* Effect.flip(within(Effect.fail("no"), long, late)), "no")
        assert.isTrue(Exit.hasDies(yield* Effect.exit(within(Effect.die("broken"), long, late))))
      })
    )

    run("ends what takes too long, and then says so", () =>
      Effect.gen(function* () {
        const { effect, seen } = endless()
        assert.strictEqual(yield* Effect.flip(within(effect, soon, late)).pipe(besides(pass)), "late")
        assert.deepStrictEqual(seen, ["begun", "ended"])
      })
    )

    run("ends it when it is ended itself", () =>
      Effect.gen(function* () {
        const { effect, seen } = endless()
        const fiber = yield* Effect.forkChild(within(effect, long, late), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(seen, ["begun", "ended"])
      })
    )
  })

/** Turns the clock while an effect waits. */
const besides =
  (pass: Effect.Effect<void>) =>
  <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Effect.forkChild(self, { startImmediately: true }), (fiber) =>
      Effect.andThen(pass, Fiber.join(fiber))
    )

laws("the machine's clock", it.live, Effect.void)
laws("another clock", it.effect, TestClock.adjust(soon))
