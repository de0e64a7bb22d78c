/** Recovers charges whose calls ended without settling them: of a killed server, or of tasks that nobody asked for. */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import type { TaskOperation } from "../routing/Provider.ts"
import { Providers } from "../routing/Providers.ts"
import { REMEMBERED } from "./Idempotency.ts"
import { Ledger, type OpenCharge } from "./Ledger.ts"
import { Prices } from "./Prices.ts"
import { taskSettlement } from "./CostEstimate.ts"
import { taskOutcome } from "../routing/ResponseBody.ts"

const EVERY = Duration.seconds(30)

/** A task whose outcome is still unknown after this time is refunded. It is never started again. */
const OUTCOME_UNKNOWN = Duration.hours(24)

/** A server that lost its database keeps its calls, and retries its writes for as long. */
const CUT_OFF = Duration.minutes(10)

/** Every lease ends before this time. */
const ALL = Number.MAX_SAFE_INTEGER

/** Tasks whose status is requested at once. */
const CONCURRENCY = 4

/** Ends expired charges until none is left that ends, and gives their number. */
const endAll = <E>(
  expired: Effect.Effect<ReadonlyArray<OpenCharge>, E>,
  end: (charge: OpenCharge) => Effect.Effect<boolean, E>
): Effect.Effect<number, E> =>
  Effect.gen(function* () {
    const ended = yield* Effect.forEach(yield* expired, end, { concurrency: CONCURRENCY })
    const number = ended.filter(Boolean).length
    return number === 0 ? 0 : number + (yield* endAll(expired, end))
  })

const logged = (recover: Effect.Effect<number, SqlError.SqlError>) =>
  Effect.catchTag(recover, "SqlError", (error) =>
    Effect.as(Effect.logError(`Charges could not be recovered: ${error.message}`), 0)
  )

/** Recovers the charges of tasks, by the status that their provider tells. */
const makeTaskRecovery = Effect.gen(function* () {
  const ledger = yield* Ledger
  const tasks = yield* MediaTasks
  const providers = yield* Providers
  const prices = yield* Prices

  /** What the provider answers of a task; undefined while that is not known. */
  const answerOf = Effect.fnUntraced(function* (task: MediaTask) {
    const { id, kind, model, provider } = task
    if (taskOutcome(task) !== undefined) return task
    const operations = providers.find((one) => one.id === provider)?.tasks
    const look: TaskOperation<unknown> | undefined = kind === "image" ? operations?.image : operations?.video
    if (look === undefined) return undefined
    return yield* look({ task, origin: "" }).pipe(
      Effect.tapError(({ message }) =>
        Effect.logDebug(`The status of the ${kind} task ${id} of ${model} could not be read: ${message}`)
      ),
      Effect.orElseSucceed(() => undefined)
    )
  })

  const taskOf = ({ operation, task, user }: OpenCharge) =>
    task === undefined
      ? Effect.succeed(undefined)
      : Effect.orElseSucceed(
          tasks.find(operation === "videos" ? "video" : "image", task, user),
          () => undefined
        )

  return Effect.fnUntraced(function* (charge: OpenCharge) {
    const now = yield* Clock.currentTimeMillis
    const task = yield* taskOf(charge)
    const answer = task && (yield* answerOf(task))
    const outcome = taskOutcome(answer)
    if (outcome === true) return yield* ledger.settle(charge, taskSettlement(prices, charge, answer))
    if (outcome === false) return yield* ledger.refund(charge)
    if (now - charge.createdAt < Duration.toMillis(OUTCOME_UNKNOWN)) {
      yield* ledger.renew([charge.id])
      return false
    }
    yield* Effect.logWarning(
      `The outcome of ${charge.operation} of ${charge.model} is not known after ${Duration.format(OUTCOME_UNKNOWN)}: its ${charge.reserved} units are refunded to ${charge.user}`
    )
    return yield* ledger.refund(charge)
  })
})

const makeRecovery = Effect.gen(function* () {
  const ledger = yield* Ledger
  const { database } = yield* ServerConfig
  const recoverTask = yield* makeTaskRecovery

  /** A call without a task has ended with the server that made it. */
  const recoverCalls = (before: number) =>
    logged(
      Effect.gen(function* () {
        // A machine that slept, or a clock that was put forward, ends leases of running calls.
        yield* ledger.renew([...ledger.running])
        const cut = before - Duration.toMillis(CUT_OFF)
        const calls = yield* endAll(ledger.expired(before, "calls"), (charge) =>
          ledger.refundExpired(charge, false)
        )
        const creations = yield* endAll(ledger.expired(cut, "creations"), (charge) =>
          ledger.refundExpired(charge, true)
        )
        return calls + creations
      })
    )
  const recoverTasks = (before: number) => logged(endAll(ledger.expired(before, "tasks"), recoverTask))

  const repeated = (round: (now: number) => Effect.Effect<unknown, SqlError.SqlError>) =>
    Effect.flatMap(ledger.clock, round).pipe(
      Effect.catchTag("SqlError", (error) =>
        Effect.logWarning(`Expired charges and responses could not be read: ${error.message}`)
      ),
      Effect.repeat(Schedule.spaced(EVERY))
    )

  // A file belongs to one server at a time: every lease in it is of a server that has ended.
  if (database === undefined) yield* recoverCalls(ALL)
  const calls = repeated((now) =>
    Effect.andThen(recoverCalls(now), ledger.forgetAnswers(now - Duration.toMillis(REMEMBERED)))
  )
  // The start does not wait for providers.
  const left = database === undefined ? recoverTasks(ALL) : Effect.void
  yield* Effect.forkScoped(calls)
  yield* Effect.forkScoped(Effect.andThen(left, repeated(recoverTasks)))
  const recover = (before: number) =>
    Effect.map(Effect.all([recoverCalls(before), recoverTasks(before)]), ([calls, tasks]) => calls + tasks)
  return { recover }
})

/** Ends charges whose lease has expired: at the start, and every half minute. */
export class Recovery extends Context.Service<
  Recovery,
  {
    /** Runs once for leases that ended before a time, and gives how many charges it ended. */
    readonly recover: (before: number) => Effect.Effect<number>
  }
>()("@sluice/demo-server/Recovery") {
  static readonly layer = Layer.effect(Recovery, makeRecovery)
}
