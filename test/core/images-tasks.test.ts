import { assert, layer } from "@effect/vitest"
import { apiKey, Gateway, type GatewayError, type ImageAnswer } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Clock, Context, type Duration, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { behaving, reasonOf } from "./Clients.ts"
import { answering, Client, generate, images, link, task, untyped, url } from "./imagesClient.ts"
import { KEY, requests, running, tick } from "./tasksClient.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"
import { onePixel } from "./mediaImages.ts"

const HOUR = 3_600_000

layer(Client)("images in two steps", (it) => {
  it.effect("a creation is not repeated after a gateway failure", () =>
    Effect.gen(function* () {
      const reason = yield* behaving(
        refuse(503, openAi({})),
        Effect.gen(function* () {
          const reason = yield* reasonOf(running(generate()))
          assert.strictEqual((yield* requests).length, 1)
          return reason
        })
      )
      assert.strictEqual(reason._tag, "ServerFailure")
    })
  )

  it.effect("images in the first response are returned without polling", () =>
    Effect.gen(function* () {
      for (const status of [undefined, "completed", "succeeded"]) {
        const body = { data: [link], ...(status && { status }) }
        const asked = yield* behaving(answering(body, 201), Effect.andThen(generate(), requests))
        assert.deepStrictEqual(asked, ["POST /v1/images/generations"])
      }
      for (const status of [undefined, "succeeded", "in_progress"]) {
        const body = { id: "t/1", data: [link], ...(status && { status }) }
        const asked = yield* behaving(answering(body), Effect.andThen(generate(), requests))
        assert.deepStrictEqual(asked, ["POST /v1/images/generations"])
      }
    })
  )

  it.effect("a task is polled every 5 seconds until it is completed", () =>
    Effect.gen(function* () {
      const looks = [{ status: "queued" }, { status: "painting", data: [] }, { data: null }]
      const times: Array<number> = []
      const clock = yield* Effect.clockWith(Effect.succeed)
      const steps = task(...looks, { status: "completed", data: [link] })
      const behaviour: Behaviour = (seen, response, nth) => {
        times.push(clock.currentTimeMillisUnsafe())
        steps(seen, response, nth)
      }
      const answer = yield* behaving(behaviour, running(generate(), "10 millis"))
      assert.deepStrictEqual(answer, { id: "t/1", status: "completed", images: [{ url }], faults: [] })
      assert.strictEqual(times.length, 5)
      // What is over 5 seconds is the turns of the event loop that a request takes.
      for (const [i, time] of times.slice(1).entries()) {
        const wait = time - (times[i] ?? 0)
        assert.isTrue(wait >= 5000 && wait < 7000, `${wait}`)
      }
    })
  )

  it.effect("the id is encoded in the path, and rejected if it would change the path", () =>
    Effect.gen(function* () {
      const done = answering({ status: "completed", data: [link] })
      const { get } = yield* images
      assert.deepStrictEqual(yield* behaving(done, Effect.andThen(get("t/1?x#y"), requests)), [
        "GET /v1/images/generations/t%2F1%3Fx%23y"
      ])
      for (const id of ["", ".", ".."]) {
        assert.strictEqual((yield* behaving(done, reasonOf(get(id))))._tag, "InvalidRequest", id)
      }
    })
  )

  it.effect("a failed task is TaskFailed with its id and its error", () =>
    Effect.gen(function* () {
      const error = { code: "content_policy", message: "Not this prompt." }
      const failing = task({ status: "queued" }, { status: "failed", error })
      const { get, resume } = yield* images
      for (const effect of [generate({ group: "I5" }), resume("t/1")]) {
        const reason = yield* behaving(failing, reasonOf(running(effect)))
        if (reason._tag !== "TaskFailed") assert.fail(reason._tag)
        assert.deepStrictEqual([reason.task, reason.error], ["t/1", error])
        assert.match(reason.message, /Not this prompt/)
      }
      const silent = yield* behaving(task({ error }), reasonOf(running(generate())))
      assert.strictEqual(silent._tag, "TaskFailed")
      const made = yield* behaving(task({ error, data: [link] }), running(generate()))
      assert.deepStrictEqual(made.images, [{ url }])
      const failed = yield* behaving(answering({ status: "failed", error }), reasonOf(running(generate())))
      if (failed._tag !== "TaskFailed") assert.fail(failed._tag)
      assert.deepStrictEqual([failed.error, failed.isRetryable], [error, false])
      const seen = yield* behaving(answering({ status: "failed", error }), get("t/1"))
      assert.deepStrictEqual(seen, { id: "t/1", status: "failed", images: [], faults: [], error })
    })
  )

  it.effect("the deadline ends the wait and names the task to resume", () =>
    Effect.gen(function* () {
      const call = Effect.flatMap(images, ({ generate }) => generate(untyped({}), { deadline: "1 minute" }))
      const error = yield* behaving(task({ status: "queued" }), Effect.flip(running(call)))
      assert.strictEqual((error as GatewayError).reason._tag, "TimedOut")
      assert.strictEqual((error as GatewayError).task, "t/1")
      assert.match((error as GatewayError).message, /resume it by its id, t\/1/)
      const { resume } = yield* images
      const done = answering({ status: "completed", data: [link] })
      const answer = yield* behaving(done, resume("t/1"))
      assert.deepStrictEqual(answer.images, [{ url }])
    })
  )

  it.effect("the deadline applies to one-step models", () =>
    Effect.gen(function* () {
      const call = Effect.flatMap(images, ({ generate }) => generate(untyped({}), { deadline: "1 minute" }))
      const reason = yield* behaving(() => undefined, reasonOf(running(call)))
      assert.strictEqual(reason._tag, "TimedOut")
      assert.match(reason.message, /may have been executed and charged/)
    })
  )

  it.effect("images of a running task are not taken as complete", () =>
    Effect.gen(function* () {
      for (const status of ["in_progress", "RUNNING"]) {
        const looks = task({ status, data: [link] }, { status: "completed", data: [link, link] })
        const { images } = yield* behaving(looks, running(generate({ n: 2 })))
        assert.deepStrictEqual(images, [{ url }, { url }])
      }
    })
  )

  it.effect("a task with images and another word for its success is done", () =>
    Effect.gen(function* () {
      for (const status of ["succeeded", "SUCCESS"]) {
        const looks = task({ status: "queued" }, { status, data: [link] })
        const answer = yield* behaving(looks, running(generate()))
        assert.deepStrictEqual([answer.status, answer.images], ["completed", [{ url }]])
      }
      const failed = task({ status: "failed", data: [link] })
      assert.strictEqual((yield* behaving(failed, reasonOf(running(generate()))))._tag, "TaskFailed")
    })
  )

  it.effect("images present at the deadline are returned", () =>
    Effect.gen(function* () {
      const { resume } = yield* images
      const looks = task({ status: "processing", data: [link] })
      for (const effect of [generate({ n: 2 }), resume("t/1", { deadline: "1 minute" })]) {
        const answer = yield* behaving(looks, running(effect))
        assert.deepStrictEqual([answer.status, answer.images], ["processing", [{ url }]])
      }
    })
  )

  it.effect("the creation counts for the deadline", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      let created: () => void = () => undefined
      behave(({ method }, response) => {
        if (method === "GET") return json(response, { status: "queued" })
        created = () => json(response, { id: "t/1" })
      })
      const call = Effect.flatMap(images, ({ generate }) => generate(untyped({}), { deadline: "1 minute" }))
      const begun = yield* Clock.currentTimeMillis
      const fiber = yield* Effect.forkChild(Effect.flip(call))
      while (seen.length === 0) yield* tick
      yield* TestClock.adjust("40 seconds")
      created()
      const error = yield* running(Fiber.join(fiber), "10 millis")
      assert.deepStrictEqual([error.reason._tag, error.task], ["TimedOut", "t/1"])
      const whole = (yield* Clock.currentTimeMillis) - begun
      assert.isTrue(whole >= 60_000 && whole < 65_000, `${whole}`)
    })
  )

  it.effect("a one-step image may take ten minutes", () =>
    Effect.gen(function* () {
      const { behave, seen, url: baseUrl } = yield* LoopbackGateway
      const own = yield* Layer.build(Layer.fresh(GatewayClient.layer({ baseUrl, apiKey: apiKey(KEY) })))
      const { images } = Context.get(own, Gateway)
      const after = Effect.fn(function* (wait: Duration.Input) {
        let answer: () => void = () => undefined
        behave((_, response) => (answer = () => json(response, { data: [link] })))
        const fiber = yield* Effect.forkChild(images.create(untyped({})))
        while (seen.length === 0) yield* tick
        yield* TestClock.adjust(wait)
        answer()
        return yield* Fiber.join(fiber)
      })
      assert.deepStrictEqual((yield* after("599 seconds")).images, [{ url }])
      const late = yield* reasonOf(after("601 seconds"))
      assert.deepStrictEqual([late._tag, late.isRetryable, seen.length], ["TimedOut", true, 1])
    })
  )

  it.effect("an interrupted wait logs the id", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      yield* behaving(
        task({ status: "queued" }),
        Effect.gen(function* () {
          const { seen } = yield* LoopbackGateway
          const fiber = yield* Effect.forkChild(generate())
          while (seen.length < 2) {
            yield* tick
            yield* TestClock.adjust("1 second")
          }
          const exit = yield* Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))
          assert.isTrue(Exit.hasInterrupts(exit))
        }).pipe(Effect.provide(Logger.layer([logger])))
      )
      assert.match(lines.join("\n"), /resume it by its id, t\/1/)
    })
  )

  it.effect("an interrupted creation logs that it may be charged", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      yield* behaving(
        () => undefined,
        Effect.gen(function* () {
          const { seen } = yield* LoopbackGateway
          const fiber = yield* Effect.forkChild(generate())
          while (seen.length === 0) yield* tick
          yield* Fiber.interrupt(fiber)
        }).pipe(Effect.provide(Logger.layer([logger])))
      )
      assert.deepStrictEqual(lines, ["Interrupted; the images may have been created and charged."])
    })
  )

  it.effect("only links of group I4 have an expiry, of 24 hours", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000 * HOUR)
      const done = { status: "completed", data: [link, { b64_json: onePixel.png }] }
      const { get, resume } = yield* images
      const expiries = ({ images }: ImageAnswer) => images.map(({ expiresAt }) => expiresAt)
      const known = [1024 * HOUR, undefined]
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), generate({ group: "I4" }))), known)
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), get("t", { group: "I4" }))), known)
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), resume("t", { group: "I4" }))), known)
      const unknown = [undefined, undefined]
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), generate({ group: "I5" }))), unknown)
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), resume("t"))), unknown)
    })
  )
})
