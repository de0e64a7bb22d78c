/** Waits for a task at the gateway, an image's or a video's: asks for its state until it has ended. */
import { Cause, Clock, Duration, Effect, Exit, Pull, Schedule, Stream } from "effect"
import { GatewayError, TaskFailed, TimedOut } from "../../contract/GatewayError.ts"
import type { About, Caller } from "../call/Call.ts"
import { parseErrorField, parseErrorBody } from "../transport/ErrorDetails.ts"

/**
 * What every task says of itself; `completed` and `failed` end it, every other status is waited for.
 *
 * One that has no status and an error has failed.
 */
export interface TaskState {
  readonly status?: string | undefined
  readonly error?: unknown
}

/** How a task is waited for. */
export interface TaskPatience {
  /** The wait before each further look, as a duration or as a schedule. One that ends before the task is a time-out. */
  readonly every: Duration.Input | Schedule.Schedule<unknown>
  /** From the first look at the task to its end, where no other beginning is given. */
  readonly deadline: Duration.Input
}

export interface TaskPoll<T extends TaskState> extends TaskPatience {
  readonly about: About
  /** The task's identifier at the gateway. */
  readonly id: string
  /** What its creation answered, when that is known: given out first, without a request. */
  readonly first?: T
  /** When the deadline began to run, in ms since 1970; with the first look when not given. */
  readonly begun?: number
  /** One look, with the retries that a read has. */
  readonly get: Effect.Effect<T, GatewayError>
  /** Whether it is done; `status` is `completed` when not given. `failed` is looked at first. */
  readonly isDone?: (state: T) => boolean
  readonly fail: Caller["fail"]
}

const isCompleted = ({ status }: TaskState): boolean => status === "completed"

const isRefused = ({ error, status }: TaskState): boolean =>
  status === undefined && parseErrorField(error) !== undefined

/** Why a task failed; without an id where it failed before it had one. */
export const taskFailed = (error: unknown, task = ""): TaskFailed => {
  const { code, message = "the gateway did not say why." } = parseErrorBody({ error }) ?? {}
  const said = `The task failed: ${message}${code === undefined ? "" : ` (${code})`}`
  return new TaskFailed({ message: said, task, error })
}

/**
 * Each state of a task as it is seen, the last one that in which it ended.
 *
 * **Details.** A task that failed is given out as it came; then the stream fails with `TaskFailed`. A look that fails,
 * retries and all, fails the stream, and so does the deadline: the error names the task, which goes on at the gateway,
 * and says whether this call `made` it.
 *
 * **Gotchas.** Whoever interrupts the stream leaves the task where it is; its id is logged as a warning.
 */
export const pollTask = <T extends TaskState>(task: TaskPoll<T>): Stream.Stream<T, GatewayError> => {
  const { about, first, get, id, isDone = isCompleted } = task
  const deadline = Duration.fromInputUnsafe(task.deadline)
  const every = Schedule.isSchedule(task.every) ? task.every : Schedule.spaced(task.every)
  const named = (error: GatewayError) =>
    new GatewayError({ ...error, task: id, ...(first !== undefined && { taskCreated: true }) })
  const late = (why: string) => {
    const message = `The task has not ended ${why}. It goes on at the gateway: resume it by its id, ${id}.`
    const reason = new TimedOut({ message, scope: "call", after: deadline })
    return Effect.fail(named(task.fail(about, { reason, requestId: undefined })))
  }
  const failed = ({ error }: T) =>
    Effect.fail(named(task.fail(about, { reason: taskFailed(error, id), requestId: undefined })))
  const look = Effect.mapError(get, named)

  const begun = Effect.all([Schedule.toStep(every), Clock.currentTimeMillis])
  const states = Effect.map(begun, ([step, start]) => {
    const end = (task.begun ?? start) + Duration.toMillis(deadline)
    let last: T | undefined
    const next = Effect.gen(function* () {
      if (last === undefined) return first ?? (yield* look)
      const now = yield* Clock.currentTimeMillis
      const [, wait] = yield* Pull.catchDone(step(now, last), () => late("when its schedule did"))
      yield* Effect.sleep(wait)
      return yield* look
    })
    return Effect.gen(function* () {
      if (last?.status === "failed") return yield* failed(last)
      if (last !== undefined && isDone(last)) return yield* Cause.done()
      if (last !== undefined && isRefused(last)) return yield* failed(last)
      const left = Math.max(0, end - (yield* Clock.currentTimeMillis))
      const orElse = () => late(`within ${Duration.format(deadline)}`)
      last = yield* Effect.timeoutOrElse(next, { duration: left, orElse })
      return [last] as const
    })
  })
  return Stream.fromPull(states).pipe(
    Stream.onExit((exit) =>
      Exit.hasInterrupts(exit)
        ? Effect.logWarning(`Interrupted; the task goes on at the gateway: resume it by its id, ${id}.`).pipe(
            Effect.annotateLogs({ operation: about.operation, task: id })
          )
        : Effect.void
    )
  )
}
