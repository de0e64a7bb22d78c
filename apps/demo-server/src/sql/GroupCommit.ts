/**
 * Group commit: steps that wait at the same time share one transaction, and one wait for the disk.
 *
 * A flush to disk costs a hundred times more than the steps of a commit (docs/decisions/0016).
 */
import { Context, Effect, Exit, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import type { SqlStep } from "./SqlStep.ts"

/** Steps of one transaction at most, so that later steps do not wait for all of them. */
const GROUP_SIZE = 64

/**
 * Turns of the event loop in which a group gathers, unless the last one had a single item. Three instead of one take 10 %
 * off the CPU of a request at 16 connections, and would add 40 µs to a lone one. A remote database takes longer than
 * that: the next group gathers meanwhile.
 */
const GATHER_TURNS = 3

/** Guarded changes that may run again after a rollback, and their result. */
export type Step<A> = () => SqlStep<A>

/** The same change for several items, with fewer statements than one after another. Results are in the items' order. */
type BatchStep<I, A> = (items: ReadonlyArray<I>) => SqlStep<ReadonlyArray<A>>

interface CommitOptions {
  /** The user whose balance the step changes: two servers lock several users in the same order. */
  readonly user?: string | undefined
  /** The step locks other rows before the user's: the user is locked first. */
  readonly locksOthers?: boolean
  /** False: the caller continues once the change is committed, before it is flushed to disk. Default true. */
  readonly durable?: boolean
}

/** What a database does with groups. */
export interface GroupDriver {
  /**
   * Runs all steps in one transaction: all of them are committed, or none. `lock`: the users to lock first. Returns the
   * steps' values.
   */
  readonly transact: <A>(
    steps: ReadonlyArray<Step<A>>,
    lock: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  /** Waits until everything that is committed is on disk. */
  readonly flush: Effect.Effect<void, SqlError.SqlError>
  readonly read: <A>(step: Step<A>) => Effect.Effect<A, SqlError.SqlError>
  /** Reading is a round trip: reads of the same moment share one. */
  readonly isRemote: boolean
}

/** An item that waits for its turn: a step is a batch of its own. */
interface Waiting extends CommitOptions {
  readonly batch: BatchStep<unknown, unknown>
  readonly item: unknown
  readonly resume: (exit: Exit.Exit<unknown, SqlError.SqlError>) => void
}

/** The users to lock first: all of several, and one if a step locks other rows before. */
const usersToLock = (group: ReadonlyArray<Waiting>): ReadonlyArray<string> => {
  const users = new Set(group.flatMap(({ user }) => user ?? []))
  return users.size > 1 || group.some(({ locksOthers }) => locksOthers) ? [...users] : []
}

/** The items of a group by their batches, so that each batch runs once. */
const byBatch = (group: ReadonlyArray<Waiting>): ReadonlyArray<ReadonlyArray<Waiting>> => [
  ...Map.groupBy(group, ({ batch }) => batch).values()
]

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
    /** Commits an item together with the items that wait for the same batch. */
    readonly commitItem: <I, A>(
      batch: BatchStep<I, A>,
      item: I,
      options?: CommitOptions
    ) => Effect.Effect<A, SqlError.SqlError>
    /** Reads an item, together with the items that are read at the same moment. Sees everything that is committed. */
    readonly readItem: <I, A>(batch: BatchStep<I, A>, item: I) => Effect.Effect<A, SqlError.SqlError>
  }
>()("@sluice/demo-server/GroupCommit") {}

/** Reads at once, or where that is a round trip, with the reads of the same turn. */
const makeReadItem = ({ isRemote, read }: GroupDriver): GroupCommit["Service"]["readItem"] => {
  const first = <I, A>(batch: BatchStep<I, A>, item: I) =>
    Effect.map(
      read(() => batch([item])),
      ([value]) => value as A
    )
  if (!isRemote) return first
  const queue: Array<Waiting> = []
  const drain = () => {
    for (const members of byBatch(queue.splice(0))) {
      const [{ batch }] = members as [Waiting]
      Effect.runFork(read(() => batch(members.map(({ item }) => item)))).addObserver((exit) => {
        for (const [at, { resume }] of members.entries()) resume(Exit.map(exit, (values) => values[at]))
      })
    }
  }
  return <I, A>(batch: BatchStep<I, A>, item: I) =>
    Effect.callback<A, SqlError.SqlError>((resume) => {
      if (queue.length === 0) setImmediate(drain)
      queue.push({ batch: batch as BatchStep<unknown, unknown>, item, resume: resume as Waiting["resume"] })
    })
}

export const makeGroupCommit = (
  driver: GroupDriver
): Effect.Effect<GroupCommit["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const { flush, isRemote, transact } = driver
    /** A remote database gets its next statements before the callers of the last ones go on. */
    const afterSending = (then: () => void) => (isRemote ? void setImmediate(then) : then())
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const queue: Array<Waiting> = []
    /** A drain is scheduled, or a group is running. */
    let busy = false
    const idle: Array<() => void> = []

    const run = (group: ReadonlyArray<Waiting>): Effect.Effect<void> => {
      const batches = byBatch(group)
      const inOrder = batches.flat()
      const steps = batches.map(
        (members): Step<ReadonlyArray<unknown>> =>
          () =>
            (members[0] as Waiting).batch(members.map(({ item }) => item))
      )
      const resume = (
        isDurable: boolean,
        values: ReadonlyArray<unknown>,
        failed?: Exit.Exit<unknown, SqlError.SqlError>
      ) => {
        for (const [at, one] of inOrder.entries()) {
          if ((one.durable ?? true) === isDurable) one.resume(failed ?? Exit.succeed(values[at]))
        }
      }
      /** The next group is committed while this one is flushed. */
      const committed = (values: ReadonlyArray<unknown>) => {
        resume(false, values)
        fork(flush).addObserver((flushed) =>
          resume(true, values, Exit.isFailure(flushed) ? flushed : undefined)
        )
      }
      return Effect.matchCauseEffect(transact(steps, usersToLock(group)), {
        onSuccess: (results) => Effect.sync(() => afterSending(() => committed(results.flat()))),
        onFailure: (cause) =>
          group.length === 1
            ? Effect.sync(() => group[0]?.resume(Exit.failCause(cause)))
            : Effect.forEach(group, (one) => run([one]), { discard: true })
      })
    }

    let gathered = 1
    const drain = () => {
      if (queue.length > 0) {
        const group = queue.splice(0, GROUP_SIZE)
        gathered = group.length
        return void fork(run(group)).addObserver(drain)
      }
      busy = false
      for (const resume of idle.splice(0)) resume()
    }
    const wait = (turns: number): void => void setImmediate(() => (turns > 1 ? wait(turns - 1) : drain()))
    const start = () => {
      if (busy) return
      busy = true
      wait(isRemote || gathered === 1 ? 1 : GATHER_TURNS)
    }
    yield* Effect.addFinalizer(() =>
      Effect.callback<void>((resume) => {
        idle.push(() => resume(Effect.void))
        start()
      })
    )
    const commitItem: GroupCommit["Service"]["commitItem"] = <I, A>(
      batch: BatchStep<I, A>,
      item: I,
      options: CommitOptions = {}
    ) =>
      Effect.callback<A, SqlError.SqlError>((resume) => {
        queue.push({
          batch: batch as BatchStep<unknown, unknown>,
          item,
          ...options,
          resume: resume as Waiting["resume"]
        })
        start()
      })
    return {
      readItem: makeReadItem(driver),
      commitItem,
      commit: <A>(step: Step<A>, options?: CommitOptions) =>
        commitItem(
          function* () {
            return [yield* step()]
          },
          undefined,
          options
        )
    }
  })
