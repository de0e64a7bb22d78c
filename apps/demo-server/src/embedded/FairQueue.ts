/** A queue that runs one effect at a time and is fair among users. */
import { Effect, RcMap, Scope, Semaphore } from "effect"

/** The next effect is of the waiting user who was served least recently. */
export const makeFairQueue = Effect.gen(function* () {
  const running = yield* Semaphore.make(1)
  // Each user waits with one effect at most, so that the users come in turn.
  const turns = yield* RcMap.make({ lookup: (_user: string) => Semaphore.make(1) })
  return {
    /** Runs an effect at the user's turn. */
    run: <A, E, R>(user: string, effect: Effect.Effect<A, E, R>) =>
      Effect.scopedWith((scope) =>
        Effect.flatMap(Scope.provide(RcMap.get(turns, user), scope), (turn) =>
          turn.withPermit(running.withPermit(effect))
        )
      )
  }
})
