/** How often a statement that failed is tried again, where the database may be back in a moment. */
import { Duration, Effect, Schedule } from "effect"

const LONGEST = Duration.seconds(10)

/** For so long, less and less often. */
export const again = (duration: Duration.Input) =>
  Schedule.exponential("100 millis").pipe(
    Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, LONGEST))),
    Schedule.upTo({ duration })
  )
