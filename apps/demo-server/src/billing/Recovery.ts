/** Ends open charges that no server will end: of a killed server's calls, and of tasks whose status nobody requests. */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import { taskIdOf } from "../media/TaskIds.ts"
import type { TaskOperation } from "../routing/Provider.ts"
import { Providers } from "../routing/Providers.ts"
import { KEY_LIFE } from "./Idempotency.ts"
import { Ledger, type OpenCharge } from "./Ledger.ts"
import { Prices } from "./Prices.ts"
import { taskSettlement } from "./CostEstimate.ts"
import { warnOfSqlError } from "../sql/StoreFailure.ts"
import { taskOutcome } from "../routing/ResponseBody.ts"

const RECOVERY_INTERVAL = Duration.seconds(30)

/** A task whose outcome is still unknown after this time is refunded. */
const OUTCOME_UNKNOWN = Duration.hours(24)

/** How long a server that has lost its database continues its calls and retries its writes. */
const DATABASE_RETRY = Duration.minutes(10)

/** Every lease ends before this time. */
const ALL = Number.MAX_SAFE_INTEGER

/** Concurrent status requests at most. */
const CONCURRENCY = 4

/** Ends expired charges until no more can be ended. Returns their number. */
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

/** Recovers the charges of tasks, by the status that their provider reports. */
const makeTaskRecovery = Effect.gen(function* () {
  const ledger = yield* Ledger
  const tasks = yield* MediaTasks
  const providers = yield* Providers
  const prices = yield* Prices

  /** The task's response from its provider; undefined if it is not available. */
  const responseOf = Effect.fnUntraced(function* (task: MediaTask) {
    const { id, kind, model, provider } = task
    if (taskOutcome(task) !== undefined) return task
    const operations = providers.find((one) => one.id === provider)?.tasks
    const getStatus: TaskOperation<unknown> | undefined = operations?.[kind]
    if (getStatus === undefined) return undefined
    return yield* getStatus({ task, origin: "" }).pipe(
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
    const response = task && (yield* responseOf(task))
    const outcome = taskOutcome(response)
    if (outcome === true) return yield* ledger.settle(charge, taskSettlement(prices, charge, response))
    if (outcome === false) return yield* ledger.refund(charge)
    if (now - charge.createdAt < Duration.toMillis(OUTCOME_UNKNOWN)) {
      yield* ledger.renew([charge.id])
      return false
    }
    yield* Effect.logWarning(
      `The outcome of a task of ${charge.model} is unknown after ${Duration.format(OUTCOME_UNKNOWN)}. Its ${charge.reserved} units are refunded to ${charge.user}`
    )
    return yield* ledger.refund(charge)
  })
})

/**
 * Recovers the charges of creations. If the vendor's task was recorded, the charge gets it, and a caller who repeats the
 * call under its `Idempotency-Key` gets its id.
 */
const makeCreationRecovery = Effect.gen(function* () {
  const ledger = yield* Ledger
  const tasks = yield* MediaTasks
  return Effect.fnUntraced(function* (charge: OpenCharge) {
    const kind = charge.operation === "videos" ? "video" : "image"
    const task = yield* tasks
      .find(kind, taskIdOf(kind, charge.id), charge.user)
      .pipe(
        Effect.catch(({ reason }) =>
          Effect.succeed(reason._tag === "NotFound" ? ("none" as const) : ("unavailable" as const))
        )
      )
    if (task === "unavailable") return false
    if (task === "none") return yield* ledger.refundExpired(charge, true)
    const { id, model, status } = task
    const answer = JSON.stringify({ id, object: kind === "video" ? kind : "image.task", model, status })
    yield* ledger.storeResponse(charge, { contentType: "application/json", answer })
    yield* ledger.assign(charge.id, id, charge.reserved)
    return true
  })
})

const makeRecovery = Effect.gen(function* () {
  const ledger = yield* Ledger
  const { database } = yield* ServerConfig
  const recoverTask = yield* makeTaskRecovery
  const recoverCreation = yield* makeCreationRecovery

  /** Recovers calls without a task. They ended with the server that made them. */
  const recoverCalls = (before: number) =>
    logged(
      Effect.gen(function* () {
        // After a sleep or a change of the clock, leases of running calls may have expired.
        yield* ledger.renew([...ledger.running])
        const cut = before - Duration.toMillis(DATABASE_RETRY)
        const calls = yield* endAll(ledger.expired(before, "calls"), (charge) =>
          ledger.refundExpired(charge, false)
        )
        const creations = yield* endAll(ledger.expired(cut, "creations"), recoverCreation)
        return calls + creations
      })
    )
  const recoverTasks = (before: number) => logged(endAll(ledger.expired(before, "tasks"), recoverTask))

  const repeated = (round: (now: number) => Effect.Effect<unknown, SqlError.SqlError>) =>
    Effect.flatMap(ledger.clock, round).pipe(
      warnOfSqlError("Expired charges and responses could not be read"),
      Effect.repeat(Schedule.spaced(RECOVERY_INTERVAL))
    )

  // Only one server uses a SQLite file at a time, so all leases in it are of servers that have ended.
  if (database === undefined) yield* recoverCalls(ALL)
  const calls = repeated((now) =>
    Effect.andThen(recoverCalls(now), ledger.deleteResponses(now - Duration.toMillis(KEY_LIFE)))
  )
  // In the background: the start does not wait for providers.
  const leftover = database === undefined ? recoverTasks(ALL) : Effect.void
  yield* Effect.forkScoped(calls)
  yield* Effect.forkScoped(Effect.andThen(leftover, repeated(recoverTasks)))
  /** Ends charges whose lease ended before a time. Returns their number. */
  const recover = (before: number) =>
    Effect.map(Effect.all([recoverCalls(before), recoverTasks(before)]), ([calls, tasks]) => calls + tasks)
  return { recover }
})

/** Ends charges whose lease has expired, at the start and every 30 seconds. */
export class Recovery extends Context.Service<Recovery>()("@sluice/demo-server/Recovery", {
  make: makeRecovery
}) {
  static readonly layer = Layer.effect(Recovery, Recovery.make)
}
