/**
 * Group commit: steps that wait at the same time share one transaction, and one wait for the disk.
 *
 * A commit costs as much as what is in it, and a flush a hundred times more (docs/decisions/0016).
 */
import { Context, Effect, Exit, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import type { SqlStep } from "./SqlStep.ts"

/** Steps of one transaction at most, so that later steps do not wait for all of them. */
const GROUP_SIZE = 64

/** Guarded changes that may run again after a rollback, and their result. */
export type Step<A> = () => SqlStep<A>

export interface CommitOptions {
  /** The user whose balance the step changes: two servers lock several users in the same order. */
  readonly user?: string | undefined
  /** False: the caller goes on once the change is committed, before it is on disk. True when not given. */
  readonly durable?: boolean
}

/** A step that waits for its turn. */
export interface Queued extends CommitOptions {
  readonly step: Step<unknown>
}

/** How a database runs a group. */
export interface GroupDriver {
  /** Runs all steps in one transaction, in order: all of them are committed, or none. */
  readonly transact: (
    group: ReadonlyArray<Queued>
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
  /** Waits until everything that is committed is on disk. */
  readonly flush: Effect.Effect<void, SqlError.SqlError>
  readonly read: <A>(step: Step<A>) => Effect.Effect<A, SqlError.SqlError>
}

interface Waiting extends Queued {
  readonly resume: (exit: Exit.Exit<unknown, SqlError.SqlError>) => void
}

/**
 * Runs small transactions, those of the same moment together.
 *
 * **Details.** A step runs once it is handed over, even if its caller is interrupted: callers that must know the result
 * wait uninterruptibly. When a group fails, each of its steps is tried alone, so that none fails because of another.
 */
export class GroupCommit extends Context.Service<
  GroupCommit,
  {
    readonly commit: <A>(step: Step<A>, options?: CommitOptions) => Effect.Effect<A, SqlError.SqlError>
    /** Runs a step that changes nothing. It sees everything that is committed, and needs no transaction. */
    readonly read: <A>(step: Step<A>) => Effect.Effect<A, SqlError.SqlError>
  }
>()("@sluice/demo-server/GroupCommit") {}

export const makeGroupCommit = ({
  flush,
  read,
  transact
}: GroupDriver): Effect.Effect<GroupCommit["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const queue: Array<Waiting> = []
    /** A drain is scheduled, or a group is running. */
    let busy = false
    const idle: Array<() => void> = []

    const answer = (group: ReadonlyArray<Waiting>, values: ReadonlyArray<unknown>) => {
      const late: Array<() => void> = []
      let failure: Exit.Exit<void, SqlError.SqlError> | undefined
      for (const [at, { durable, resume }] of group.entries()) {
        const exit = Exit.succeed(values[at])
        if (durable === false) resume(exit)
        else late.push(() => resume(failure ?? exit))
      }
      if (late.length === 0) return Effect.void
      const flushed = Effect.map(Effect.exit(flush), (exit) => {
        if (Exit.isFailure(exit)) failure = exit
        for (const resume of late) resume()
      })
      // The next group is committed meanwhile.
      return Effect.sync(() => void fork(flushed))
    }

    const run = (group: ReadonlyArray<Waiting>): Effect.Effect<void> =>
      Effect.matchCauseEffect(transact(group), {
        onSuccess: (values) => answer(group, values),
        onFailure: (cause) =>
          group.length === 1
            ? Effect.sync(() => group[0]?.resume(Exit.failCause(cause)))
            : Effect.forEach(group, (one) => run([one]), { discard: true })
      })

    const drain = () => {
      if (queue.length > 0) return void fork(run(queue.splice(0, GROUP_SIZE))).addObserver(drain)
      busy = false
      for (const resume of idle.splice(0)) resume()
    }
    const start = () => {
      if (busy) return
      busy = true
      // What arrives in this turn of the event loop is one group.
      setImmediate(drain)
    }
    yield* Effect.addFinalizer(() =>
      Effect.callback<void>((resume) => {
        idle.push(() => resume(Effect.void))
        start()
      })
    )
    return {
      read,
      commit: <A>(step: Step<A>, options: CommitOptions = {}) =>
        Effect.callback<A, SqlError.SqlError>((resume) => {
          queue.push({ step, ...options, resume: resume as Waiting["resume"] })
          start()
        })
    }
  })
