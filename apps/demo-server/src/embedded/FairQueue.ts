/** A queue that runs one effect at a time and is fair among users. */
import { Deferred, Effect } from "effect"

/** The next effect is of the waiting user who was served least recently. */
export const makeFairQueue = () => {
  /** Waiting effects by user, in the order of the users' next turns. */
  const waiting = new Map<string, Array<Deferred.Deferred<void>>>()
  let taken = false

  const leave = (user: string, turn: Deferred.Deferred<void>): boolean => {
    const theirs = waiting.get(user) ?? []
    const rest = theirs.filter((other) => other !== turn)
    if (rest.length > 0) waiting.set(user, rest)
    else waiting.delete(user)
    return rest.length < theirs.length
  }

  const release = (from: string) =>
    Effect.sync(() => {
      const more = waiting.get(from)
      if (more !== undefined) {
        waiting.delete(from)
        waiting.set(from, more)
      }
      const [next] = waiting
      taken = next !== undefined
      if (next === undefined) return
      const [user, [turn]] = next
      if (turn === undefined) return
      leave(user, turn)
      Deferred.doneUnsafe(turn, Effect.void)
    })

  const wait = (user: string) =>
    Effect.suspend(() => {
      if (!taken) {
        taken = true
        return Effect.void
      }
      const turn = Deferred.makeUnsafe<void>()
      waiting.set(user, [...(waiting.get(user) ?? []), turn])
      // If it was given the turn meanwhile, it hands it on.
      return Effect.onInterrupt(Deferred.await(turn), () =>
        Effect.suspend(() => (leave(user, turn) ? Effect.void : release(user)))
      )
    })

  return {
    /** Runs an effect at the user's turn. */
    run: <A, E, R>(user: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(restore(wait(user)), Effect.ensuring(restore(effect), release(user)))
      )
  }
}
