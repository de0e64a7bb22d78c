/** Charges of which nothing is heard any more: what became of their calls, and who pays. */
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

/** A task of which nobody can say what became of it is given back after so long. Never is it asked for again. */
const IN_DOUBT = Duration.hours(24)

/** A server that lost its database keeps its calls and tries as long to write down what they came to. */
const CUT_OFF = Duration.minutes(10)

/** Before this time every lease ends. */
const ALL = Number.MAX_SAFE_INTEGER

/** Tasks elsewhere that are asked after at once. */
const ASKED_AT_ONCE = 4

/** Ends charges whose lease has expired. */
export class Recovery extends Context.Service<
  Recovery,
  {
    /** Once, for leases that ended before this time; how many charges it ended. */
    readonly recover: (before: number) => Effect.Effect<number>
  }
>()("@sluice/demo-server/Recovery") {
  /** Recovers at the start, and every half minute. */
  static readonly layer = Layer.effect(
    Recovery,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const tasks = yield* MediaTasks
      const providers = yield* Providers
      const prices = yield* Prices
      const { database } = yield* ServerConfig

      /** How far the task is, as its maker answers; undefined while that is not known. */
      const answerOf = Effect.fnUntraced(function* (task: MediaTask) {
        const { id, kind, model, provider } = task
        if (taskOutcome(task) !== undefined) return task
        const operations = providers.find((one) => one.id === provider)?.tasks
        const look: TaskOperation<unknown> | undefined =
          kind === "image" ? operations?.image : operations?.video
        if (look === undefined) return undefined
        return yield* look({ task, origin: "" }).pipe(
          Effect.tapError(({ message }) =>
            Effect.logDebug(`The ${kind} task ${id} of ${model} was asked after: ${message}`)
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

      const recoverTask = Effect.fnUntraced(function* (charge: OpenCharge) {
        const now = yield* Clock.currentTimeMillis
        const task = yield* taskOf(charge)
        const answer = task && (yield* answerOf(task))
        const done = taskOutcome(answer)
        if (done === true) return yield* ledger.settle(charge, taskSettlement(prices, charge, answer))
        if (done === false) return yield* ledger.refund(charge)
        if (now - charge.createdAt < Duration.toMillis(IN_DOUBT)) {
          yield* ledger.renew([charge.id])
          return false
        }
        yield* Effect.logWarning(
          `What became of ${charge.operation} of ${charge.model} is not known after ${Duration.format(IN_DOUBT)}: its ${charge.reserved} units are given back to ${charge.user}`
        )
        return yield* ledger.refund(charge)
      })

      /** Until none is left that ends. */
      const ending = <E>(
        expired: Effect.Effect<ReadonlyArray<OpenCharge>, E>,
        end: (charge: OpenCharge) => Effect.Effect<boolean, E>
      ): Effect.Effect<number, E> =>
        Effect.gen(function* () {
          const ended = yield* Effect.forEach(yield* expired, end, { concurrency: ASKED_AT_ONCE })
          const number = ended.filter(Boolean).length
          return number === 0 ? 0 : number + (yield* ending(expired, end))
        })

      const told = (recover: Effect.Effect<number, SqlError.SqlError>) =>
        Effect.catchTag(recover, "SqlError", (error) =>
          Effect.as(Effect.logError(`Charges could not be recovered: ${error.message}`), 0)
        )

      /** Without a task there is nobody to ask: the call has ended with the server that made it. */
      const recoverCalls = (before: number) =>
        Effect.gen(function* () {
          // A machine that slept, or a clock that was put forward, ends leases of calls that go on.
          yield* ledger.renew([...ledger.underWay])
          const cut = before - Duration.toMillis(CUT_OFF)
          const calls = yield* ending(ledger.expired(before, "calls"), (charge) =>
            ledger.giveUp(charge, false)
          )
          return (
            calls + (yield* ending(ledger.expired(cut, "creations"), (charge) => ledger.giveUp(charge, true)))
          )
        }).pipe(told)

      const recoverTasks = (before: number) => told(ending(ledger.expired(before, "tasks"), recoverTask))

      const rounds = (round: (now: number) => Effect.Effect<unknown, SqlError.SqlError>) =>
        Effect.flatMap(ledger.clock, round).pipe(
          Effect.catchTag("SqlError", (error) =>
            Effect.logWarning(`Old charges and answers could not be looked after: ${error.message}`)
          ),
          Effect.repeat(Schedule.spaced(EVERY))
        )

      // A file is open to one server at a time: whoever had a lease in it has ended, and this one has none yet.
      if (database === undefined) yield* recoverCalls(ALL)
      const ofCalls = rounds((now) =>
        Effect.andThen(recoverCalls(now), ledger.forgetAnswers(now - Duration.toMillis(REMEMBERED)))
      )
      // Nobody waits for those who make the tasks: neither the start, nor what needs no asking.
      const left = database === undefined ? recoverTasks(ALL) : Effect.void
      yield* Effect.forkScoped(ofCalls)
      yield* Effect.forkScoped(Effect.andThen(left, rounds(recoverTasks)))
      const recover = (before: number) =>
        Effect.map(
          Effect.all([recoverCalls(before), recoverTasks(before)]),
          ([calls, tasks]) => calls + tasks
        )
      return { recover }
    })
  )
}
