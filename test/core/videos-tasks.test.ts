import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayError, ServerFailure } from "@sluice/core"
import { type CallInfo, makeCaller } from "@sluice/core/client"
import { Clock, Effect, Fiber, Logger, References, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import { pollTask, type TaskPoll, type TaskState } from "../../packages/core/src/client/media/Tasks.ts"

const info: CallInfo = { operation: "videos.generate", model: "v" }
const { fail } = makeCaller({}, apiKey("sk-canary-5f2e91c0"))

interface State extends TaskState {
  readonly nth: number
}

/** Looks at a task whose states these are, the last one for ever, while the test's clock runs an hour. */
const run = Effect.fn(function* (
  states: ReadonlyArray<TaskState | GatewayError>,
  options: Partial<TaskPoll<State>> = {}
) {
  /** When each look began, in seconds. */
  const looks: Array<number> = []
  const get = Effect.gen(function* () {
    const state = states[Math.min(looks.length, states.length - 1)] ?? {}
    looks.push((yield* Clock.currentTimeMillis) / 1000)
    if (state instanceof GatewayError) return yield* state
    return { ...state, nth: looks.length }
  })
  const seen: Array<string | undefined> = []
  const poll = pollTask<State>({
    info,
    id: "v-1",
    get,
    fail,
    every: "15 seconds",
    deadline: "20 minutes",
    ...options
  })
  const fiber = yield* Effect.forkChild(
    Effect.result(Stream.runForEach(poll, ({ status }) => Effect.sync(() => void seen.push(status))))
  )
  yield* TestClock.adjust("1 hour")
  const result = yield* Fiber.join(fiber)
  return { looks, seen, error: result._tag === "Failure" ? result.failure : undefined }
})

describe("waiting for a task", () => {
  it.effect("polls at once, then every 15 seconds, until the final state", () =>
    Effect.gen(function* () {
      const { error, looks, seen } = yield* run([
        { status: "queued" },
        { status: "in_progress" },
        { status: "completed" }
      ])
      assert.deepStrictEqual(looks, [0, 15, 30])
      assert.deepStrictEqual(seen, ["queued", "in_progress", "completed"])
      assert.isUndefined(error)
    })
  )

  it.effect("emits the creation's response without a poll", () =>
    Effect.gen(function* () {
      const first = { status: "queued", nth: 0 }
      const { looks, seen } = yield* run([{ status: "completed" }], { first })
      assert.deepStrictEqual([looks, seen], [[15], ["queued", "completed"]])
      const done = yield* run([{}], { first: { status: "completed", nth: 0 } })
      assert.deepStrictEqual([done.looks, done.seen], [[], ["completed"]])
    })
  )

  it.effect("waits through unknown and missing statuses", () =>
    Effect.gen(function* () {
      const { error, seen } = yield* run([{ status: "warming_up" }, {}, { status: "completed" }])
      assert.deepStrictEqual(seen, ["warming_up", undefined, "completed"])
      assert.isUndefined(error)
    })
  )

  it.effect("a failed task is emitted, then fails the stream", () =>
    Effect.gen(function* () {
      const wrong = { code: "moderation_blocked", message: "Not that." }
      const { error, seen } = yield* run([{ status: "failed", error: wrong }])
      assert.deepStrictEqual(seen, ["failed"])
      const { reason } = error ?? {}
      if (reason?._tag !== "TaskFailed") throw new Error(String(error))
      assert.deepStrictEqual([reason.task, reason.error, error?.task], ["v-1", wrong, "v-1"])
      assert.strictEqual(
        error?.message,
        "videos.generate (model v, task v-1): The task failed: Not that. (moderation_blocked). Change the request and create a new task, which is charged again."
      )
      assert.isFalse(error?.isRetryable)
      const silent = yield* run([{ status: "failed" }])
      assert.match(silent.error?.message ?? "", /did not say why/)
      const echoing = yield* run([{ status: "failed", error: "no sk-canary-5f2e91c0" }])
      assert.match(echoing.error?.message ?? "", /no <redacted>/)
      const deep = yield* run([{ status: "failed", error: { of: [{ key: "sk-canary-5f2e91c0", n: 1 }] } }])
      assert.deepInclude(deep.error?.reason, { error: { of: [{ key: "<redacted>", n: 1 }] } })
    })
  )

  it.effect("a task with an error and no status has failed, unless the error is empty", () =>
    Effect.gen(function* () {
      for (const error of [{ message: "Not that." }, "Not that.", { code: "moderation_blocked" }]) {
        const { error: failure, looks } = yield* run([{ status: "queued" }, { error }])
        assert.deepStrictEqual([failure?.reason._tag, looks.length], ["TaskFailed", 2])
      }
      for (const error of [null, "", {}, { code: null, message: "" }, { code: 0, message: "success" }]) {
        const { error: failure, seen } = yield* run([{ error }, { status: "completed" }])
        assert.deepStrictEqual([failure, seen.length], [undefined, 2])
      }
      const warned = yield* run([{ status: "in_progress", error: "slow" }, { status: "completed" }])
      assert.isUndefined(warned.error)
    })
  )

  it.effect("ends at the deadline, during a delay or a poll, and says how to resume", () =>
    Effect.gen(function* () {
      const { error, looks } = yield* run([{ status: "in_progress" }], { deadline: "40 seconds" })
      assert.deepStrictEqual(looks, [0, 15, 30])
      if (error?.reason._tag !== "TimedOut") throw new Error(String(error))
      assert.deepStrictEqual([error.reason.scope, error.isRetryable, error.task], ["call", false, "v-1"])
      assert.match(error.message, /within 40s\. It goes on at the gateway: resume it by its id, v-1\.$/)
      const stuck = yield* run([{}], { get: Effect.never, deadline: "40 seconds" })
      assert.strictEqual(stuck.error?.reason._tag, "TimedOut")
    })
  )

  it.effect("follows a schedule to its end", () =>
    Effect.gen(function* () {
      const every = Schedule.exponential("1 second").pipe(Schedule.upTo({ times: 3 }))
      const { error, looks } = yield* run([{ status: "in_progress" }], { every })
      assert.deepStrictEqual(looks, [0, 1, 3, 7])
      assert.strictEqual(error?.reason._tag, "TimedOut")
    })
  )

  it.effect("a failed poll ends it, and the error names the task", () =>
    Effect.gen(function* () {
      const gone = new GatewayError({
        operation: "videos.get",
        requestId: "req-7",
        reason: new ServerFailure({ message: "no", status: 500 })
      })
      const { error, seen } = yield* run([{ status: "in_progress" }, gone])
      assert.deepStrictEqual(seen, ["in_progress"])
      assert.match(error?.message ?? "", /^videos\.get \(task v-1, request req-7\): no/)
    })
  )

  it.effect("a slow consumer loses no state from before the deadline", () =>
    Effect.gen(function* () {
      const poll = pollTask({
        info,
        id: "v-1",
        get: Effect.succeed({ status: "completed" }),
        fail,
        every: "15 seconds",
        deadline: "1 minute"
      })
      const fiber = yield* Effect.forkChild(Stream.runForEach(poll, () => Effect.sleep("1 hour")))
      yield* TestClock.adjust("2 hours")
      yield* Fiber.join(fiber)
    })
  )

  it.effect("an interruption logs which task goes on", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make(({ fiber, message }) => {
        const { task } = fiber.getRef(References.CurrentLogAnnotations)
        logged.push(`${String(task)}: ${String(message)}`)
      })
      const poll = pollTask({
        info,
        id: "v-1",
        get: Effect.succeed({ status: "in_progress" }),
        fail,
        every: "15 seconds",
        deadline: "20 minutes"
      })
      const fiber = yield* Effect.forkChild(Stream.runDrain(poll)).pipe(
        Effect.provide(Logger.layer([logger]))
      )
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(logged.length, 1)
      assert.match(logged[0] ?? "", /^v-1: Interrupted.*resume it by its id, v-1/)
      const whole = yield* Effect.provide(Stream.runHead(poll), Logger.layer([logger]))
      assert.deepStrictEqual([whole._tag, logged.length], ["Some", 1])
    })
  )
})
