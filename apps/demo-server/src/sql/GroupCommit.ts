/** Small transactions that come at the same time, in one: a commit costs as much as what is in it. */
import { Deferred, Duration, Effect, Exit, Queue, Result, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { answered, asked, type Asking } from "./SqlStep.ts"
import type { DirectSql } from "./DirectSql.ts"
import { directOf } from "./NodeSqlite.ts"
import { guarded } from "./Transaction.ts"

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
  /** What is noted of it, where it has to outlast the process. */
  readonly noteOf?: () => string
  /** Whether its caller waits for the commit, and for the disk. */
  readonly commits?: boolean
  readonly user?: string | undefined
}

/**
 * Runs steps, all that wait at the moment as one transaction.
 *
 * **Details.** Once handed over a step runs, whether or not its caller still waits: callers that must know what came of
 * it wait uninterruptibly. Where the whole fails, each step is tried alone, so that none fails for another.
 * `user` is whose balance a step changes: two servers take several in the same order.
 */
export interface Turns {
  /** Committed, and on disk as the configuration says, when its caller hears of it. */
  readonly now: <A>(step: Step<A>, user?: string) => Committed<A>
  /**
   * It outlasts the process: noted down, and committed with what comes next, in some milliseconds at most. What a
   * killed process has only noted is made again by `restore`, as the next on the file does it.
   */
  readonly kept: <A>(step: Step<A>, noteOf: () => string, user?: string) => Committed<A>
  /** When its caller hears of it everybody sees it; it is committed with what comes next, in some milliseconds at most. */
  readonly seen: <A>(step: Step<A>, user?: string) => Committed<A>
  /** `seen` and `kept` without an effect, where the database is within this process; `soon` commits what is held. */
  readonly direct:
    | ({ readonly seen: Hand; readonly kept: Keep; readonly soon: () => void } & Pick<
        DirectSql,
        "version" | "isReady" | "noteHeld" | "holdBy" | "change"
      >)
    | undefined
}

type Hand = <A>(step: Step<A>, hear: Heard<A>) => void
type Keep = <A>(step: Step<A>, noteOf: () => string, hear: Heard<A>) => void

/** Makes again what was noted, as far as it is not there. */
export type Restore = (lines: ReadonlyArray<string>) => Asking<unknown>

const hand = <A>(offer: Hand, step: Step<A>): Committed<A> =>
  Effect.callback((resume) => offer<A>(step, resume))

/**
 * In SQLite: a transaction takes microseconds, on this thread.
 *
 * Of the steps of a turn of the event loop the first is taken at once, since a lone call would wait for the turn's end
 * as long as for its statements. The others are taken together there, since each by itself costs twice as much.
 */
const within = (direct: DirectSql, restore: Restore): Turns & { readonly flush: () => void } => {
  direct.restoreBy((lines, answer) => void answered(restore(lines), answer))
  const queue: Array<Waiting> = []
  let isDue = false
  let isLate = false

  /**
   * What has to outlast the process is noted, or committed where that cannot be. All of that before anybody hears: who
   * does may go on at once, and what comes of it belongs to another transaction.
   */
  const tell = (values: ReadonlyArray<unknown>, waiting: ReadonlyArray<Waiting>) => {
    const notes = waiting.flatMap(({ noteOf }) => noteOf?.() ?? [])
    const isNoted = notes.length === 0 || direct.note(notes)
    const failed = !isNoted || waiting.some(({ commits }) => commits) ? direct.commit() : undefined
    for (const [at, { commits, hear, noteOf }] of waiting.entries()) {
      const its = Exit.succeed(values[at])
      if (failed !== undefined) hear(isNoted && noteOf !== undefined ? its : Exit.fail(failed))
      else if (commits) direct.synced((error) => hear(error === undefined ? its : Exit.fail(error)))
      else hear(its)
    }
  }

  const together = (waiting: ReadonlyArray<Waiting>): void => {
    if (waiting.length === 0) return
    late()
    direct.change(
      (answer) => waiting.map(({ step }) => answered(step(), answer)),
      (result) => {
        if (Result.isSuccess(result)) tell(result.success, waiting)
        else if (waiting.length === 1) waiting[0]?.hear(Exit.fail(result.failure))
        else for (const one of waiting) together([one])
      }
    )
  }

  const turn = () => {
    isDue = false
    together(queue.splice(0, MOST))
    if (queue.length > 0) due()
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
      if (direct.commit() === undefined) direct.synced(() => {})
    }, Duration.toMillis(PATIENCE))
  }

  const take = (one: Waiting) => {
    if (isDue) return void queue.push(one)
    due()
    together([one])
  }
  const seen: Hand = (step, hear) => take({ step, hear: hear as Heard<unknown> })
  const kept: Keep = (step, noteOf, hear) => take({ step, hear: hear as Heard<unknown>, noteOf })
  const now: Hand = (step, hear) => {
    queue.push({ step, hear: hear as Heard<unknown>, commits: true })
    due()
  }
  return {
    now: (step) => hand(now, step),
    kept: (step, noteOf) => Effect.callback((resume) => kept(step, noteOf, resume)),
    seen: (step) => hand(seen, step),
    direct: { ...direct, seen, kept, soon: late },
    flush: () => {
      while (queue.length > 0) turn()
      direct.commit()
    }
  }
}

/** In a database elsewhere: a transaction is some trips to it. */
const over = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const queue = yield* Effect.acquireRelease(Queue.unbounded<Waiting>(), Queue.shutdown)

  /**
   * Of all steps the users, and before anything else: without one order, two servers wait for each other until PostgreSQL
   * sees it.
   */
  const lockUsers = (waiting: ReadonlyArray<Waiting>): Effect.Effect<unknown, SqlError.SqlError> => {
    const users = new Set(waiting.flatMap(({ user }) => user ?? []))
    return users.size === 0
      ? Effect.void
      : sql`SELECT 1 FROM users WHERE ${sql.in("id", [...users])} ORDER BY id FOR NO KEY UPDATE`
  }

  const together = (waiting: ReadonlyArray<Waiting>) =>
    guarded(
      Effect.andThen(
        lockUsers(waiting),
        Effect.forEach(waiting, ({ step }) => asked(sql, step))
      )
    ).pipe(
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

  const now = <A>(step: Step<A>, user?: string): Committed<A> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<A, SqlError.SqlError>()
      const hear: Heard<A> = (exit) => void Deferred.doneUnsafe(done, exit)
      Queue.offerUnsafe(queue, { step, hear: hear as Heard<unknown>, user })
      return Deferred.await(done)
    })
  return { now, kept: (step, _, user) => now(step, user), seen: now, direct: undefined } satisfies Turns
})

export const makeTurns: (restore: Restore) => Effect.Effect<Turns, never, SqlClient.SqlClient | Scope.Scope> =
  Effect.fnUntraced(function* (restore) {
    const sql = yield* SqlClient.SqlClient
    const direct = directOf(sql)
    if (direct === undefined) return yield* over(sql)
    const turns = within(direct, restore)
    yield* Effect.addFinalizer(() => Effect.sync(turns.flush))
    return turns
  })
