/** `TestGateway`: a complete gateway in the process, whose time is the test's. */
import { assert, describe, it } from "@effect/vitest"
import {
  Account,
  ContentFiltered,
  Gateway,
  GatewayError,
  type GatewayReason,
  InsufficientQuota,
  InvalidRequest,
  InvalidResponse,
  NotFound,
  quota,
  RateLimited,
  ServerFailure,
  TaskFailed,
  TimedOut,
  Unauthorized,
  Unreachable
} from "@sluice/core"
import { RETRY } from "@sluice/core/client"
import { contractCalls } from "@sluice/core/conformance"
import { TestGateway, type TestCall, type TestGatewayOptions } from "@sluice/core/testing"
import { Clock, Duration, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ask, chat, chatStream, embedTwo, rerankThree } from "./Clients.ts"
import { runWithClock } from "./runWithClock.ts"

const { models } = TestGateway
const message = "m"

/** Runs a program against a gateway in the process, and lets the test's clock run. */
const run = Effect.fn(function* <A, E>(
  program: Effect.Effect<A, E, Gateway | Account | TestGateway>,
  options: TestGatewayOptions = {}
) {
  const { exit, seconds } = yield* runWithClock(Effect.provide(program, TestGateway.layer(options)))
  return { exit, seconds }
})

const valueOf = <A, E>(
  program: Effect.Effect<A, E, Gateway | Account | TestGateway>,
  options?: TestGatewayOptions
) => Effect.flatMap(run(program, options), ({ exit }) => exit)

const everyCall = Effect.gen(function* () {
  const gateway = yield* Gateway
  const account = yield* Account
  const { requests } = yield* TestGateway
  yield* embedTwo
  yield* rerankThree()
  yield* chat
  assert.lengthOf(yield* chatStream, 2)
  const { images } = yield* gateway.images.generate({ model: models.twoStepImage, prompt: "a lock" })
  const loaded = yield* Effect.forEach(images, gateway.images.load)
  assert.deepStrictEqual(
    loaded.map(({ format }) => format),
    ["png"]
  )
  const states = yield* Stream.runCollect(gateway.videos.progress({ model: "v", prompt: "a lock" }))
  assert.deepStrictEqual(
    states.map(({ status }) => status),
    ["queued", "in_progress", "completed"]
  )
  const id = states[0]?.id ?? ""
  assert.strictEqual((yield* Stream.runHead(gateway.videos.content(id)))._tag, "Some")
  yield* gateway.videos.remove(id)
  yield* gateway.models
  const { tokens } = account
  yield* account.user
  assert.deepStrictEqual(yield* account.availableModels, yield* account.models)
  const created = yield* tokens.create({ name: "visitor", remainQuota: quota(7) })
  yield* tokens.rename(created.id ?? 0, "guest")
  yield* tokens.search("guest")
  yield* Stream.runDrain(tokens.list)
  yield* tokens.remove(created.id ?? 0)
  yield* account.rotateAccessToken
  return new Set(requests.map(({ call }) => call))
})

describe("TestGateway", () => {
  it.effect("answers every call of the contract, without time", () =>
    Effect.gen(function* () {
      const calls = yield* valueOf(everyCall)
      assert.strictEqual(calls.size, contractCalls.length + 1)
      assert.isTrue(calls.has("images.load"))
    })
  )

  it.effect("answers after its latency, by the clock", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(chat)
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).text, "Green.")
      assert.strictEqual(yield* Clock.currentTimeMillis, 2000)
    }).pipe(Effect.provide(TestGateway.layer({ latency: "2 seconds" })))
  )

  it.effect("has another latency for each request", () =>
    Effect.gen(function* () {
      const latency: TestGatewayOptions["latency"] = ({ call }) => (call === "rerank" ? "1 minute" : 0)
      const { seconds } = yield* run(Effect.andThen(chat, rerankThree()), { latency })
      assert.strictEqual(seconds, 60)
    })
  )

  const reasons: ReadonlyArray<GatewayReason> = [
    new InvalidRequest({ message, param: "query", code: "c" }),
    new InvalidRequest({ message, status: 422 }),
    new Unauthorized({ message }),
    new InsufficientQuota({ message }),
    new ContentFiltered({ message, code: "content_filter" }),
    new NotFound({ message, code: "model_not_found" }),
    new RateLimited({ message, retryAfter: Duration.millis(1500) }),
    new ServerFailure({ message, status: 500, final: true }),
    new ServerFailure({ message, status: 529 })
  ]
  for (const reason of reasons) {
    it.effect(`fails with ${reason._tag} ${"status" in reason ? (reason.status ?? "") : ""}`, () =>
      Effect.gen(function* () {
        const failed = yield* Effect.flip(valueOf(rerankThree(), { faults: { rerank: reason } }))
        assert.instanceOf(failed, GatewayError)
        const { message, ...fields } = failed.reason
        assert.include(message, reason.message)
        for (const [name, value] of Object.entries(reason))
          if (name !== "message" && value !== undefined)
            assert.deepStrictEqual((fields as Record<string, unknown>)[name], value)
        assert.strictEqual(failed.isRetryable, reason.isRetryable)
      })
    )
  }

  it.effect("has no connection, no response in time, or no JSON", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<readonly [GatewayReason, number]> = [
        [new Unreachable({ message }), 0],
        [new TimedOut({ message, scope: "attempt", after: Duration.seconds(1) }), 60],
        [new InvalidResponse({ message }), 0]
      ]
      for (const [reason, expected] of faults) {
        const { exit, seconds } = yield* run(rerankThree(), { faults: { rerank: reason } })
        const failed = yield* Effect.flip(exit)
        assert.deepStrictEqual([failed.reason._tag, seconds], [reason._tag, expected])
      }
    })
  )

  it.effect("fails tasks, which keep their error", () =>
    Effect.gen(function* () {
      const error = { message: "Not that" }
      const faults = { "videos.get": new TaskFailed({ message, task: "task-1", error }) }
      const generate = Gateway.use(({ videos }) => videos.generate({ model: "v", prompt: "p" }))
      const failed = yield* Effect.flip(valueOf(generate, { faults }))
      assert.deepInclude(failed.reason, { _tag: "TaskFailed", task: "task-1", error })
    })
  )

  it.effect("fails calls in turn, which the client's policy retries", () =>
    Effect.gen(function* () {
      const busy = new RateLimited({ message, retryAfter: Duration.seconds(2) })
      const faults = { chat: [undefined, busy, busy] }
      const program = Effect.gen(function* () {
        yield* chat
        yield* rerankThree()
        yield* chat
        yield* chat
        const { requests } = yield* TestGateway
        return requests.map(({ at, call }): readonly [TestCall, number] => [call, at])
      })
      assert.deepStrictEqual(yield* valueOf(program, { faults, retry: RETRY }), [
        ["chat", 0],
        ["rerank", 0],
        ["chat", 0],
        ["chat", 2000],
        ["chat", 4000],
        ["chat", 4000]
      ])
    })
  )

  it.effect("fails by the request, and gives responses of the test's own", () =>
    Effect.gen(function* () {
      const options: TestGatewayOptions = {
        faults: {
          chat: ({ body }) =>
            JSON.stringify(body).includes("bad") ? new ContentFiltered({ message }) : undefined
        },
        respond: ({ call }) =>
          call === "chat" ? Response.json({ choices: [{ message: { content: "My own." } }] }) : undefined
      }
      const say = (content: string) =>
        Gateway.use((gateway) => gateway.chat({ ...ask, messages: [{ role: "user", content }] }))
      assert.strictEqual((yield* valueOf(say("good"), options)).text, "My own.")
      assert.strictEqual((yield* Effect.flip(valueOf(say("bad"), options))).reason._tag, "ContentFiltered")
      assert.lengthOf((yield* valueOf(embedTwo, options)).vectors, 2)
    })
  )

  it.effect("has a state of its own in each layer", () =>
    Effect.gen(function* () {
      const remove = Account.use(({ tokens }) =>
        Effect.andThen(tokens.remove(1), Stream.runCollect(tokens.list))
      )
      const layer = TestGateway.layer()
      for (let i = 0; i < 2; i++) {
        const left = yield* Effect.provide(remove, layer)
        assert.deepStrictEqual(
          left.map(({ id }) => id),
          [2]
        )
      }
    })
  )

  it.effect("the mock has the calls that it is given; every other is a defect that names itself", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      assert.deepStrictEqual(yield* gateway.models, [])
      assert.deepStrictEqual(yield* gateway.videos.get("v"), { id: "v" })
      const missing: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>]> = [
        ["chat", gateway.chat(ask)],
        ["chatStream", Stream.runDrain(gateway.chatStream(ask))],
        ["generate", gateway.images.generate({ model: "i", prompt: "p" })],
        ["progress", Stream.runDrain(gateway.videos.progress({ id: "v" }))]
      ]
      for (const [name, call] of missing) {
        const exit = yield* Effect.exit(call)
        assert.isTrue(Exit.hasDies(exit), name)
        assert.include(String(exit), name)
      }
    }).pipe(
      Effect.provide(
        TestGateway.mock({
          models: Effect.succeed([]),
          videos: { get: (id) => Effect.succeed({ id }) as never }
        })
      )
    )
  )

  it.effect("an empty mock compiles", () =>
    Effect.gen(function* () {
      assert.isTrue(Exit.hasDies(yield* Effect.exit(chat)))
    }).pipe(Effect.provide(TestGateway.mock({})))
  )
})
