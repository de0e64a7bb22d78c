/** Waits for an image or video task: polls its state until it has ended. */
import { Cause, Clock, Duration, Effect, Exit, Option, Predicate, Pull, Schedule, Stream } from "effect"
import { GatewayError, TaskFailed, TimedOut } from "../../contract/GatewayError.ts"
import type { ImageWaitOptions } from "../../gateway/Images.ts"
import type { Caller } from "../call/Caller.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import { parseErrorBody, parseErrorField } from "../transport/ErrorDetails.ts"

/**
 * The fields that all tasks share. `completed` and `failed` are final; any other status is polled further.
 *
 * A task with an error object, or with an error and without a status, has failed.
 */
export interface TaskState {
  readonly status?: string | undefined
  readonly error?: unknown
}

/** How to wait for a task. */
export type PollOptions = {
  readonly [Option in keyof ImageWaitOptions]-?: Exclude<ImageWaitOptions[Option], undefined>
}

/** The wait of a call. An undefined option is the default. */
export const waitOptions = (
  { deadline, every }: ImageWaitOptions = {},
  defaults: PollOptions
): PollOptions => ({ every: every ?? defaults.every, deadline: deadline ?? defaults.deadline })

/** A task to wait for. */
export interface StartedTask<T> {
  readonly info: CallInfo
  /** The id that the gateway gave the task. */
  readonly id: string
  /** The response to the creation, if known: emitted first, without a request. */
  readonly first?: T
  /** When the deadline started, in ms since 1970. Default: with the first poll. */
  readonly begun?: number
}

export interface TaskPoll<T extends TaskState> extends PollOptions, StartedTask<T> {
  /** One poll, with its retries. */
  readonly get: Effect.Effect<T, GatewayError>
  /** Default: `status` is `completed`. `failed` is checked first. */
  readonly isDone?: (state: T) => boolean
  /** Run after an interruption. Default: a warning in the log, which has the id. */
  readonly onInterrupt?: Effect.Effect<void> | undefined
  readonly fail: Caller["fail"]
}

/** Adds the task's id to an error. */
export const withTask = (task: string) => (error: GatewayError) => new GatewayError({ ...error, task })

/** The error of a failed task; `task` is empty if it failed before it had an id. */
export const taskFailed = (error: unknown, task = ""): TaskFailed => {
  const { code, message = "the gateway did not say why." } = parseErrorBody({ error }) ?? {}
  const text = `The task failed: ${message}${code === undefined ? "" : ` (${code})`}`
  return new TaskFailed({ message: text, task, error })
}

/** The response to a creation, and when it began. Fails with `TimedOut` at the deadline. */
export const createWithin = <T>(
  deadline: Duration.Input,
  create: Effect.Effect<T, GatewayError>,
  info: CallInfo,
  fail: Caller["fail"]
): Effect.Effect<{ readonly first: T; readonly begun: number }, GatewayError> =>
  Effect.gen(function* () {
    const after = Duration.fromInputUnsafe(deadline)
    const begun = yield* Clock.currentTimeMillis
    const orElse = () => {
      const message = `No response within ${Duration.format(after)}.`
      const reason = new TimedOut({ message, scope: "call", after })
      return Effect.fail(fail({ ...info, repeat: "creations" }, { reason }))
    }
    return { first: yield* Effect.timeoutOrElse(create, { duration: after, orElse }), begun }
  })

/** How a task has ended; undefined while it runs. A text beside a state may be a warning. */
export const taskEnd = ({ error, status }: TaskState): "completed" | "failed" | undefined => {
  if (status === "completed" || status === "failed") return status
  const isRefused =
    (status === undefined || Predicate.isObject(error)) && parseErrorField(error) !== undefined
  return isRefused ? "failed" : undefined
}

/**
 * Each state of a task; the last one is final.
 *
 * **Details.** A failed task is emitted, then the stream fails with `TaskFailed`. A failed poll and the deadline fail the
 * stream too: the task goes on at the gateway, and the error has its id. With `first` the error has `taskCreated`.
 *
 * **Gotchas.** After an interruption the task goes on as well, unless `onInterrupt` removes it.
 */
export const pollTask = <T extends TaskState>(task: TaskPoll<T>): Stream.Stream<T, GatewayError> => {
  const { first, get, id, info, isDone = (state: T) => taskEnd(state) === "completed" } = task
  const deadline = Duration.fromInputUnsafe(task.deadline)
  const every = Schedule.isSchedule(task.every) ? task.every : Schedule.spaced(task.every)
  const annotate = (error: GatewayError) =>
    new GatewayError({ ...error, task: id, ...(first !== undefined && { taskCreated: true }) })
  const fail = (reason: TaskFailed | TimedOut) => Effect.fail(annotate(task.fail(info, { reason })))
  const timedOut = (why: string) => {
    const message = `The task has not ended ${why}. It goes on at the gateway: resume it by its id, ${id}.`
    return fail(new TimedOut({ message, scope: "call", after: deadline }))
  }
  const poll = Effect.mapError(get, annotate)

  const begin = Effect.all([Schedule.toStep(every), Clock.currentTimeMillis])
  const states = Effect.map(begin, ([step, start]) => {
    const end = (task.begun ?? start) + Duration.toMillis(deadline)
    let last: T | undefined
    const next = Effect.gen(function* () {
      if (last === undefined) return first ?? (yield* poll)
      const now = yield* Clock.currentTimeMillis
      const [, delay] = yield* Pull.catchDone(step(now, last), () => timedOut("when its schedule did"))
      yield* Effect.sleep(delay)
      return yield* poll
    })
    return Effect.gen(function* () {
      if (last?.status === "failed") return yield* fail(taskFailed(last.error, id))
      if (last !== undefined && isDone(last)) return yield* Cause.done()
      if (last !== undefined && taskEnd(last) === "failed") return yield* fail(taskFailed(last.error, id))
      const remaining = Math.max(0, end - (yield* Clock.currentTimeMillis))
      const orElse = () => timedOut(`within ${Duration.format(deadline)}`)
      last = yield* Effect.timeoutOrElse(next, { duration: remaining, orElse })
      return [last] as const
    })
  })
  const { onInterrupt = warnTaskContinues(info.operation, id, "Interrupted") } = task
  return Stream.onExit(Stream.fromPull(states), (exit) =>
    Exit.hasInterrupts(exit) ? onInterrupt : Effect.void
  )
}

/** Logs that a task goes on. */
export const warnTaskContinues = (operation: string, task: string, why: string): Effect.Effect<void> =>
  Effect.annotateLogs(
    Effect.logWarning(`${why}; the task goes on at the gateway: resume it by its id, ${task}.`),
    { operation, task }
  )

/** The last state of a task. Its stream has a state, or fails. */
export const lastState = <T>(states: Stream.Stream<T, GatewayError>): Effect.Effect<T, GatewayError> =>
  Effect.map(Stream.runLast(states), Option.getOrThrow)
