/** Small transactions that come at the same time, in one: a commit costs as much as what is in it. */
import { Deferred, Duration, Effect, Exit, Queue, Result, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { answered, asked, type Asking } from "../sql/Asking.ts"
import type { DirectSql } from "../sql/DirectSql.ts"
import { directOf } from "../sql/NodeSqlite.ts"
import { guarded } from "../sql/Transaction.ts"

/** Steps of one transaction at most: those that come later should not wait for all of them. */
const MOST = 64

/** How long what was changed may be uncommitted, and a commit not on disk, where nobody waits for that. */
const PATIENCE = Duration.millis(50)

/** Guarded changes that may be run again, and what came of them. */
export type Step<A> = () => Asking<A>

type Committed<A> = Effect.Effect<A, SqlError.SqlError>

/** What a step came to. */
export type Heard<A> = (exit: Exit.Exit<A, SqlError.SqlError>) => void

interface Waiting {
  readonly step: Step<unknown>
  readonly hear: Heard<unknown>
}

/**
 * Runs steps, all that wait at the moment as one transaction.
 *
 * **Details.** Once handed over a step runs, whether or not its caller still waits: callers that must know what came of
 * it wait uninterruptibly. Where the whole fails, each step is tried alone, so that none fails for another.
 */
export interface Turns {
  /** Committed, and on disk as the configuration says, when its caller hears of it. */
  readonly now: <A>(step: Step<A>) => Committed<A>
  /** Committed, so that it outlasts the process; the disk has it some milliseconds later. */
  readonly kept: <A>(step: Step<A>) => Committed<A>
  /** When its caller hears of it everybody sees it; it is committed with what comes next, in some milliseconds at most. */
  readonly seen: <A>(step: Step<A>) => Committed<A>
  /** `seen` and `kept` without an effect, where the database is within this process. */
  readonly direct:
    | { readonly seen: Hand; readonly kept: Hand; readonly version: DirectSql["version"] }
    | undefined
}

type Hand = <A>(step: Step<A>, hear: Heard<A>) => void

const hand = <A>(offer: Hand, step: Step<A>): Committed<A> =>
  Effect.callback((resume) => offer<A>(step, resume))

/** In SQLite: a transaction takes microseconds, on this thread. */
const within = (direct: DirectSql): Turns & { readonly flush: () => void } => {
  const queue: Array<Waiting> = []
  let isDue = false
  let isLate = false
  /** Whether somebody of this turn wants to hear of a commit. */
  let commits = false

  const together = (waiting: ReadonlyArray<Waiting>) => {
    if (waiting.length === 0) return
    direct.change(
      (answer) => waiting.map(({ step }) => answered(step(), answer)),
      (result) => {
        if (Result.isSuccess(result)) {
          for (const [at, { hear }] of waiting.entries()) hear(Exit.succeed(result.success[at]))
        } else if (waiting.length === 1) waiting[0]?.hear(Exit.fail(result.failure))
        else for (const one of waiting) together([one])
      }
    )
  }

  const turn = () => {
    isDue = false
    together(queue.splice(0, MOST))
    if (queue.length > 0) due()
    if (!commits) return
    commits = false
    direct.commit()
  }
  const due = () => {
    if (isDue) return
    isDue = true
    setImmediate(turn)
  }

  const late = () => {
    if (isLate) return
    isLate = true
    setTimeout(() => {
      isLate = false
      direct.onDisk(() => {})
    }, Duration.toMillis(PATIENCE))
  }

  const seen: Hand = (step, hear) => {
    queue.push({
      step,
      hear: (exit) => {
        late()
        return (hear as Heard<unknown>)(exit)
      }
    })
    due()
  }
  const kept: Hand = (step, hear) =>
    seen(step, (exit) => {
      if (Exit.isFailure(exit)) return hear(exit)
      commits = true
      direct.whenCommitted((error) => hear(error === undefined ? exit : Exit.fail(error)))
    })
  const now: Hand = (step, hear) =>
    seen(step, (exit) => {
      if (Exit.isFailure(exit)) return hear(exit)
      direct.onDisk((error) => hear(error === undefined ? exit : Exit.fail(error)))
    })
  return {
    now: (step) => hand(now, step),
    kept: (step) => hand(kept, step),
    seen: (step) => hand(seen, step),
    direct: { seen, kept, version: direct.version },
    flush: () => {
      while (queue.length > 0) turn()
      direct.commit()
    }
  }
}

/** In a database elsewhere: a transaction is some trips to it. */
const over = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const queue = yield* Effect.acquireRelease(Queue.unbounded<Waiting>(), Queue.shutdown)

  const together = (waiting: ReadonlyArray<Waiting>) =>
    guarded(Effect.forEach(waiting, ({ step }) => asked(sql, step))).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      // A span for each statement costs as much as the statement.
      Effect.withTracerEnabled(false),
      Effect.exit
    )

  const turn = Effect.gen(function* () {
    const waiting = yield* Queue.takeBetween(queue, 1, MOST)
    const exit = yield* together(waiting)
    if (Exit.isSuccess(exit)) {
      for (const [at, { hear }] of waiting.entries()) hear(Exit.succeed(exit.value[at]))
      return
    }
    for (const one of waiting) {
      const alone = waiting.length === 1 ? exit : yield* together([one])
      one.hear(Exit.map(alone, ([value]) => value))
    }
  })
  yield* Effect.forkScoped(Effect.forever(turn))

  const now = <A>(step: Step<A>): Committed<A> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<A, SqlError.SqlError>()
      const hear: Heard<A> = (exit) => void Deferred.doneUnsafe(done, exit)
      Queue.offerUnsafe(queue, { step, hear: hear as Heard<unknown> })
      return Deferred.await(done)
    })
  return { now, kept: now, seen: now, direct: undefined } satisfies Turns
})

export const makeTurns: Effect.Effect<Turns, never, SqlClient.SqlClient | Scope.Scope> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const direct = directOf(sql)
    if (direct === undefined) return yield* over(sql)
    const turns = within(direct)
    yield* Effect.addFinalizer(() => Effect.sync(turns.flush))
    return turns
  }
)
