import { assert, describe, it, layer } from "@effect/vitest"
import { Account, apiKey, type ChatPart, Gateway, type PartialFailure } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { ConfigProvider, Deferred, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import {
  ask,
  behaving,
  chat,
  chatStream,
  Clients,
  embedTwo,
  KEY,
  once,
  reasonOf,
  rerankThree
} from "./Clients.ts"
import {
  type Behaviour,
  delta,
  embed,
  events,
  json,
  LoopbackGateway,
  model,
  openAi,
  refuse,
  scores,
  vectors
} from "./LoopbackGateway.ts"

layer(Clients)("the client", (it) => {
  it.effect("a truncated response is Unreachable and retryable", () =>
    Effect.gen(function* () {
      const calls = { "application/json": chat, "text/event-stream": chatStream }
      for (const [type, effect] of Object.entries(calls)) {
        const broken: Behaviour = (_, response) => {
          response.writeHead(200, { "content-type": type, "content-length": 5000 })
          response.write(`data: ${JSON.stringify(delta("a"))}\n\n`, () => response.destroy())
        }
        const reason = yield* behaving(broken, reasonOf<unknown, Gateway>(effect))
        assert.deepStrictEqual([reason._tag, reason.isRetryable], ["Unreachable", true], reason.message)
      }
      const short = yield* behaving((_, response) => events(response, [delta("a")]), reasonOf(chatStream))
      const unended = yield* behaving((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end(`data: ${JSON.stringify(delta("a"))}\n\ndata: [DONE]`)
      }, chatStream)
      assert.deepStrictEqual(unended.at(-1)?.type, "end")
      const cut = yield* behaving((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end(`data: ${JSON.stringify(delta("a"))}\n\ndata: {"choices":[{"del`)
      }, reasonOf(chatStream))
      assert.strictEqual(cut._tag, "Unreachable")
      assert.strictEqual(short._tag, "Unreachable")
    })
  )

  it.effect("accepts float vectors in place of base64, and sorts them by index", () =>
    Effect.gen(function* () {
      const { vectors: got } = yield* behaving(vectors([1, [3, 4]], [0, "AAAAPwAAgL8="]), embedTwo)
      assert.deepStrictEqual(got, [Float32Array.of(0.5, -1), Float32Array.of(3, 4)])
    })
  )

  it.effect("splits texts by count and by bytes, and keeps their order", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      behave(model)
      const input = ["alpha", "beta", "gamma", "delta", "x".repeat(100), "zeta words", "etaé".repeat(9)]
      const answer = yield* (yield* Gateway).embeddings({ model: "e", input })
      assert.deepStrictEqual(answer, { vectors: input.map(embed), tokens: 7 })
      const sizes = seen.map(({ body }) => body.input.length).toSorted()
      assert.deepStrictEqual(sizes, [1, 1, 1, 1, 3])
      assert.isTrue(seen.every(({ body }) => body.encoding_format === "base64"))
    })
  )

  it.effect("keeps the vectors of successful requests if one fails", () =>
    Effect.gen(function* () {
      const input = Array.from({ length: 8 }, (_, i) => `text${i}`)
      const failing: Behaviour = (seen, response, nth) =>
        seen.body.input.includes("text4") ? json(response, openAi({}), 500) : model(seen, response, nth)
      const reason = (yield* behaving(
        failing,
        reasonOf(Gateway.use((gateway) => gateway.embeddings({ model: "e", input })))
      )) as PartialFailure
      assert.strictEqual(reason._tag, "PartialFailure")
      assert.deepStrictEqual(reason.failed, [3, 4, 5])
      assert.deepStrictEqual([...reason.kept.keys()], [0, 1, 2, 6, 7])
      assert.deepStrictEqual(reason.kept.get(6), embed("text6"))
      assert.deepStrictEqual([reason.first._tag, reason.isRetryable], ["ServerFailure", true])
    })
  )

  it.effect("an interruption aborts the request, before the response and during a stream", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const gone = yield* Deferred.make<void>()
      const arrived = yield* Deferred.make<void>()
      behave((_, response) => {
        response.on("close", () => Deferred.doneUnsafe(gone, Exit.void))
        Deferred.doneUnsafe(arrived, Exit.void)
      })
      const fiber = yield* Effect.forkChild(chat)
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(gone)

      const cut = yield* Deferred.make<void>()
      behave((_, response) => {
        response.on("close", () => Deferred.doneUnsafe(cut, Exit.void))
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(`: keep-alive\n\ndata: ${JSON.stringify(delta("He"))}\n\n`)
      })
      const first = yield* Gateway.use((gateway) => Stream.runHead(gateway.chatStream(ask)))
      assert.deepStrictEqual(first, Option.some({ type: "text", text: "He" }))
      yield* Deferred.await(cut)
      behave(model)
    })
  )

  it.effect("sends no further request after a refusal that all share", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const input = Array.from({ length: 60 }, (_, i) => `text${i}`)
      const sent = yield* behaving(
        refuse(401, openAi({})),
        Effect.gen(function* () {
          const reason = yield* reasonOf((yield* Gateway).embeddings({ model: "e", input }))
          assert.strictEqual(reason._tag, "Unauthorized")
          return seen.length
        })
      )
      assert.isAtMost(sent, 2)
    })
  )

  it.effect("sorts results, keeps the order of ties, and caps `top_n`", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const unsorted = scores([2, 0.1], [1, 0.7], [0, 0.1])
      const check = (topN: number | undefined, expected: ReadonlyArray<number>) =>
        behaving(
          unsorted,
          Effect.gen(function* () {
            const { results } = yield* rerankThree(topN)
            assert.deepStrictEqual(
              results.map(({ index }) => index),
              expected
            )
            return seen.map(({ body }) => body.top_n)
          })
        )
      assert.deepStrictEqual(yield* check(undefined, [1, 0, 2]), [3])
      assert.deepStrictEqual(yield* check(99, [1, 0, 2]), [3])
      assert.deepStrictEqual(yield* check(1, [1]), [1])
      assert.deepStrictEqual(yield* check(0, []), [])
    })
  )

  it.effect("returns documents if requested", () =>
    Effect.gen(function* () {
      const result = { index: 0, relevance_score: 1, document: { text: "a" }, extra: true }
      const { results } = yield* behaving(
        (_, response) => json(response, { results: [result], meta: { api_version: 1 }, usage: null }),
        Gateway.use((gateway) =>
          gateway.rerank({ model: "r", query: "q", documents: ["a"], returnDocuments: true })
        )
      )
      assert.deepStrictEqual(results, [{ index: 0, score: 1, document: "a" }])
    })
  )

  it.effect("an invalid request fails before sending, and names its field", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      behave(model)
      const gateway = yield* Gateway
      for (const call of [
        gateway.rerank({ model: "r", query: "", documents: ["a"] }),
        gateway.chat({ ...ask, maxTokens: 0 }),
        gateway.chat({ model: "c", messages: [] })
      ]) {
        const reason = yield* reasonOf<unknown, never>(call)
        assert.strictEqual(reason._tag, "InvalidRequest")
        assert.match(reason.message, /query|max_tokens|messages/)
      }
      assert.strictEqual(seen.length, 0)
    })
  )

  it.effect("streams text as it arrives; a JSON response is one part", () =>
    Effect.gen(function* () {
      const chunks = [delta("He"), delta("llo"), { choices: [{ delta: {}, finish_reason: "stop" }] }]
      const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }
      const end: ChatPart = { type: "end", finishReason: "stop", promptTokens: 3, completionTokens: 2 }
      const streamed = yield* behaving(
        (_, response) => events(response, [...chunks, usage, "[DONE]"]),
        chatStream
      )
      assert.deepStrictEqual(streamed, [{ type: "text", text: "He" }, { type: "text", text: "llo" }, end])
      const whole = {
        choices: [{ message: { content: "Hello" }, finish_reason: "stop" }],
        usage: usage.usage
      }
      const plain = yield* behaving((_, response) => json(response, whole), chatStream)
      assert.deepStrictEqual(plain, [{ type: "text", text: "Hello" }, end])
    })
  )

  it.effect("an error event fails the stream after the earlier parts", () =>
    Effect.gen(function* () {
      const late = openAi({ message: "slow down", type: "rate_limit_error" })
      const parts: Array<string> = []
      const exit = yield* behaving(
        (_, response) => events(response, [delta("a"), late]),
        Gateway.use((gateway) =>
          gateway.chatStream(ask).pipe(
            Stream.runForEach((part) => Effect.sync(() => parts.push(part.type))),
            reasonOf
          )
        )
      )
      assert.deepStrictEqual([parts, exit._tag, exit.message], [["text"], "RateLimited", "slow down"])
      const terse = { error: { message: "upstream is gone", code: 503 } }
      const failed = yield* behaving((_, response) => events(response, [terse]), reasonOf(chatStream))
      assert.deepStrictEqual([failed._tag, "status" in failed && failed.status], ["ServerFailure", 503])
    })
  )

  it.effect("reads refusals to their end, so that connections are reused", () =>
    Effect.gen(function* () {
      const large = openAi({ message: "x".repeat(500_000) })
      for (let i = 0; i < 4; i++) {
        assert.strictEqual((yield* behaving(refuse(503, large), reasonOf(chat)))._tag, "ServerFailure")
      }
      assert.strictEqual((yield* rerankThree()).results.length, 3)
    })
  )

  it.effect("sends each credential only to its paths, and no trace headers", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const echo: Behaviour = ({ headers }, response) =>
        json(response, openAi({ message: `bad key ${headers.authorization}` }), 401)
      yield* behaving(
        echo,
        Effect.gen(function* () {
          const error = yield* Effect.flip(Effect.withSpan(chat, "outer"))
          assert.notInclude(`${error.message} ${JSON.stringify(error)} ${String(error.stack)}`, KEY)
          assert.include(error.message, "<redacted>")
          assert.include(error.message, "request req-7")
          assert.include(error.message, "model c")
          yield* Effect.flip((yield* Account).models)
          assert.deepStrictEqual(
            seen.map(({ headers, path }) => [path, headers.authorization]),
            [
              ["/v1/chat/completions", `Bearer ${KEY}`],
              ["/api/models", "Bearer sat-1"]
            ]
          )
          for (const { headers } of seen) assert.notMatch(Object.keys(headers).join(), /traceparent|b3/)
        })
      )
    })
  )

  it.effect("redacts an echoed credential, also if it is truncated", () =>
    Effect.gen(function* () {
      const told = openAi({ message: "x".repeat(390) + KEY, code: KEY, param: KEY })
      for (const refused of [
        refuse(400, told, { "x-request-id": KEY }),
        refuse(502, `<p>${"x".repeat(105)}${KEY}`, { "content-type": "text/html" }),
        (_, response) => events(response, [`${KEY}{`])
      ] satisfies ReadonlyArray<Behaviour>) {
        const error = yield* Effect.flip(behaving(refused, chatStream))
        const fields = JSON.stringify({ ...error.reason, requestId: error.requestId })
        assert.notInclude(`${error.message} ${fields} ${String(error.stack)}`, KEY.slice(0, 9))
      }
    })
  )

  it.effect("redacts a key that is echoed without its prefix, also if it is truncated", () =>
    Effect.gen(function* () {
      const bare = KEY.slice("sk-".length)
      for (const message of [`invalid token: ${bare}, ${KEY}, ${bare}`, "x".repeat(390) + bare]) {
        const error = yield* Effect.flip(behaving(refuse(401, openAi({ message })), chat))
        assert.notInclude(`${error.message} ${String(error.stack)}`, bare.slice(0, 9))
        assert.include(error.message, "<redacted>")
      }
    })
  )

  it.effect("requests and accepts no compressed responses", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const reason = yield* behaving(
        refuse(200, "\u001f", { "content-encoding": "gzip" }),
        Effect.tap(reasonOf(embedTwo), () =>
          Effect.sync(() => assert.strictEqual(seen[0]?.headers["accept-encoding"], "identity"))
        )
      )
      assert.deepStrictEqual([reason._tag, reason.message.includes("gzip")], ["InvalidResponse", true])
    })
  )

  it.effect("ignores a negative count of tokens", () =>
    Effect.gen(function* () {
      const data = [0, 1].map((index) => ({ index, embedding: [1] }))
      const { tokens } = yield* behaving(refuse(200, { data, usage: { total_tokens: -7 } }), embedTwo)
      assert.strictEqual(tokens, 0)
    })
  )

  it.effect("sends no further request after several consecutive outages", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const input = Array.from({ length: 60 }, (_, i) => `text${i}`)
      const flaky: Behaviour = (request, response, nth) =>
        nth === 0 ? model(request, response, nth) : json(response, openAi({}), 503)
      const sent = yield* behaving(
        flaky,
        Effect.gen(function* () {
          const reason = yield* reasonOf((yield* Gateway).embeddings({ model: "e", input }))
          assert.deepStrictEqual(
            reason._tag === "PartialFailure" && [reason.kept.size, reason.failed.length],
            [3, 57]
          )
          return seen.length
        })
      )
      assert.isAtMost(sent, 6)
    })
  )

  it.effect("reads all known forms of model lists, and refusals with status 200", () =>
    Effect.gen(function* () {
      const account = yield* Account
      const as = (body: unknown) => behaving((_, response) => json(response, body), account.availableModels)
      const ids = [{ id: "a" }, { id: "b" }]
      assert.deepStrictEqual(yield* as({ data: [{ id: "a" }, { id: "b" }] }), ids)
      const [kept] = yield* as({ data: [{ id: "a", owned_by: null, tags: ["fast"] }] })
      assert.deepStrictEqual(kept, { id: "a", extra: { tags: ["fast"] } })
      assert.deepStrictEqual(yield* as({ success: true, message: "", data: ["a", "b"] }), ids)
      assert.deepStrictEqual(yield* as({ success: true, data: { "1": ["a"], "2": ["b", "a"] } }), ids)
      const reason = yield* reasonOf(as({ success: false, message: "no permission", data: null }))
      assert.deepStrictEqual([reason._tag, reason.message], ["Forbidden", "no permission"])
      assert.deepStrictEqual(yield* (yield* Gateway).models, [{ id: "m-1" }])
    })
  )
})

describe("the client's configuration", () => {
  const build = (env: Record<string, string>) =>
    GatewayClient.layerConfig().pipe(
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))),
      Layer.build,
      Effect.scoped,
      Effect.exit,
      Effect.map((exit) => (Exit.isSuccess(exit) ? "ready" : JSON.stringify(exit.cause)))
    )

  it.effect("names what is missing or invalid, without its value", () =>
    Effect.gen(function* () {
      const url = "https://gateway.example.com"
      assert.include(yield* build({ SLUICE_API_KEY: "k" }), "SLUICE_GATEWAY_URL is not set")
      assert.include(yield* build({ SLUICE_GATEWAY_URL: url }), "SLUICE_API_KEY is not set")
      const twoWords = yield* build({ SLUICE_GATEWAY_URL: url, SLUICE_API_KEY: "sk-1 sk-2" })
      assert.include(twoWords, "visible ASCII")
      assert.notInclude(twoWords, "sk-1")
      assert.include(
        yield* build({ SLUICE_GATEWAY_URL: "file:///etc", SLUICE_API_KEY: "k" }),
        "http or https"
      )
      const inUrl = yield* build({ SLUICE_GATEWAY_URL: "https://u:pw9@h", SLUICE_API_KEY: "k" })
      assert.include(inUrl, "contains a credential")
      assert.notInclude(inUrl, "pw9")
      assert.strictEqual(yield* build({ SLUICE_GATEWAY_URL: url, SLUICE_API_KEY: "k\n" }), "ready")
    })
  )

  it.effect("a refused connection is Unreachable, with advice", () =>
    Effect.gen(function* () {
      const reason = yield* reasonOf(chat)
      assert.strictEqual(reason._tag, "Unreachable")
      assert.match(reason.message, /ECONNREFUSED.*Check the base URL/, reason.message)
    }).pipe(
      Effect.provide(GatewayClient.layer({ baseUrl: "http://127.0.0.1:1", apiKey: apiKey("k"), ...once }))
    )
  )
})
