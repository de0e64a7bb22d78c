/** A queue in which users take turns. */
import { Effect, Number, Semaphore } from "effect"

export interface FairQueue {
  <A, E, R>(user: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  readonly counts: () => { readonly running: number; readonly waiting: number }
}

/**
 * Runs at most `total` effects at a time, and at most `perUser` of one user. The others wait, each user with `perUser` of
 * them in the common queue, so that the users come in turn.
 */
export const makeFairQueue = (total: number, perUser: number): FairQueue => {
  const places = Semaphore.makeUnsafe(total)
  let running = 0
  const turns = new Map<string, { readonly own: Semaphore.Semaphore; users: number }>()
  const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => running++),
      () => effect,
      () => Effect.sync(() => running--)
    )
  const queue = <A, E, R>(user: string, effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const turn = turns.get(user) ?? { own: Semaphore.makeUnsafe(perUser), users: 0 }
        turn.users++
        turns.set(user, turn)
        return turn
      }),
      ({ own }) => own.withPermit(places.withPermit(counted(effect))),
      (turn) =>
        Effect.sync(() => {
          if (--turn.users === 0) turns.delete(user)
        })
    )
  const counts = () => {
    const all = Number.sumAll([...turns.values()].map(({ users }) => users))
    return { running, waiting: all - running }
  }
  return Object.assign(queue, { counts })
}
