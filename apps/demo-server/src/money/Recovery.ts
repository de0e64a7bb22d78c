/** Charges of which nothing is heard any more: what became of their calls, and who pays. */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { ServerConfig } from "../Config.ts"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import type { TaskOperation } from "../providers/Provider.ts"
import { Providers } from "../providers/Providers.ts"
import { REMEMBERED } from "./Idempotency.ts"
import { Ledger, type OpenCharge } from "./Ledger.ts"
import { Prices } from "./Prices.ts"
import { settlementOfTask } from "./Quote.ts"
import { hasMade } from "./Reported.ts"

const EVERY = Duration.seconds(30)

/** A task of which nobody can say what became of it is given back after so long. Never is it asked for again. */
const IN_DOUBT = Duration.hours(24)

/** A server that lost its database keeps its calls and tries as long to write down what they came to. */
const CUT_OFF = Duration.minutes(10)

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
        if (hasMade(task) !== undefined) return task
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

      const recoverOne = Effect.fnUntraced(function* (charge: OpenCharge, isOver: boolean) {
        const now = yield* Clock.currentTimeMillis
        if (!charge.sent) return yield* ledger.giveUp(charge, false)
        // Without a task there is nobody to ask: the call has ended with the server that made it.
        if (charge.task === undefined) return isOver ? yield* ledger.giveUp(charge, true) : false
        const task = yield* taskOf(charge)
        const answer = task && (yield* answerOf(task))
        const done = hasMade(answer)
        if (done === true) return yield* ledger.settle(charge, settlementOfTask(prices, charge, answer))
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

      const recover = (before: number): Effect.Effect<number> =>
        Effect.gen(function* () {
          // A machine that slept, or a clock that was put forward, ends leases of calls that go on.
          yield* ledger.renew([...ledger.underWay])
          const expired = yield* ledger.expired(before)
          const over = new Set(
            (yield* ledger.expired(before - Duration.toMillis(CUT_OFF))).map(({ id }) => id)
          )
          const ended = yield* Effect.forEach(expired, (charge) => recoverOne(charge, over.has(charge.id)), {
            concurrency: ASKED_AT_ONCE
          })
          const number = ended.filter(Boolean).length
          return number === 0 ? 0 : number + (yield* recover(before))
        }).pipe(
          Effect.catchTag("SqlError", (error) =>
            Effect.as(Effect.logError(`Charges could not be recovered: ${error.message}`), 0)
          )
        )

      const round = Effect.gen(function* () {
        const now = yield* ledger.clock
        yield* recover(now)
        yield* ledger.forgetAnswers(now - Duration.toMillis(REMEMBERED))
      }).pipe(
        Effect.catchTag("SqlError", (error) =>
          Effect.logWarning(`Old charges and answers could not be looked after: ${error.message}`)
        )
      )

      // A file is open to one server at a time: whoever had a lease in it has ended, and this one has none yet.
      if (database === undefined) yield* recover(Number.MAX_SAFE_INTEGER)
      yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced(EVERY)))
      return { recover }
    })
  )
}
