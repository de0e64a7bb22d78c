/** The pool of threads: limits of time and memory, questions, and turns of users. */
import { getPriority } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { makeFairQueue, makeOwnThread, runInWorker, type WorkerTask, WorkerUser } from "@sluice/core/workers"
import { Effect, Fiber, Latch } from "effect"

const module = new URL("../core/workerJobs.ts", import.meta.url)
const run = (job: string, input?: unknown, options: object = {}) =>
  runInWorker<unknown>({ module, job, input, ...options })

describe("a job", () => {
  it.live("runs in a thread and returns its value", () =>
    Effect.gen(function* () {
      const values = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) => run("double", n), { concurrency: 6 })
      assert.deepStrictEqual(values, [2, 4, 6, 8, 10, 12])
    })
  )

  // Skipped: elsewhere the priority is that of the whole process.
  it.live.runIf(process.platform === "linux")("has a lower priority than the thread that answers", () =>
    Effect.gen(function* () {
      assert.isAbove(Number(yield* run("priority")), Math.min(18, getPriority()))
    })
  )

  it.live("that takes too long is ended, and the pool goes on", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(run("spin", undefined, { limit: 200 }))
      assert.deepStrictEqual([error.reason, error.message], ["time", "took more than 0.2 s"])
      assert.strictEqual(yield* run("double", 4), 8)
    })
  )

  it.live("has a time limit for each step, and the error has the step", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(run("spinInStep", 7, { stepLimit: () => 100 }))
      assert.deepStrictEqual([error.reason, error.step], ["time", { page: 7 }])
    })
  )

  it.live(
    "that takes too much memory is ended, and the process goes on",
    () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(run("allocate"))
        assert.strictEqual(error.reason, "memory")
        assert.match(error.message, /^took more than \d+ MiB of memory$/)
        assert.strictEqual(yield* run("double", 4), 8)
      }),
    60_000
  )

  it.live("that made much garbage leaves none of it in its thread", () =>
    Effect.gen(function* () {
      const run = yield* makeOwnThread
      const task: WorkerTask = { module, job: "makeGarbage", input: undefined }
      const [, before] = yield* run<readonly [number, number]>(task)
      const [after] = yield* run<readonly [number, number]>(task)
      assert.isBelow(after, before / 4)
    }).pipe(Effect.scoped)
  )

  it.live(
    "that holds more memory than a job may is ended before its time",
    () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(run("hold", undefined, { limit: 50_000 }))
        assert.strictEqual(error.reason, "memory")
      }),
    60_000
  )

  it.live("that throws or exits is reported", () =>
    Effect.gen(function* () {
      const thrown = yield* Effect.flip(run("crash"))
      assert.strictEqual(thrown.reason, "crash")
      assert.include(thrown.message, "the job failed")
      const exited = yield* Effect.flip(run("exit"))
      assert.deepStrictEqual([exited.reason, exited.message], ["crash", "ended with code 3"])
    })
  )

  it.live("that fails after its end costs its thread, not the process", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* run("failLater"), "done")
      yield* Effect.sleep("300 millis")
      assert.strictEqual(yield* run("double", 4), 8)
    })
  )

  it.live("asks the program, whose time does not count", () =>
    Effect.gen(function* () {
      const answer = (question: string) => Effect.delay(Effect.succeed(question.toUpperCase()), "150 millis")
      assert.strictEqual(yield* run("askTwice", "a", { answer }), "A 1, A 2")
      assert.strictEqual(yield* run("askTwice", "a", { answer, limit: 250 }), "A 1, A 2")
    })
  )

  it.live("is ended if the answers to its questions take longer than their limit", () =>
    Effect.gen(function* () {
      const answer = () => Effect.sleep("150 millis")
      const error = yield* Effect.flip(run("askTwice", "a", { answer, answerLimit: 200 }))
      assert.strictEqual(error.message, "took more than 0.2 s for what is inside it")
    })
  )

  it.live("is reported if its question cannot be answered", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(run("askTwice", "a", { answer: () => Effect.die("no answer") }))
      assert.strictEqual(error.reason, "crash")
      assert.include(error.message, "no answer")
    })
  )

  it.live("that is interrupted frees its place", () =>
    Effect.gen(function* () {
      const endless = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(run("spin")))
      yield* Effect.sleep("100 millis")
      yield* Effect.forEach(endless, Fiber.interrupt)
      assert.strictEqual(yield* run("double", 4), 8)
    })
  )
})

describe("the pool", () => {
  it.live("serves another user while one user's jobs take all of that user's threads", () =>
    Effect.gen(function* () {
      const endless = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Effect.forkChild(run("spin")))
      yield* Effect.sleep("100 millis")
      const other = run("double", 4).pipe(Effect.provideService(WorkerUser, "another"))
      assert.strictEqual(yield* Effect.timeout(other, "20 seconds"), 8)
      yield* Effect.forEach(endless, Fiber.interrupt)
    })
  )

  it.effect("runs at most as many effects of a user as allowed", () =>
    Effect.gen(function* () {
      const inTurn = makeFairQueue(3, 2)
      const gate = yield* Latch.make()
      const begun: Array<string> = []
      const fibers = yield* Effect.forEach(["a1", "a2", "a3", "b1", "b2"], (name) =>
        inTurn(
          name.slice(0, 1),
          Effect.andThen(
            Effect.sync(() => begun.push(name)),
            gate.await
          )
        ).pipe(Effect.forkChild({ startImmediately: true }))
      )
      assert.deepStrictEqual(begun, ["a1", "a2", "b1"])
      yield* gate.open
      yield* Effect.forEach(fibers, Fiber.join)
      assert.strictEqual(begun.length, 5)
    })
  )
})

describe("a thread of one's own", () => {
  const count = (milliseconds = 0) => ({ module, job: "countCalls", input: milliseconds })

  it.live("keeps what its jobs leave, runs one at a time, and ends with its scope", () =>
    Effect.gen(function* () {
      const run = yield* makeOwnThread
      const values = yield* Effect.all([run(count(30)), run(count()), run(count())], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(values, [1, 2, 3])
      const other = yield* Effect.scoped(Effect.flatMap(makeOwnThread, (runOther) => runOther(count())))
      assert.strictEqual(other, 1)
    }).pipe(Effect.scoped)
  )

  it.live("serves another user before the rest of one user's jobs", () =>
    Effect.gen(function* () {
      const run = yield* makeOwnThread
      const countOf = (user: string) => Effect.provideService(run(count()), WorkerUser, user)
      const order = yield* Effect.forEach(["a", "a", "a", "b"], countOf, { concurrency: "unbounded" })
      assert.deepStrictEqual(order, [1, 3, 4, 2])
    }).pipe(Effect.scoped)
  )

  it.live("survives an interruption, and is replaced after a job that exceeds its limit", () =>
    Effect.gen(function* () {
      const run = yield* makeOwnThread
      const fiber = yield* Effect.forkChild(run(count(100)), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* run(count()), 2)
      const spin: WorkerTask = { module, job: "spin", input: undefined, limit: 100 }
      assert.strictEqual((yield* Effect.flip(run(spin))).reason, "time")
      assert.strictEqual(yield* run(count()), 1)
    }).pipe(Effect.scoped)
  )
})
