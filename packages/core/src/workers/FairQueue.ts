/** A queue in which users take turns. */
import { Effect, Semaphore } from "effect"

export type FairQueue = <A, E, R>(user: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Runs at most `total` effects at a time, and at most `perUser` of one user. The others wait, each user with `perUser` of
 * them in the common queue, so that the users come in turn.
 */
export const makeFairQueue = (total: number, perUser: number): FairQueue => {
  const running = Semaphore.makeUnsafe(total)
  const turns = new Map<string, { readonly own: Semaphore.Semaphore; users: number }>()
  return (user, effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const turn = turns.get(user) ?? { own: Semaphore.makeUnsafe(perUser), users: 0 }
        turn.users++
        turns.set(user, turn)
        return turn
      }),
      ({ own }) => own.withPermit(running.withPermit(effect)),
      (turn) =>
        Effect.sync(() => {
          if (--turn.users === 0) turns.delete(user)
        })
    )
}
