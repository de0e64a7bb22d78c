/** Small transactions that come at the same time, in one: a commit costs as much as what is in it. */
import { Deferred, Duration, Effect, Exit, Queue, Result, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { answered, asked, type Asking } from "../sql/Asking.ts"
import type { DirectSql } from "../sql/DirectSql.ts"
import { directOf } from "../sql/NodeSqlite.ts"
import { guarded } from "../sql/Transaction.ts"

/** Steps of one transaction at most: those that come later should not wait for all of them. */
const MOST = 64

/** How long a step that nobody waits for waits for company. */
const PATIENCE = Duration.millis(10)

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
  /** When its caller hears of it everybody sees it, and it outlasts the process; the disk has it some milliseconds later. */
  readonly seen: <A>(step: Step<A>) => Committed<A>
  /** The same for a step that nobody waits for: it goes with the next one, after some milliseconds at most. */
  readonly soon: <A>(step: Step<A>) => Committed<A>
  /** `seen` and `soon` without an effect, where the database is within this process. */
  readonly direct:
    | { readonly seen: Hand; readonly soon: Hand; readonly version: DirectSql["version"] }
    | undefined
}

type Hand = <A>(step: Step<A>, hear: Heard<A>) => void

const hand = <A>(offer: Hand, step: Step<A>): Committed<A> =>
  Effect.callback((resume) => offer<A>(step, resume))

/** In SQLite: a transaction takes microseconds, on this thread. */
const within = (direct: DirectSql): Turns & { readonly flush: () => void } => {
  const urgent: Array<Waiting> = []
  const patient: Array<Waiting> = []
  let isDue = false
  let isLate = false

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
    if (urgent.length > MOST) due()
    together([...patient.splice(0), ...urgent.splice(0, MOST)])
  }
  const due = () => {
    if (isDue) return
    isDue = true
    setImmediate(turn)
  }

  const flush = () => together(patient.splice(0))
  // What was handed over is there for whoever looks.
  direct.first(flush)

  const late = () => {
    if (isLate) return
    isLate = true
    setTimeout(() => {
      isLate = false
      flush()
      direct.onDisk(() => {})
    }, Duration.toMillis(PATIENCE))
  }

  const seen: Hand = (step, hear) => {
    urgent.push({ step, hear: hear as Heard<unknown> })
    due()
    late()
  }
  const soon: Hand = (step, hear) => {
    const told = hear as Heard<unknown>
    patient.push({
      step,
      // Nobody waits for it, and whoever handed it over has to try again where the commit fails.
      hear: (exit) => {
        if (Exit.isFailure(exit)) return told(exit)
        direct.whenCommitted((error) => told(error === undefined ? exit : Exit.fail(error)))
      }
    })
    late()
  }
  const now: Hand = (step, hear) =>
    seen(step, (exit) => {
      if (Exit.isFailure(exit)) return hear(exit)
      direct.onDisk((error) => hear(error === undefined ? exit : Exit.fail(error)))
    })
  return {
    now: (step) => hand(now, step),
    seen: (step) => hand(seen, step),
    soon: (step) => hand(soon, step),
    direct: { seen, soon, version: direct.version },
    flush: () => {
      flush()
      together(urgent.splice(0))
    }
  }
}

/** In a database elsewhere: a transaction is some trips to it. */
const over = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const queue = yield* Effect.acquireRelease(Queue.unbounded<Waiting | "wake">(), Queue.shutdown)
  const patient: Array<Waiting> = []

  const together = (waiting: ReadonlyArray<Waiting>) =>
    guarded(Effect.forEach(waiting, ({ step }) => asked(sql, step))).pipe(
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
      for (const [at, { hear }] of waiting.entries()) hear(Exit.succeed(exit.value[at]))
      return
    }
    for (const one of waiting) {
      const alone = waiting.length === 1 ? exit : yield* together([one])
      one.hear(Exit.map(alone, ([value]) => value))
    }
  })
  yield* Effect.forkScoped(Effect.forever(turn))

  const handOver =
    (offer: (waiting: Waiting) => void) =>
    <A>(step: Step<A>): Committed<A> =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<A, SqlError.SqlError>()
        const hear: Heard<A> = (exit) => void Deferred.doneUnsafe(done, exit)
        offer({ step, hear: hear as Heard<unknown> })
        return Deferred.await(done)
      })

  const now = handOver((waiting) => Queue.offerUnsafe(queue, waiting))
  const soon = handOver((waiting) => {
    if (patient.push(waiting) > 1) return
    setTimeout(() => Queue.offerUnsafe(queue, "wake"), Duration.toMillis(PATIENCE))
  })
  return { now, seen: now, soon, direct: undefined } satisfies Turns
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
