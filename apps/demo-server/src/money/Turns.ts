/** Small transactions that come at the same time, in one: a commit waits for the disk, whatever is in it. */
import { Deferred, Duration, Effect, Exit, Queue } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { guarded } from "../sql/Transaction.ts"

/** Steps of one transaction at most: those that come later should not wait for all of them. */
const MOST = 64

/** How long a step that nobody waits for waits for company. */
const PATIENCE = Duration.millis(10)

/** Guarded changes that may be run again, and what came of them. */
export type Step<A> = Effect.Effect<A, SqlError.SqlError>

interface Waiting {
  readonly step: Step<unknown>
  readonly done: Deferred.Deferred<unknown, SqlError.SqlError>
}

/**
 * Runs steps, all that wait at the moment as one transaction.
 *
 * **Details.** A step is committed when its caller hears of it. Once handed over it runs, whether or not its caller
 * still waits: callers that must know what came of it wait uninterruptibly. `soon` waits for the next step that is
 * urgent, and goes before it; at most for some milliseconds. Where the whole fails, each step is tried alone, so that
 * none fails for another.
 */
export const makeTurns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* Effect.acquireRelease(Queue.unbounded<Waiting | "wake">(), Queue.shutdown)
  const patient: Array<Waiting> = []

  const together = (waiting: ReadonlyArray<Waiting>) =>
    guarded(Effect.forEach(waiting, ({ step }) => step)).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      // A span for each statement costs as much as the statement.
      Effect.withTracerEnabled(false),
      Effect.exit
    )

  const turn = Effect.gen(function* () {
    const urgent = yield* Queue.takeBetween(queue, 1, MOST)
    const waiting = [...patient.splice(0, MOST), ...urgent.filter((one) => one !== "wake")]
    if (waiting.length === 0) return
    if (patient.length > 0) Queue.offerUnsafe(queue, "wake")
    const exit = yield* together(waiting)
    if (Exit.isSuccess(exit)) {
      for (const [at, { done }] of waiting.entries())
        Deferred.doneUnsafe(done, Effect.succeed(exit.value[at]))
      return
    }
    for (const one of waiting) {
      const alone = waiting.length === 1 ? exit : yield* together([one])
      Deferred.doneUnsafe(
        one.done,
        Exit.map(alone, ([value]) => value)
      )
    }
  })
  yield* Effect.forkScoped(Effect.forever(turn))

  const handOver =
    (offer: (waiting: Waiting) => void) =>
    <A>(step: Step<A>): Effect.Effect<A, SqlError.SqlError> =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<unknown, SqlError.SqlError>()
        offer({ step, done })
        return Deferred.await(done) as Effect.Effect<A, SqlError.SqlError>
      })

  return {
    now: handOver((waiting) => Queue.offerUnsafe(queue, waiting)),
    soon: handOver((waiting) => {
      if (patient.push(waiting) > 1) return
      setTimeout(() => Queue.offerUnsafe(queue, "wake"), Duration.toMillis(PATIENCE))
    })
  }
})
