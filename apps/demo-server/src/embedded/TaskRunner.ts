/** Runs what is made as a task, beside the calls, and writes down what became of it. */
import type { Failure } from "@sluice/core/contract"
import { GatewayError, RateLimited } from "@sluice/core"
import { Cause, Clock, Duration, Effect, FiberMap, Option } from "effect"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"

/** Tasks of one user that have not ended, at most: whoever asks for more should wait. */
const MAX_UNENDED = 20

/** Makes what a task asks for: the names of the files. */
export type Work = (task: MediaTask) => Effect.Effect<ReadonlyArray<string>, GatewayError | Failure>

/** Tasks that the server was ended over begin anew: `resume` at the start, with how each kind is made. */
export const makeTaskRunner = Effect.fnUntraced(function* (provider: string) {
  const tasks = yield* MediaTasks
  const fibers = yield* FiberMap.make<string>()

  const ended = (task: MediaTask, change: Partial<MediaTask>) =>
    Effect.flatMap(Clock.currentTimeMillis, (ended) =>
      tasks.update(task.id, { ...change, ended, request: null })
    )

  const run = (task: MediaTask, work: Work) =>
    FiberMap.run(
      fibers,
      task.id,
      work(task).pipe(
        Effect.flatMap((files) => ended(task, { status: "completed", progress: 100, files })),
        Effect.catchCause((cause) => {
          // Ended with the server, which takes it up again, or by its removal.
          if (Cause.hasInterruptsOnly(cause)) return Effect.void
          const known = Cause.findErrorOption(cause)
          const failed = Option.isSome(known)
            ? { code: "generation_failed", message: reasonOf(known.value) }
            : { code: "internal", message: "The server failed in making it" }
          return Effect.andThen(
            Option.isSome(known) ? Effect.void : Effect.logError("A task failed", cause),
            ended(task, { status: "failed", error: failed })
          )
        })
      )
    )

  return {
    start: Effect.fnUntraced(function* (task: MediaTask, work: Work) {
      if (tasks.running(provider).filter(({ user }) => user === task.user).length >= MAX_UNENDED) {
        return yield* new GatewayError({
          operation: `${task.kind}s`,
          model: task.model,
          reason: new RateLimited({
            message: `${MAX_UNENDED} tasks are under way: wait until one has ended`,
            retryAfter: Duration.seconds(15)
          })
        })
      }
      yield* tasks.add(task)
      yield* run(task, work)
    }),
    resume: (workOf: (task: MediaTask) => Work) =>
      Effect.forEach(tasks.running(provider), (task) => run(task, workOf(task)), { discard: true }),
    stop: (id: string) => FiberMap.remove(fibers, id)
  }
})

const reasonOf = (error: GatewayError | Failure): string =>
  error._tag === "GatewayError" ? error.reason.message : error.message

export type TaskRunner = Effect.Success<ReturnType<typeof makeTaskRunner>>
