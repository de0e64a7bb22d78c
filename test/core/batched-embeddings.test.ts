import type { ServerResponse } from "node:http"
import { assert, layer as describeLayer } from "@effect/vitest"
import { apiKey, Embedder, Gateway, GatewayEmbedder, RETRY_NEVER, withRetryPolicy } from "@sluice/core"
import { BatchedEmbeddings, GatewayClient } from "@sluice/core/client"
import { Effect, Exit, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { type Behaviour, embed, json, LoopbackGateway, model, refuse } from "./LoopbackGateway.ts"

const batched = (
  options: BatchedEmbeddings.BatchedEmbeddingsOptions = {},
  clientOptions: Partial<GatewayClient.GatewayClientOptions> = {}
) =>
  Layer.unwrap(
    Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
      Layer.provide(
        BatchedEmbeddings.layer(options),
        GatewayClient.layer({ baseUrl, apiKey: apiKey("k"), retry: RETRY_NEVER, ...clientOptions })
      )
    )
  )

const embeddings = (input: ReadonlyArray<string>, name = "e") =>
  Gateway.use((gateway) => gateway.embeddings({ model: name, input }))

const behave = (behaviour: Behaviour) =>
  LoopbackGateway.use((loopback) => Effect.sync(() => loopback.behave(behaviour)))
const inputs = Effect.map(LoopbackGateway, ({ seen }) => seen.map(({ body }) => body.input))

const start = <A, E, R>(calls: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.forEach(calls, (call) => Effect.forkChild(call, { startImmediately: true }))
const join = <A, E>(fibers: ReadonlyArray<Fiber.Fiber<A, E>>) =>
  Effect.forEach(fibers, (fiber) => Effect.result(Fiber.join(fiber)))

/** Runs calls side by side and lets the window pass: what became of each, and the texts of each request. */
const together = <A, E, R>(calls: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.gen(function* () {
    const fibers = yield* start(calls)
    yield* TestClock.adjust(BatchedEmbeddings.WINDOW)
    return { results: yield* join(fibers), sent: yield* inputs }
  })

const vectors = (texts: ReadonlyArray<string>) => texts.map(embed)

describeLayer(LoopbackGateway.layer)("BatchedEmbeddings", (it) => {
  it.effect("merges the calls of one window, and returns each its own vectors in order", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const texts = Array.from({ length: 30 }, (_, i) => [
        `refund ${i}`,
        `the boiler of house ${i}, a longer text`
      ])
      const { results, sent } = yield* together(texts.map((input) => embeddings(input)))
      assert.deepStrictEqual(sent, [texts.flat()])
      const answers = results.map((result) => Result.getOrThrow(result))
      for (const [i, answer] of answers.entries())
        assert.deepStrictEqual(answer.vectors, vectors(texts[i] ?? []))
      const tokens = answers.map(({ tokens }) => tokens)
      assert.strictEqual(
        tokens.reduce((sum, count) => sum + count),
        60,
        "no token is lost or invented"
      )
      yield* behave(model)
      const shares = yield* together([embeddings(["aaa"]), embeddings(["bbb", "ccc", "ddd"])])
      assert.deepStrictEqual(
        shares.results.map((result) => Result.getOrThrow(result).tokens),
        [1, 3],
        "shares follow the texts"
      )
    }).pipe(Effect.provide(batched()))
  )

  it.effect("does not merge calls whose `extra` differs", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const calls = [256, 256, 512, undefined].map((dimensions) =>
        Gateway.use((gateway) =>
          gateway.embeddings({ model: "e", input: ["a"], ...(dimensions && { extra: { dimensions } }) })
        )
      )
      const { sent } = yield* together(calls)
      assert.deepStrictEqual(sent.toSorted(), [["a"], ["a"], ["a", "a"]])
    }).pipe(Effect.provide(batched()))
  )

  it.effect("returns `extra` to every caller", () =>
    Effect.gen(function* () {
      yield* behave(({ body }, response) => {
        const data = body.input.map((_, index) => ({ index, embedding: [1, 2] }))
        json(response, { data, usage: { total_tokens: 2 }, region: "north" })
      })
      const { results } = yield* together([embeddings(["a"]), embeddings(["b"])])
      for (const result of results) {
        assert.deepStrictEqual(Result.getOrThrow(result).extra, [{ region: "north" }])
      }
    }).pipe(Effect.provide(batched()))
  )

  it.effect("waits for the window from the first call on", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const early = yield* start([embeddings(["first"])])
      yield* TestClock.adjust("15 millis")
      const late = yield* start([embeddings(["second"])])
      yield* TestClock.adjust("5 millis")
      const tooLate = yield* start([embeddings(["third"])])
      yield* TestClock.adjust("20 millis")
      const results = yield* join([...early, ...late, ...tooLate])
      assert.isTrue(results.every(Result.isSuccess))
      assert.sameDeepMembers([...(yield* inputs)], [["first", "second"], ["third"]])
    }).pipe(Effect.provide(batched({ window: "20 millis" })))
  )

  it.effect("closes the window when a limit is reached", () =>
    Effect.gen(function* () {
      yield* behave(model)
      // The clock stands still: whatever waited for it would wait for ever.
      yield* join(yield* start(["a", "b", "c", "d"].map((text) => embeddings([text]))))
      assert.deepStrictEqual(yield* inputs, [["a", "b", "c", "d"]])
      yield* behave(model)
      const long = "é".repeat(20)
      yield* join(yield* start([embeddings([long]), embeddings([long])]))
      assert.deepStrictEqual(yield* inputs, [[long], [long]], "80 bytes are two requests of at most 70")
    }).pipe(Effect.provide(batched({ texts: 4, bytes: 70 })))
  )

  it.effect("never splits a call", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const { sent } = yield* together([embeddings(["a", "b", "c"]), embeddings(["d", "e"])])
      assert.sameDeepMembers(
        [...sent],
        [
          ["a", "b", "c"],
          ["d", "e"]
        ]
      )
      yield* behave(model)
      yield* embeddings(["a", "b", "c", "d", "e"])
      assert.deepStrictEqual(yield* inputs, [["a", "b", "c", "d", "e"]])
    }).pipe(Effect.provide(batched({ texts: 4 })))
  )

  it.effect("sends nothing for a call without texts", () =>
    Effect.gen(function* () {
      yield* behave(model)
      assert.deepStrictEqual(yield* embeddings([]), { vectors: [], tokens: 0 })
      assert.deepStrictEqual(yield* inputs, [])
    }).pipe(Effect.provide(batched()))
  )

  it.effect("does not merge calls with different models or retry policies", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const { sent } = yield* together([
        embeddings(["a"]),
        embeddings(["b"], "other"),
        embeddings(["c"]),
        embeddings(["d"]).pipe(withRetryPolicy({ times: 2 })),
        embeddings(["e"]).pipe(withRetryPolicy({ times: 2 }))
      ])
      assert.sameDeepMembers([...sent], [["a", "c"], ["b"], ["d", "e"]])
    }).pipe(Effect.provide(batched()))
  )

  it.effect("isolates the caller whose text is refused", () =>
    Effect.gen(function* () {
      yield* behave((seen, response, nth) =>
        seen.body.input.includes("bad")
          ? json(response, { error: { message: "input[0] is bad", param: "input" } }, 400)
          : model(seen, response, nth)
      )
      const { results, sent } = yield* together(["a", "b", "bad", "d"].map((text) => embeddings([text])))
      assert.deepStrictEqual(
        results.map((result) =>
          Result.isSuccess(result) ? result.success.vectors : result.failure.reason._tag
        ),
        [vectors(["a"]), vectors(["b"]), "InvalidRequest", vectors(["d"])]
      )
      assert.deepStrictEqual(sent, [["a", "b", "bad", "d"], ["a", "b"], ["bad", "d"], ["bad"], ["d"]])
    }).pipe(Effect.provide(batched()))
  )

  it.effect("returns any other failure to every caller after one request", () =>
    Effect.gen(function* () {
      yield* behave(refuse(401, { error: { message: "no such key" } }))
      const { results, sent } = yield* together([embeddings(["a"]), embeddings(["b"])])
      for (const result of results) {
        assert.isTrue(Result.isFailure(result) && result.failure.reason._tag === "Unauthorized")
      }
      assert.strictEqual(sent.length, 1)
    }).pipe(Effect.provide(batched()))
  )

  it.effect("divides a partial failure among the callers", () =>
    Effect.gen(function* () {
      yield* behave((seen, response, nth) =>
        seen.body.input.includes("c") ? json(response, {}, 500) : model(seen, response, nth)
      )
      const { results } = yield* together([
        embeddings(["a", "b", "c"]),
        embeddings(["d"]),
        embeddings(["x", "y"])
      ])
      const [first, second, third] = results
      const partial = first !== undefined && Result.isFailure(first) ? first.failure.reason : undefined
      assert.isTrue(partial?._tag === "PartialFailure")
      if (partial?._tag !== "PartialFailure") return
      assert.deepStrictEqual(partial.failed, [2])
      assert.deepStrictEqual(
        [...partial.kept],
        [
          [0, embed("a")],
          [1, embed("b")]
        ]
      )
      assert.isTrue(
        second !== undefined && Result.isFailure(second) && second.failure.reason._tag === "ServerFailure"
      )
      assert.deepStrictEqual(
        third !== undefined && Result.isSuccess(third) && third.success.vectors,
        vectors(["x", "y"])
      )
    }).pipe(Effect.provide(batched({}, { embeddings: { texts: 2, concurrency: 1 } })))
  )

  it.effect("drops a caller that is interrupted before the window closes", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const [gone, stays] = yield* start([embeddings(["a"]), embeddings(["b"])])
      if (gone === undefined || stays === undefined) return yield* Effect.die("two were started")
      yield* Fiber.interrupt(gone)
      yield* TestClock.adjust(BatchedEmbeddings.WINDOW)
      assert.deepStrictEqual((yield* Fiber.join(stays)).vectors, vectors(["b"]))
      assert.deepStrictEqual(yield* inputs, [["b"]])
    }).pipe(Effect.provide(batched()))
  )

  it.effect("interrupts the request only if all its callers are interrupted", () =>
    Effect.gen(function* () {
      for (const leaving of ["one", "all"] as const) {
        const held = Promise.withResolvers<() => void>()
        const closed = Promise.withResolvers<ServerResponse>()
        yield* behave((seen, response, nth) => {
          response.once("close", () => closed.resolve(response))
          held.resolve(() => model(seen, response, nth))
        })
        const [first, second] = yield* start([embeddings(["a"]), embeddings(["b"])])
        if (first === undefined || second === undefined) return yield* Effect.die("two were started")
        yield* TestClock.adjust(BatchedEmbeddings.WINDOW)
        const answer = yield* Effect.promise(() => held.promise)
        assert.isTrue(Exit.hasInterrupts(yield* Effect.andThen(Fiber.interrupt(first), Fiber.await(first))))
        if (leaving === "one") {
          answer()
          assert.deepStrictEqual((yield* Fiber.join(second)).vectors, vectors(["b"]))
        } else yield* Fiber.interrupt(second)
        const { writableFinished } = yield* Effect.promise(() => closed.promise)
        assert.strictEqual(writableFinished, leaving === "one", "unanswered, the connection was given up")
      }
    }).pipe(Effect.provide(batched()))
  )

  it.effect("serves a GatewayEmbedder", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const one = (text: string) => Embedder.use((embedder) => embedder.embed([text], "query"))
      const { results, sent } = yield* together([one("first boiler"), one("second boiler")])
      assert.isTrue(results.every(Result.isSuccess))
      assert.deepStrictEqual(sent, [["first boiler", "second boiler"]])
    }).pipe(Effect.provide(Layer.provide(GatewayEmbedder.layer({ model: "e" }), batched())))
  )
})
