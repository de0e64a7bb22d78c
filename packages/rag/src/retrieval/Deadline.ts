/** How long the models of one question may take together. */
import { Clock, Duration, Effect, type Option } from "effect"

/** What is done by it; without one, all is. */
export interface Deadline {
  /** None when it takes longer than is left. */
  readonly begun: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<Option.Option<A>, E>
  /** The same; without any time left it is not even begun. */
  readonly inTime: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<Option.Option<A>, E>
  /** When that is, in words that end a sentence. */
  readonly byThen: string
}

/** `started` in nanoseconds, as the clock tells them. */
export const deadlineFrom = (started: bigint, deadline: Duration.Duration | undefined): Deadline => {
  if (deadline === undefined) return { begun: Effect.asSome, inTime: Effect.asSome, byThen: "in time" }
  const left = Effect.map(Clock.currentTimeNanos, (now) =>
    Duration.max(Duration.subtract(deadline, Duration.nanos(now - started)), Duration.zero)
  )
  return {
    begun: (effect) => Effect.flatMap(left, (time) => Effect.timeoutOption(effect, time)),
    inTime: (effect) =>
      Effect.flatMap(left, (time) =>
        Duration.isZero(time) ? Effect.succeedNone : Effect.timeoutOption(effect, time)
      ),
    byThen: Duration.isZero(deadline) ? "at once" : `${Duration.format(deadline)} after the question`
  }
}
