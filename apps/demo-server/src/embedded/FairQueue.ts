/** One after the other, and no user's many before another's one. */
import { Deferred, Effect } from "effect"

/** Lets one in at a time; of those who wait, one of the user who had a turn the longest ago. */
export const makeFairTurns = () => {
  /** By user, in the order in which they are next. */
  const waiting = new Map<string, Array<Deferred.Deferred<void>>>()
  let taken = false

  const leave = (user: string, turn: Deferred.Deferred<void>): boolean => {
    const theirs = waiting.get(user) ?? []
    const rest = theirs.filter((other) => other !== turn)
    if (rest.length > 0) waiting.set(user, rest)
    else waiting.delete(user)
    return rest.length < theirs.length
  }

  const passOn = (from: string) =>
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
      // Who goes while it is given the turn has it, and hands it on.
      return Effect.onInterrupt(Deferred.await(turn), () =>
        Effect.suspend(() => (leave(user, turn) ? Effect.void : passOn(user)))
      )
    })

  return {
    /** Runs it when it is the user's turn. */
    inTurn: <A, E, R>(user: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(restore(wait(user)), Effect.ensuring(restore(effect), passOn(user)))
      )
  }
}
