/** The order of providers, and the circuit of each. */
import { assert, describe, it } from "@effect/vitest"
import { GatewayError, InvalidRequest, RateLimited, ServerFailure } from "@sluice/core"
import type { RerankRequest, RerankResponse } from "@sluice/core/contract"
import { Deferred, Duration, Effect, Random } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { TestClock } from "effect/testing"
import { makeCircuitGuards } from "../../apps/demo-server/src/routing/ProviderCircuits.ts"
import type { CircuitGuard, Operation, Provider } from "../../apps/demo-server/src/routing/Provider.ts"
import { route } from "../../apps/demo-server/src/routing/Providers.ts"

type Rerank = Operation<RerankRequest, RerankResponse>

const provider = (
  id: string,
  rerank: Rerank,
  share: { readonly priority?: number; readonly weight?: number } = {},
  guard?: CircuitGuard
): Provider => ({
  id,
  models: [{ id: "m", operation: "rerank", ...share }],
  operations: { rerank },
  ...(guard && { guard })
})

const answering =
  (id: string): Rerank =>
  () =>
    Effect.succeed({ results: [], model: id })

const failing =
  (status: number): Rerank =>
  () =>
    Effect.fail(
      new GatewayError({
        operation: "rerank",
        attempt: 1,
        reason:
          status < 500
            ? new InvalidRequest({ message: "refused" })
            : new ServerFailure({ message: "broken", status })
      })
    )

const call = {
  request: { model: "m", query: "q", documents: ["d"] },
  body: "{}",
  user: "u",
  origin: "http://localhost"
}

/** The id of the provider that answers. */
const ask = (providers: ReadonlyArray<Provider>) =>
  route(providers, "rerank", ({ rerank }) => rerank, "m").pipe(
    Effect.flatMap((operate) => operate(call)),
    Effect.map((answer) => ("model" in answer ? answer.model : undefined))
  )

describe("the order of providers", () => {
  it.effect("shares calls of one priority by weight, and leaves out later priorities", () =>
    Effect.gen(function* () {
      const providers = [
        provider("later", answering("later"), { priority: 2, weight: 1000 }),
        provider("three", answering("three"), { priority: 1, weight: 3 }),
        provider("one", answering("one"), { priority: 1 })
      ]
      const answers = yield* Effect.replicateEffect(ask(providers), 2000).pipe(Random.withSeed("shares"))
      const count = (id: string) => answers.filter((one) => one === id).length
      assert.strictEqual(count("later"), 0)
      assert.strictEqual(count("one") + count("three"), 2000)
      // 1,500 expected; the standard deviation is 19.
      assert.isTrue(Math.abs(count("three") - 1500) < 80, `${count("three")} of 2,000`)
    })
  )

  it.effect("tries the same priority before the next one after a failure", () =>
    Effect.gen(function* () {
      const providers = [
        provider("c", answering("c"), { priority: 3 }),
        provider("a", failing(503)),
        provider("b", failing(500)),
        provider("d", answering("d"), { priority: 2 })
      ]
      assert.strictEqual(yield* ask(providers), "d")
    })
  )
})

describe("the circuit of a provider", () => {
  const health = makeCircuitGuards({ failures: 3, openSeconds: 10 })
  const store = Effect.provide(CircuitBreaker.layerStoreMemory())

  it.effect("opens after consecutive failures, and closes after a success", () =>
    Effect.gen(function* () {
      const guardOf = yield* health
      let asked = 0
      let works = false
      const flaky: Rerank = (call) =>
        Effect.suspend(() => {
          asked++
          return works ? answering("first")(call) : failing(503)(call)
        })
      const providers = [
        provider("first", flaky, { priority: 1 }, guardOf("first", "http://first")),
        provider("second", answering("second"), { priority: 2 }, guardOf("second", "http://second"))
      ]
      for (let at = 0; at < 10; at++) assert.strictEqual(yield* ask(providers), "second")
      assert.strictEqual(asked, 3)

      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(yield* ask(providers), "second")
      assert.strictEqual(asked, 3)

      yield* TestClock.adjust("1 second")
      works = true
      assert.strictEqual(yield* ask(providers), "first")
      assert.strictEqual(yield* ask(providers), "first")
      assert.strictEqual(asked, 5)
    }).pipe(store)
  )

  it.effect("reports when to retry if it is open, and is not opened by rejections", () =>
    Effect.gen(function* () {
      const guardOf = yield* health
      const broken = [provider("only", failing(500), {}, guardOf("only", "http://only"))]
      for (let at = 0; at < 3; at++) {
        assert.strictEqual((yield* Effect.flip(ask(broken))).reason._tag, "ServerFailure")
      }
      yield* TestClock.adjust("4 seconds")
      const { reason, retryAfter, notExecuted } = yield* Effect.flip(ask(broken))
      assert.strictEqual(reason._tag === "ServerFailure" && reason.status, 503)
      assert.strictEqual(notExecuted, true)
      assert.strictEqual(Math.floor(Duration.toSeconds(retryAfter ?? Duration.zero)), 6)

      const refusing = [provider("strict", failing(400), {}, guardOf("strict", "http://strict"))]
      for (let at = 0; at < 10; at++) {
        assert.strictEqual((yield* Effect.flip(ask(refusing))).reason._tag, "InvalidRequest")
      }

      // An error with status 200 and without a code.
      const unclassified = new ServerFailure({ message: "no", status: 200, final: true })
      const failed = Effect.fail(new GatewayError({ operation: "rerank", reason: unclassified }))
      const vague = [provider("vague", () => failed, {}, guardOf("vague", "http://vague"))]
      for (let at = 0; at < 10; at++) {
        assert.strictEqual((yield* Effect.flip(ask(vague))).reason, unclassified)
      }
    }).pipe(store)
  )

  const broken = new GatewayError({
    operation: "rerank",
    reason: new ServerFailure({ message: "broken", status: 503 })
  })

  /** Starts a call that runs until the test ends it. `passed`: whether the guard let it through. */
  const startCall = Effect.fnUntraced(function* (guard: CircuitGuard["around"]) {
    const end = yield* Deferred.make<void, GatewayError>()
    let passed = false
    const asked = Effect.suspend(() => {
      passed = true
      return Deferred.await(end)
    })
    yield* Effect.forkChild(Effect.exit(guard(asked)), { startImmediately: true })
    return {
      passed,
      succeed: Effect.andThen(Deferred.succeed(end, undefined), Effect.yieldNow),
      fail: Effect.andThen(Deferred.fail(end, broken), Effect.yieldNow)
    }
  })
  const several = (guard: CircuitGuard["around"], count: number) =>
    Effect.replicateEffect(startCall(guard), count)

  it.effect("is opened by failures of calls that started before the first success", () =>
    Effect.gen(function* () {
      const { around: guard } = (yield* health)("one", "http://one")
      const [first, ...others] = yield* several(guard, 4)
      yield* first?.succeed ?? Effect.void
      for (const { fail } of others) yield* fail
      assert.isFalse((yield* startCall(guard)).passed)
    }).pipe(store)
  )

  it.effect("is not opened again by calls that started before it was opened", () =>
    Effect.gen(function* () {
      const { around: guard } = (yield* health)("one", "http://one")
      yield* (yield* startCall(guard)).succeed
      const hanging = yield* several(guard, 3)
      for (const { fail } of yield* several(guard, 3)) yield* fail
      assert.isFalse((yield* startCall(guard)).passed)
      yield* TestClock.adjust("10 seconds")
      yield* (yield* startCall(guard)).succeed
      for (const { fail } of hanging) yield* fail
      assert.isTrue((yield* startCall(guard)).passed)
    }).pipe(store)
  )
})

describe("a provider that answers 429", () => {
  const limited =
    (retryAfter = Duration.seconds(30)): Rerank =>
    () =>
      Effect.fail(
        new GatewayError({
          operation: "rerank",
          attempt: 1,
          notExecuted: true,
          reason: new RateLimited({ message: "too many", retryAfter })
        })
      )

  it.effect("is asked last until its retry-after has passed", () =>
    Effect.gen(function* () {
      let calls = 0
      let isLimited = true
      const first: Rerank = (call) => {
        calls++
        return isLimited ? limited()(call) : answering("first")(call)
      }
      const providers = [provider("first", first), provider("second", answering("second"), { priority: 2 })]
      assert.strictEqual(yield* ask(providers), "second")
      assert.strictEqual(yield* ask(providers), "second")
      assert.strictEqual(calls, 1)
      isLimited = false
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* ask(providers), "first")
    })
  )

  it.effect("is asked all the same if no other answers", () =>
    Effect.gen(function* () {
      let isLimited = true
      const first: Rerank = (call) => (isLimited ? limited()(call) : answering("first")(call))
      const providers = [provider("first", first), provider("second", failing(503), { priority: 2 })]
      const error = yield* Effect.flip(ask(providers))
      assert.strictEqual(error.reason._tag, "RateLimited")
      isLimited = false
      assert.strictEqual(yield* ask(providers), "first")
    })
  )

  it.effect("is asked first again after ten minutes, however long its retry-after is", () =>
    Effect.gen(function* () {
      let isLimited = true
      const first: Rerank = (call) =>
        isLimited ? limited(Duration.days(365))(call) : answering("first")(call)
      const providers = [provider("first", first), provider("second", answering("second"), { priority: 2 })]
      assert.strictEqual(yield* ask(providers), "second")
      isLimited = false
      assert.strictEqual(yield* ask(providers), "second")
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* ask(providers), "first")
    })
  )

  it.effect("is asked if it is the only one", () =>
    Effect.gen(function* () {
      let calls = 0
      const only: Rerank = (call) => {
        calls++
        return limited()(call)
      }
      const providers = [provider("only", only)]
      yield* Effect.flip(ask(providers))
      yield* Effect.flip(ask(providers))
      assert.strictEqual(calls, 2)
    })
  )
})
