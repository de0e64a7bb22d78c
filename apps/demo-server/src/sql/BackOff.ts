/** How long a failed statement is retried: the database may be back in a moment. */
import { Duration, Effect, Schedule } from "effect"

const LONGEST_WAIT = Duration.seconds(10)

/** Exponential waits, of ten seconds at most, for a total duration. */
export const backOff = (duration: Duration.Input) =>
  Schedule.exponential("100 millis").pipe(
    Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, LONGEST_WAIT))),
    Schedule.upTo({ duration })
  )
