import { assert, describe, it } from "@effect/vitest"
import { Gateway, type GatewayError } from "@sluice/core"
import {
  RETRY,
  layerCircuitBreaker,
  layerRateLimit,
  type CircuitBreakerOptions,
  type RateLimitOptions
} from "@sluice/core/client"
import { TestGateway, type TestGatewayOptions, type TestRequest } from "@sluice/core/testing"
import { Duration, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { runWithClock } from "./runWithClock.ts"

const fine = () => Response.json({ choices: [{ message: { content: "hi" } }] })
const down = () => new Response(null, { status: 503 })

/** A gateway of which the test says whether it works, behind these guards; and when each attempt reached it. */
const guarded = (guards: Layer.Layer<never>, options: TestGatewayOptions = {}) => {
  const gateway = { reply: fine as () => Response | "silence", reached: [] as Array<number> }
  const respond = ({ at }: TestRequest) => {
    gateway.reached.push(at)
    const reply = gateway.reply()
    return reply === "silence" ? Effect.never : reply
  }
  return { gateway, client: TestGateway.layer({ respond, ...options }).pipe(Layer.provide(guards)) }
}

const ask = (model = "m") =>
  Gateway.use((gateway) => gateway.chat({ model, messages: [{ role: "user", content: "hello" }] }))

const failing = <R>(call: Effect.Effect<unknown, GatewayError, R>) => Effect.flip(call)

describe("the circuit breaker", () => {
  const open = (options: CircuitBreakerOptions, client?: TestGatewayOptions) =>
    guarded(layerCircuitBreaker({ failures: 3, open: "10 seconds", ...options }), client)

  it.effect("opens after consecutive failures, refuses calls, then lets one try", () => {
    const { client, gateway } = open({})
    return Effect.gen(function* () {
      gateway.reply = down
      yield* failing(ask())
      yield* failing(ask())
      gateway.reply = fine
      yield* ask()
      gateway.reply = down
      for (let i = 0; i < 3; i++) yield* failing(ask())
      assert.strictEqual(gateway.reached.length, 6)

      yield* TestClock.adjust("4 seconds")
      const refused = yield* failing(ask())
      assert.strictEqual(gateway.reached.length, 6)
      assert.deepStrictEqual(
        [refused.reason._tag, refused.notExecuted, refused.attempt],
        ["ServerFailure", true, undefined]
      )
      assert.strictEqual(Duration.toMillis(refused.retryAfter ?? 0), 6001)
      assert.include(refused.message, "circuit breaker")

      yield* TestClock.adjust("6 seconds")
      yield* failing(ask())
      assert.strictEqual(gateway.reached.length, 7)
      yield* failing(ask())
      assert.strictEqual(gateway.reached.length, 7)

      yield* TestClock.adjust("10 seconds")
      gateway.reply = fine
      yield* Effect.all([ask(), Effect.exit(ask())], { concurrency: 2 })
      yield* ask()
      assert.isAtLeast(gateway.reached.length, 9)
    }).pipe(Effect.provide(client))
  })

  it.effect("counts time-outs, but not refusals", () => {
    const { client, gateway } = open({ failures: 2 }, { attemptTimeout: "5 seconds" })
    return Effect.gen(function* () {
      for (const status of [400, 401, 403, 404, 429]) {
        gateway.reply = () => new Response(null, { status })
        yield* failing(ask())
      }
      assert.strictEqual(gateway.reached.length, 5)
      gateway.reply = () => "silence"
      for (let i = 0; i < 2; i++) {
        const { exit } = yield* runWithClock(ask())
        assert.strictEqual((yield* Effect.flip(exit)).reason._tag, "TimedOut")
      }
      assert.strictEqual((yield* failing(ask())).notExecuted, true)
      assert.strictEqual(gateway.reached.length, 7)
    }).pipe(Effect.provide(client))
  })

  it.effect("counts invalid responses", () => {
    const { client, gateway } = open({ failures: 2 })
    return Effect.gen(function* () {
      gateway.reply = () => new Response("<html>Sign in</html>")
      for (let i = 0; i < 2; i++) {
        assert.strictEqual((yield* failing(ask())).reason._tag, "InvalidResponse")
      }
      assert.strictEqual((yield* failing(ask())).notExecuted, true)
      assert.strictEqual(gateway.reached.length, 2)
    }).pipe(Effect.provide(client))
  })

  it.effect("stays open as long as the gateway asks, up to a limit", () => {
    const { client, gateway } = open({ failures: 1 })
    return Effect.gen(function* () {
      gateway.reply = () => new Response(null, { status: 503, headers: { "retry-after": "60" } })
      yield* failing(ask())
      assert.strictEqual(Duration.toMillis((yield* failing(ask())).retryAfter ?? 0), 60_001)
      yield* TestClock.adjust("1 minute")
      gateway.reply = () => new Response(null, { status: 503, headers: { "retry-after": "999999999" } })
      yield* failing(ask())
      assert.strictEqual(Duration.toMillis((yield* failing(ask())).retryAfter ?? 0), 300_001)
    }).pipe(Effect.provide(client))
  })

  it.effect("has one circuit for all models, or one for each", () =>
    Effect.gen(function* () {
      for (const [by, reached] of [
        ["gateway", 1],
        ["model", 2]
      ] as const) {
        const { client, gateway } = open({ failures: 1, by })
        gateway.reply = down
        yield* Effect.andThen(failing(ask("a")), failing(ask("b"))).pipe(Effect.provide(client))
        assert.strictEqual(gateway.reached.length, reached)
      }
    })
  )

  it.effect("is not closed by attempts that the client refused", () => {
    const limit = layerRateLimit({ limit: 1, window: "40 seconds", beyond: "fail" })
    const guards = Layer.merge(limit, layerCircuitBreaker({ failures: 2, open: "10 seconds" }))
    const { client, gateway } = guarded(guards)
    return Effect.gen(function* () {
      gateway.reply = down
      yield* failing(ask())
      yield* TestClock.adjust("40 seconds")
      yield* failing(ask())
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* failing(ask())).reason._tag, "RateLimited")
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* failing(ask(""))).reason._tag, "InvalidRequest")
      yield* TestClock.adjust("40 seconds")
      // Still one that tries: it fails, and the circuit is open again.
      assert.strictEqual((yield* failing(ask())).reason._tag, "ServerFailure")
      assert.match((yield* failing(ask())).reason.message, /not called for now/)
      assert.deepStrictEqual(gateway.reached, [0, 40_000, 120_000])
    }).pipe(Effect.provide(client))
  })

  it.effect("is waited for by the retry policy within its budget", () => {
    const { client, gateway } = open({ failures: 2 }, { retry: RETRY })
    return Effect.gen(function* () {
      const replies = [down, down, fine]
      gateway.reply = () => (replies.shift() ?? fine)()
      const { exit } = yield* runWithClock(ask())
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(gateway.reached.length, 3)
      assert.isAtLeast(gateway.reached[2] ?? 0, 10_000)
    }).pipe(Effect.provide(client))
  })
})

describe("the rate limiter", () => {
  const limited = (options: Partial<RateLimitOptions>, client?: TestGatewayOptions) =>
    guarded(layerRateLimit({ limit: 4, window: "8 seconds", ...options }), client)

  it.effect("allows a burst, then one call for each refilled token", () => {
    const { client, gateway } = limited({})
    return Effect.gen(function* () {
      const calls = Array.from({ length: 7 }, () => ask())
      const { exit } = yield* runWithClock(Effect.all(calls, { concurrency: "unbounded" }))
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(gateway.reached, [0, 0, 0, 0, 2000, 4000, 6000])
    }).pipe(Effect.provide(client))
  })

  it.effect("can fail with the remaining wait instead of waiting", () => {
    const { client, gateway } = limited({ beyond: "fail", limit: 1 })
    return Effect.gen(function* () {
      yield* ask()
      const error = yield* failing(ask())
      assert.deepStrictEqual([error.reason._tag, error.notExecuted], ["RateLimited", true])
      assert.strictEqual(Duration.toSeconds(error.retryAfter ?? 0), 8)
      assert.strictEqual(gateway.reached.length, 1)
    }).pipe(Effect.provide(client))
  })

  it.effect("limits every attempt; waiting counts for the call's time-out only", () => {
    const { client, gateway } = limited(
      { limit: 1, window: "20 seconds" },
      { retry: RETRY, attemptTimeout: "5 seconds", callTimeout: "30 seconds" }
    )
    return Effect.gen(function* () {
      gateway.reply = down
      const { exit } = yield* runWithClock(ask())
      assert.deepStrictEqual(gateway.reached, [0, 20_000])
      assert.isTrue(Exit.isFailure(exit))
      const { attempt, reason } = yield* Effect.flip(exit)
      assert.deepStrictEqual([reason._tag === "TimedOut" && reason.scope, attempt], ["call", 2])
    }).pipe(Effect.provide(client))
  })

  it.effect("uses no token for attempts that the breaker refuses", () => {
    const guards = Layer.merge(layerRateLimit({ limit: 2 }), layerCircuitBreaker({ failures: 1 }))
    const { client, gateway } = guarded(guards)
    return Effect.gen(function* () {
      gateway.reply = down
      for (let i = 0; i < 5; i++) yield* failing(ask())
      yield* TestClock.adjust("10 seconds")
      gateway.reply = fine
      yield* ask()
      assert.deepStrictEqual(gateway.reached, [0, 10_000])
    }).pipe(Effect.provide(client))
  })
})
