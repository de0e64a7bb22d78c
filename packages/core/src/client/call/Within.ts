/** Time limits of attempts: a call waits for one of them, so that what they cost is what a call costs. */
import { Clock, Context, Duration, Effect, Fiber } from "effect"

/** The clock of programs that bring none of their own. */
const LIVE = Context.get(Context.empty(), Clock.Clock)

/** What a timer of Node can count to. */
const TIMER_MAX = 2 ** 31 - 1

/** The milliseconds of a timer of Node that does for a limit; undefined where none does. */
export const timerOf = (clock: Clock.Clock, duration: Duration.Duration): number | undefined => {
  const millis = Duration.toMillis(duration)
  return clock === LIVE && millis <= TIMER_MAX ? millis : undefined
}

/**
 * `Effect.timeoutOrElse`, by a timer where the clock is the machine's: a fiber that sleeps costs more than the rest of
 * a call.
 */
export const within = <A, E, A2, E2>(
  self: Effect.Effect<A, E>,
  duration: Duration.Duration,
  orElse: () => Effect.Effect<A2, E2>
): Effect.Effect<A | A2, E | E2> =>
  Effect.withFiber((parent): Effect.Effect<A | A2, E | E2> => {
    const millis = timerOf(parent.getRef(Clock.Clock), duration)
    if (millis === undefined) return Effect.timeoutOrElse(self, { duration, orElse })
    return Effect.callback<A | A2, E | E2>((resume) => {
      let late = false
      const timer = setTimeout(() => {
        late = true
        fiber.interruptUnsafe(parent.id)
      }, millis)
      const fiber = Effect.runForkWith(parent.context)(self)
      fiber.addObserver((exit) => {
        clearTimeout(timer)
        resume(late ? Effect.suspend(orElse) : exit)
      })
      return Fiber.interrupt(fiber)
    })
  })
