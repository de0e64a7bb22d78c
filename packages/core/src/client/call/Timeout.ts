/** The time-out of an attempt or a call. */
import { Clock, Context, type Duration, Effect, Exit, Fiber } from "effect"

/**
 * `self`, interrupted after a time: then it fails with `onTimeout`.
 *
 * **Details.** One fiber for `self` and one that sleeps. `Effect.timeoutOrElse` races the two, which costs some microseconds of
 * each call more.
 */
export const withTimeout = <A, E>(
  self: Effect.Effect<A, E>,
  duration: Duration.Duration,
  onTimeout: () => E
): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.callback<A, E>((resume) => {
      const run = Effect.runForkWith(context)
      const fiber = run(self)
      const done = fiber.pollUnsafe()
      if (done !== undefined) return resume(done)
      const timer = run(Context.get(context, Clock.Clock).sleep(duration))
      let isOver = false
      timer.addObserver((exit) => {
        if (Exit.isFailure(exit)) return
        isOver = true
        fiber.interruptUnsafe()
      })
      fiber.addObserver((exit) => {
        timer.interruptUnsafe()
        resume(isOver ? Effect.fail(onTimeout()) : exit)
      })
      return Fiber.interrupt(fiber)
    })
  )
