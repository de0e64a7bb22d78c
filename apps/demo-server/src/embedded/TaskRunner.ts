/** Runs media tasks in the background and stores their results. */
import type { Failure } from "@sluice/core/contract"
import { GatewayError, RateLimited } from "@sluice/core"
import { WorkerUser } from "@sluice/core/workers"
import { Cause, Clock, Duration, Effect, FiberMap, Option, Schedule } from "effect"
import { LEASE_RENEWAL, type MediaTask, MediaTasks } from "../media/MediaTasks.ts"

/** Running tasks of one user at most. */
const MAX_RUNNING = 20

/** Runs a task and returns the names of its files. */
export type TaskWork = (task: MediaTask) => Effect.Effect<ReadonlyArray<string>, GatewayError | Failure>

/** `resume` runs the tasks whose server has ended, now and later, and renews the leases of those that run here. */
export const makeTaskRunner = Effect.fnUntraced(function* (provider: string) {
  const tasks = yield* MediaTasks
  const fibers = yield* FiberMap.make<string>()

  const finish = (task: MediaTask, change: Partial<MediaTask>) =>
    Effect.flatMap(Clock.currentTimeMillis, (ended) =>
      tasks.update(task.id, { ...change, ended, request: null })
    )

  const run = (task: MediaTask, work: TaskWork) =>
    FiberMap.run(
      fibers,
      task.id,
      work(task).pipe(
        Effect.provideService(WorkerUser, task.user),
        Effect.flatMap((files) => finish(task, { status: "completed", progress: 100, files })),
        Effect.catchCause((cause) => {
          // Interrupted by a removal, or by a stop of the server, after which it is resumed.
          if (Cause.hasInterruptsOnly(cause)) return Effect.void
          const known = Cause.findErrorOption(cause)
          const failed = Option.isSome(known)
            ? { code: "generation_failed", message: reasonOf(known.value) }
            : { code: "internal", message: "Internal server error" }
          return Effect.andThen(
            Option.isSome(known) ? Effect.void : Effect.logError("A task failed", cause),
            finish(task, { status: "failed", error: failed })
          )
        })
      )
    )

  return {
    start: Effect.fnUntraced(function* (task: MediaTask, work: TaskWork) {
      if (tasks.running(provider).filter(({ user }) => user === task.user).length >= MAX_RUNNING) {
        const message = `${MAX_RUNNING} of your tasks are running. Wait until one has ended`
        const reason = new RateLimited({ message, retryAfter: Duration.seconds(15) })
        return yield* new GatewayError({ operation: `${task.kind}s`, model: task.model, reason })
      }
      yield* tasks.add(task)
      yield* run(task, work)
    }),
    resume: Effect.fnUntraced(function* (workOf: (task: MediaTask) => TaskWork) {
      const renew = Effect.gen(function* () {
        for (const id of yield* tasks.renew) yield* FiberMap.remove(fibers, id)
        for (const task of yield* tasks.takeOver(provider)) yield* run(task, workOf(task))
      }).pipe(
        Effect.catch(({ message }) => Effect.logWarning(`The leases of tasks were not renewed: ${message}`))
      )
      yield* renew
      yield* Effect.forkScoped(Effect.schedule(renew, Schedule.spaced(LEASE_RENEWAL)))
    }),
    stop: (id: string) => FiberMap.remove(fibers, id)
  }
})

const reasonOf = (error: GatewayError | Failure): string =>
  error._tag === "GatewayError" ? error.reason.message : error.message

export type TaskRunner = Effect.Success<ReturnType<typeof makeTaskRunner>>
