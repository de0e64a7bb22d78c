import { assert, describe, it, layer } from "@effect/vitest"
import { apiKey, Gateway, type GatewayError, type RetryPolicy, withRetryPolicy } from "@sluice/core"
import {
  RETRY,
  retrySchedule,
  type CallInfo,
  type CallOptions,
  sendAndDecode,
  layerTransport,
  makeCaller,
  withIdempotencyKey
} from "@sluice/core/client"
import { type Duration, Effect, Exit } from "effect"
import { GatewayApi } from "@sluice/core/contract"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { makeSend } from "../../packages/core/src/client/transport/Send.ts"
import { behaving, Clients } from "./Clients.ts"
import { runWithClock } from "./runWithClock.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"

type Reply = Response | "silence" | Error

const ok = () => Response.json({ id: "video_1" })
const status =
  (code: number, headers: Record<string, string> = {}, message = "no") =>
  () =>
    Response.json({ error: { message } }, { status: code, headers })
const fault = (code: string, syscall?: string) => () => Object.assign(new Error(code), { code, syscall })
const refused = fault("ECONNREFUSED", "connect")
const reset = fault("ECONNRESET", "read")
const silence = () => "silence" as const

/** One call of this kind against these replies, the last one for ever, to its end. */
const run = Effect.fn(function* (
  repeat: NonNullable<CallInfo["repeat"]>,
  replies: ReadonlyArray<() => Reply>,
  options: CallOptions = {},
  as: <A, E>(call: Effect.Effect<A, E>) => Effect.Effect<A, E> = (call) => call,
  /** How long the attempts wait for their turn, the last one for ever. */
  turns: ReadonlyArray<Duration.Input> = [0]
) {
  let waited = 0
  const keys: Array<string | undefined> = []
  const send = makeSend(
    HttpClient.make((request) =>
      Effect.suspend(() => {
        const reply = replies[Math.min(keys.length, replies.length - 1)]?.() ?? "silence"
        keys.push(request.headers["idempotency-key"])
        if (reply === "silence") return Effect.never
        return reply instanceof Error
          ? Effect.fail(
              new HttpClientError.HttpClientError({
                reason: new HttpClientError.TransportError({ request, cause: reply })
              })
            )
          : Effect.succeed(HttpClientResponse.fromWeb(request, reply))
      })
    ),
    { baseUrl: "http://g", credential: apiKey("k"), isBuffered: true }
  )
  const { call } = makeCaller(options, apiKey("k"), [
    (attempt) => Effect.suspend(() => Effect.delay(attempt, turns[Math.min(waited++, turns.length - 1)] ?? 0))
  ])
  const attempt = sendAndDecode(send(GatewayApi.groups.models.endpoints.list)({}), ({ json }) => json)
  const { exit } = yield* runWithClock(as(call({ operation: "videos", repeat }, attempt)))
  const error = Exit.isFailure(exit) ? yield* Effect.flip(exit) : undefined
  return { keys, attempts: keys.length, error, tag: error?.reason._tag }
})

describe("a creation is repeated", () => {
  const safe: ReadonlyArray<readonly [string, () => Reply]> = [
    ["the connection was refused", refused],
    ["there is no such host", fault("ENOTFOUND", "getaddrinfo")],
    ["no name server answered", fault("EAI_AGAIN", "getaddrinfo")],
    ["there is no route", fault("EHOSTUNREACH", "connect")],
    ["connecting took too long", fault("UND_ERR_CONNECT_TIMEOUT")],
    ["every address refused", () => new AggregateError([refused(), fault("ETIMEDOUT", "connect")()])],
    ["it was answered 429", status(429)]
  ]
  for (const [name, reply] of safe) {
    it.effect(`when ${name}`, () =>
      Effect.gen(function* () {
        const { attempts, error } = yield* run("creations", [reply, ok])
        assert.deepStrictEqual([attempts, error], [2, undefined])
        const given = yield* run("creations", [reply])
        assert.deepStrictEqual(
          [given.attempts, given.error?.attempt, given.error?.notExecuted],
          [1 + RETRY.times, 1 + RETRY.times, true]
        )
        assert.include(given.error?.message, `attempt ${1 + RETRY.times}`)
      })
    )
  }
})

describe("a creation is not repeated", () => {
  const unsure: ReadonlyArray<readonly [string, () => Reply]> = [
    ["500", status(500)],
    ["503 with a wish to be asked again", status(503, { "retry-after": "1", "x-should-retry": "true" })],
    ["408", status(408)],
    ["409 with x-should-retry: true", status(409, { "x-should-retry": "true" })],
    ["a reset", reset],
    ["a connection that the gateway closed", fault("UND_ERR_SOCKET")],
    ["a reset while connecting, TLS perhaps", fault("ECONNRESET", "connect")],
    ["a pipe that broke", fault("EPIPE", "write")],
    ["one address that was reset among those that refused", () => new AggregateError([refused(), reset()])],
    ["silence", silence]
  ]
  for (const [name, reply] of unsure) {
    it.effect(`after ${name}, unless the gateway honours the key`, () =>
      Effect.gen(function* () {
        const { attempts, error } = yield* run("creations", [reply, ok])
        assert.deepStrictEqual([attempts, error?.attempt, error?.notExecuted ?? false], [1, 1, false])
        const honoured = yield* run("creations", [reply, reply, ok], {
          honoursIdempotencyKey: true,
          attemptTimeout: "5 seconds"
        })
        assert.deepStrictEqual([honoured.attempts, honoured.error], [3, undefined])
        assert.strictEqual(new Set(honoured.keys).size, 1)
      })
    )
  }

  it.effect("after a 5xx that followed a 429", () =>
    Effect.gen(function* () {
      const { attempts, error, tag } = yield* run("creations", [refused, status(429), status(502), ok])
      assert.deepStrictEqual([attempts, error?.attempt, tag], [3, 3, "ServerFailure"])
    })
  )

  it.effect("with any policy", () =>
    Effect.gen(function* () {
      const policy: RetryPolicy = { times: 9, base: 1, cap: 1, budget: "1 hour" }
      const { attempts } = yield* run(
        "creations",
        [status(500), ok],
        { retry: policy },
        withRetryPolicy(policy)
      )
      assert.strictEqual(attempts, 1)
    })
  )
})

layer(Clients)("a program that repeats what is retryable", (it) => {
  type Call = Effect.Effect<unknown, GatewayError, Gateway>
  const programs: Readonly<Record<string, (call: Call) => Call>> = {
    "by isRetryable": Effect.retry({ times: 2, while: ({ isRetryable }) => isRetryable }),
    "by retrySchedule": Effect.retry(retrySchedule({ ...RETRY, base: 0 }))
  }
  const generations: ReadonlyArray<Call> = [
    Gateway.use(({ images }) => images.generate({ model: "i", prompt: "p" }, { every: 0 })),
    Gateway.use(({ videos }) => videos.generate({ model: "v", prompt: "p" }, { every: 0 }))
  ]
  const down: Behaviour = ({ method }, response) =>
    method === "POST" ? json(response, { id: "t-1", status: "queued" }) : json(response, "down", 500)

  for (const [name, again] of Object.entries(programs)) {
    /** How it ended, and the requests that it took. */
    const trial = (behaviour: Behaviour, call: Call) =>
      behaving(
        behaviour,
        Effect.gen(function* () {
          const error = yield* Effect.flip(again(call))
          const { seen } = yield* LoopbackGateway
          return { error, methods: seen.map(({ method }) => method) }
        })
      )

    it.effect(`${name} does not repeat a creation with unknown outcome or a running task`, () =>
      Effect.gen(function* () {
        for (const generate of generations) {
          const doubtful = yield* trial(refuse(500, openAi({})), generate)
          assert.deepStrictEqual([doubtful.error.outcomeUnknown, doubtful.methods], [true, ["POST"]])
          const { error, methods } = yield* trial(down, generate)
          assert.deepStrictEqual([error.taskCreated, error.task, methods], [true, "t-1", ["POST", "GET"]])
        }
      })
    )

    it.effect(`${name} repeats a creation that was not executed, and polls again`, () =>
      Effect.gen(function* () {
        for (const generate of generations) {
          const { error, methods } = yield* trial(refuse(429, openAi({})), generate)
          assert.deepStrictEqual([error.notExecuted, methods.length > 1], [true, true])
        }
        const { error, methods } = yield* trial(
          down,
          Gateway.use(({ videos }) => videos.resume("t-1"))
        )
        assert.deepStrictEqual([error.taskCreated, methods.length > 1], [undefined, true])
      })
    )
  }
})

describe("a creation that exceeds the call's time-out", () => {
  const cases: ReadonlyArray<
    readonly [string, ReadonlyArray<() => Reply>, ReadonlyArray<Duration.Input>, boolean]
  > = [
    ["is notExecuted while it waits for the middleware", [ok], ["1 hour"], true],
    ["is notExecuted while it waits for the middleware after a 429", [status(429), ok], [0, "1 hour"], true],
    ["may be executed while the response is awaited", [silence], [0], false],
    ["may be executed after an earlier attempt with unknown outcome", [status(500), ok], [0, "1 hour"], false]
  ]
  for (const [name, replies, turns, notExecuted] of cases) {
    it.effect(`${name}, and says so`, () =>
      Effect.gen(function* () {
        const options = { callTimeout: "20 seconds", honoursIdempotencyKey: true } as const
        const { error, tag } = yield* run("creations", replies, options, (call) => call, turns)
        assert.deepStrictEqual([tag, error?.notExecuted], ["TimedOut", notExecuted])
        assert.strictEqual(/executed and charged/.test(error?.message ?? ""), !notExecuted)
      })
    )
  }
})

describe("a call that must not be repeated", () => {
  for (const [name, reply] of Object.entries({ refused, "429": status(429), "500": status(500), silence })) {
    it.effect(`is sent once: ${name}`, () =>
      Effect.gen(function* () {
        const { attempts, keys } = yield* run("never", [reply, ok], { honoursIdempotencyKey: true })
        assert.deepStrictEqual([attempts, keys], [1, [undefined]])
      })
    )
  }
})

describe("the idempotency key", () => {
  it.effect("is the same for all attempts of a creation, and sent with creations only", () =>
    Effect.gen(function* () {
      const first = yield* run("creations", [refused, status(429), ok])
      const second = yield* run("creations", [ok])
      assert.deepStrictEqual([first.keys.length, new Set(first.keys).size], [3, 1])
      assert.match(first.keys[0] ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      assert.notStrictEqual(first.keys[0], second.keys[0])
      assert.deepStrictEqual((yield* run("reads", [status(500), ok])).keys, [undefined, undefined])
    })
  )

  it.effect("can be chosen, to repeat a creation after a crash", () =>
    Effect.gen(function* () {
      const { keys } = yield* run("creations", [refused, ok], {}, withIdempotencyKey("order-17"))
      assert.deepStrictEqual(keys, ["order-17", "order-17"])
      assert.deepStrictEqual((yield* run("reads", [ok], {}, withIdempotencyKey("order-17"))).keys, [
        undefined
      ])
    })
  )
})

describe("a policy for single calls", () => {
  const policies: ReadonlyArray<readonly [string, Partial<RetryPolicy>, number]> = [
    ["how often", { times: 1 }, 2],
    ["how long", { budget: 0 }, 1],
    ["which reasons", { reasons: ["RateLimited", "TimedOut"] }, 1],
    ["which reasons, this among them", { reasons: ["ServerFailure"] }, 1 + RETRY.times]
  ]
  for (const [name, policy, attempts] of policies) {
    it.effect(`sets ${name}, and keeps the rest of the client's policy`, () =>
      Effect.gen(function* () {
        const as = withRetryPolicy(policy)
        assert.strictEqual((yield* run("reads", [status(503)], {}, as)).attempts, attempts)
      })
    )
  }
})

describe("transport failures of real connections", () => {
  const post = Effect.fn(function* (url: string) {
    const send = makeSend(yield* HttpClient.HttpClient, {
      baseUrl: url,
      credential: apiKey("k"),
      isBuffered: true
    })
    const { call } = makeCaller({ retry: { ...RETRY, times: 0 } }, apiKey("k"))
    const sent = send(GatewayApi.groups.videos.endpoints.create)({ payload: { model: "v", prompt: "p" } })
    return yield* Effect.flip(
      call(
        { operation: "videos", repeat: "creations" },
        sendAndDecode(sent, ({ json }) => json)
      )
    )
  })

  it.effect("a refused connection and an unknown host: not executed", () =>
    Effect.gen(function* () {
      for (const url of ["http://127.0.0.1:1", "http://localhost:1", "http://no-such-host.invalid"]) {
        const { reason, notExecuted } = yield* post(url)
        assert.deepStrictEqual([reason._tag, notExecuted], ["Unreachable", true], reason.message)
      }
    }).pipe(Effect.provide(layerTransport()))
  )

  it.effect("closed or reset after the request: may be executed", () =>
    Effect.gen(function* () {
      const { behave, url } = yield* LoopbackGateway
      for (const end of ["destroy", "resetAndDestroy"] as const) {
        behave((_, response, nth) => (nth === 1 ? response.writeHead(503).end() : response.socket?.[end]()))
        for (const tag of ["Unreachable", "ServerFailure", "Unreachable"]) {
          const { reason, notExecuted } = yield* post(url)
          assert.deepStrictEqual([reason._tag, notExecuted ?? false], [tag, false], reason.message)
        }
      }
    }).pipe(Effect.provide([layerTransport({ connections: 1 }), LoopbackGateway.layer]))
  )
})
