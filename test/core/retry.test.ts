import { assert, describe, it } from "@effect/vitest"
import { Gateway, type GatewayError } from "@sluice/core"
import { CurrentRetryPolicy, RETRY } from "@sluice/core/client"
import { TestGateway, type TestGatewayOptions } from "@sluice/core/testing"
import { Duration, Effect, Exit, Stream } from "effect"
import { runWithClock } from "./runWithClock.ts"

type Reply = Response | "silence"

const ok = () => Response.json({ data: [{ id: "m" }] })
const status = (
  code: number,
  headers: Record<string, string> = {},
  body: unknown = { error: { message: "no" } }
) => Response.json(body, { status: code, headers })

/** Calls the gateway, for its models when not told, against these replies, the last one for ever, to its end. */
const run = Effect.fn(function* (
  replies: ReadonlyArray<() => Reply>,
  options: TestGatewayOptions = {},
  call: Effect.Effect<unknown, GatewayError, Gateway> = Gateway.use(({ models }) => models)
) {
  let next = 0
  const respond = () => {
    const reply = replies[Math.min(next++, replies.length - 1)]?.()
    return reply === "silence" ? Effect.never : reply
  }
  return yield* Effect.gen(function* () {
    const { requests } = yield* TestGateway
    const { exit, seconds } = yield* runWithClock(call)
    const error = Exit.isFailure(exit) ? yield* Effect.flip(exit) : undefined
    /** When each attempt began, in milliseconds. */
    const attempts = requests.map(({ at }) => at)
    return { attempts, end: seconds * 1000, reason: error?.reason, retryAfter: error?.retryAfter }
  }).pipe(Effect.provide(TestGateway.layer({ retry: RETRY, respond, ...options })))
})

const within = (actual: number | undefined, low: number, high: number) =>
  assert.isTrue(actual !== undefined && actual >= low && actual <= high, `${actual} in ${low}–${high}`)

describe("retries", () => {
  it.effect("wait about 0.25, 0.5 and 1 s, then give up", () =>
    Effect.gen(function* () {
      const { attempts, reason } = yield* run([() => status(503)])
      assert.strictEqual(attempts.length, 1 + RETRY.times)
      const [first = 0, second = 0, third = 0, fourth = 0] = attempts
      within(second - first, 200, 300)
      within(third - second, 400, 600)
      within(fourth - third, 800, 1200)
      assert.strictEqual(reason?._tag, "ServerFailure")
    })
  )

  it.effect("stop at the first success", () =>
    Effect.gen(function* () {
      const { attempts, reason } = yield* run([() => status(500), () => status(429), ok])
      assert.deepStrictEqual([attempts.length, reason], [3, undefined])
    })
  )

  const waits: ReadonlyArray<readonly [string, Record<string, string>, number]> = [
    ["retry-after-ms", { "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    ["retry-after in seconds", { "retry-after": "7" }, 7000],
    ["retry-after as a date", { "retry-after": "Thu, 01 Jan 1970 00:00:12 GMT" }, 12_000]
  ]
  for (const [name, headers, expected] of waits) {
    it.effect(`wait for ${name}`, () =>
      Effect.gen(function* () {
        const { attempts } = yield* run([() => status(429, headers), ok])
        assert.deepStrictEqual(attempts, [0, expected])
      })
    )
  }

  it.effect("ignore an invalid or past retry-after", () =>
    Effect.gen(function* () {
      for (const value of ["soon", "-5", "NaN", "1e9", "Thu, 01 Jan 1960 00:00:00 GMT"]) {
        const { attempts } = yield* run([() => status(429, { "retry-after": value }), ok])
        within((attempts[1] ?? 0) - (attempts[0] ?? 0), 200, 300)
      }
    })
  )

  it.effect("end if the requested wait exceeds the budget; the error keeps it", () =>
    Effect.gen(function* () {
      const {
        attempts,
        end,
        retryAfter = Duration.zero
      } = yield* run([() => status(429, { "retry-after": "1000000000" }), ok])
      assert.deepStrictEqual([attempts.length, end], [1, 0])
      assert.strictEqual(Duration.toHours(retryAfter), 24)
    })
  )

  it.effect("never exceed the budget", () =>
    Effect.gen(function* () {
      const retry = { times: 99, base: "1 second", cap: "4 seconds", budget: "20 seconds" } as const
      const { attempts } = yield* run([() => status(503)], { retry })
      within(attempts.at(-1), 12_000, 20_000)
      within(attempts.length, 5, 10)
    })
  )

  const never: ReadonlyArray<readonly [string, () => Reply]> = [
    ["a wrong request", () => status(400)],
    ["a wrong key", () => status(401)],
    [
      "a used-up quota, even as 429",
      () => status(429, {}, { error: { message: "no", code: "insufficient_quota" } })
    ],
    [
      "an unknown model, even as 503",
      () => status(503, {}, { error: { message: "no", code: "model_not_found" } })
    ],
    ["x-should-retry: false", () => status(503, { "x-should-retry": "false" })],
    ["an answer that cannot be trusted", () => Response.json({ data: 7 })]
  ]
  for (const [name, reply] of never) {
    it.effect(`are not made for ${name}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* run([reply, ok])).attempts.length, 1)
      })
    )
  }

  it.effect("are made with x-should-retry: true", () =>
    Effect.gen(function* () {
      const { attempts, reason } = yield* run([() => status(409, { "x-should-retry": "true" }), ok])
      assert.deepStrictEqual([attempts.length, reason], [2, undefined])
    })
  )
})

describe("a policy for one stream", () => {
  it.effect("is provided by its reference, and does not change other calls", () =>
    Effect.gen(function* () {
      const ask = { model: "c", messages: [{ role: "user" as const, content: "hello" }] }
      const stream = Stream.unwrap(Gateway.use((gateway) => Effect.succeed(gateway.chatStream(ask))))
      const once = Stream.provideService(stream, CurrentRetryPolicy, { times: 0 })
      const attempts = [stream, once].map((stream) =>
        Effect.map(run([() => status(503)], {}, Stream.runDrain(stream)), ({ attempts }) => attempts.length)
      )
      assert.deepStrictEqual(yield* Effect.all(attempts), [1 + RETRY.times, 1])
    })
  )
})

describe("time-outs", () => {
  it.effect("an attempt without a response times out and is repeated", () =>
    Effect.gen(function* () {
      const { attempts, reason } = yield* run([() => "silence", ok], { attemptTimeout: "10 seconds" })
      assert.strictEqual(reason, undefined)
      within(attempts[1], 10_200, 10_300)
    })
  )

  it.effect("an attempt whose body stalls times out", () =>
    Effect.gen(function* () {
      const stalling = () =>
        new Response(
          new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode('{"data')) })
        )
      const { reason } = yield* run([stalling], {
        attemptTimeout: "10 seconds",
        retry: { ...RETRY, times: 0 }
      })
      assert.strictEqual(reason?._tag === "TimedOut" && reason.scope, "attempt")
    })
  )

  it.effect("the call's time-out covers attempts and delays", () =>
    Effect.gen(function* () {
      const { end, reason } = yield* run([() => "silence"], {
        attemptTimeout: "10 seconds",
        callTimeout: "25 seconds"
      })
      assert.strictEqual(reason?._tag === "TimedOut" && reason.scope, "call")
      assert.deepStrictEqual([end, reason?.isRetryable], [25_000, false])
    })
  )

  it.effect("a wait beyond the call's time-out ends it with the original error", () =>
    Effect.gen(function* () {
      const { end, reason } = yield* run([() => status(429, { "retry-after": "5" })], {
        callTimeout: "2 seconds"
      })
      assert.deepStrictEqual([reason?._tag, end], ["RateLimited", 0])
    })
  )
})
