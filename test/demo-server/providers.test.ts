/** Several providers of one model: failover, tasks, aliases, and what passes unchanged. */
import { assert, layer } from "@effect/vitest"
import { ErrorBody, ModelsResponse } from "@sluice/core/contract"
import { Context, Effect, Fiber, FileSystem, Layer, Schema } from "effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import OpenAI from "openai"
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction"
import { type Behaviour, json, type Loopback, loopback, refusal } from "./Loopback.ts"
import { startServer, temporaryFolder, type TestServer } from "./TestServer.ts"

const KEYS = { EAST_KEY: "sk-canary-of-the-east", WEST_KEY: "sk-canary-of-the-west" }

const reranked = json({ results: [{ index: 0, relevance_score: 0.5 }] })
const down: Behaviour = ({ response }) => response.destroy()
const made = (id: string) => json({ id, status: "in_progress" })

/** Two upstreams with the same models. `east` has the higher priority, and its circuit never opens. */
class Both extends Context.Service<
  Both,
  {
    readonly server: TestServer["Service"]
    readonly east: Loopback
    readonly west: Loopback
    /** Sets the responses of both upstreams, and forgets the requests so far. */
    readonly behave: (east: Behaviour, west: Behaviour) => void
    readonly askedSince: () => { readonly east: number; readonly west: number }
  }
>()("test/demo-server/providers/Both") {}

const BothLayer = Layer.effect(
  Both,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const [east, west] = [yield* loopback(down), yield* loopback(down)]
    const folder = yield* temporaryFolder
    const upstream = (id: string, { url }: Loopback, priority: number, apiKey: object) => ({
      id,
      url: `${url}/v1/`,
      priority,
      apiKey,
      models: [
        { id: `${id}-rank`, operation: "rerank", aliases: ["rank", "limited"], timeoutSeconds: 30 },
        { id: `${id}-embed`, operation: "embeddings", aliases: ["embed"] },
        { id: `${id}-chat`, operation: "chat", aliases: ["chat"], note: "talks" },
        { id: "paint", operation: "images" },
        { id: "film", operation: "videos", group: "V-A" }
      ]
    })
    yield* fs.writeFileString(`${folder}/west.key`, `${KEYS.WEST_KEY}\n`)
    yield* fs.writeFileString(
      `${folder}/providers.json`,
      JSON.stringify({
        upstreams: [
          upstream("west", west, 2, { file: "west.key" }),
          upstream("east", east, 1, { env: "EAST_KEY" })
        ],
        embedded: { priority: 9 },
        breaker: { failures: 1000 }
      })
    )
    const server = yield* startServer({
      env: { SLUICE_CONFIG: `${folder}/providers.json`, EAST_KEY: KEYS.EAST_KEY }
    })
    let before = { east: 0, west: 0 }
    return {
      server,
      east,
      west,
      behave: (inTheEast, inTheWest) => {
        east.behave(inTheEast)
        west.behave(inTheWest)
        before = { east: east.requests.length, west: west.requests.length }
      },
      askedSince: () => ({
        east: east.requests.length - before.east,
        west: west.requests.length - before.west
      })
    }
  })
).pipe(Layer.provide(NodeServices.layer))

const rank = { model: "rank", query: "q", documents: ["d"] }
const paint = { model: "paint", prompt: "a lock" }
const film = { model: "film", prompt: "a barge" }

const errorOf = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.json()),
    (body) => Schema.decodeUnknownSync(ErrorBody)(body).error
  )

layer(BothLayer, { excludeTestServices: true, timeout: "60 seconds" })("providers", (it) => {
  const failing: ReadonlyArray<readonly [name: string, behaviour: Behaviour]> = [
    ["cuts the connection", down],
    ["returns 503", refusal(503, "overloaded")],
    // A later time would change the order for the next tests. `failover.test.ts` has it.
    ["returns 429", refusal(429, "slow down", { "retry-after": "0" })],
    [
      "returns a page of HTML",
      ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<p>")
    ],
    ["returns 200 with an error", refusal(200, "overloaded")],
    ["returns 200 with a rate limit", json({ error: { message: "slow down", code: 429 } })],
    ["returns 200 with an error and an empty result", json({ id: "", results: [], error: "overloaded" })],
    ["rejects the server's key", refusal(401, `bad key ${KEYS.EAST_KEY}`)],
    ["reports an empty balance", refusal(402, "used up")],
    ["does not know the model", refusal(404, "no such model")],
    ["redirects", ({ response }) => response.writeHead(307, { location: "http://127.0.0.1:1" }).end()]
  ]
  for (const [name, behaviour] of failing) {
    it.effect(`the next provider is tried if the first ${name}`, () =>
      Effect.gen(function* () {
        const { askedSince, behave, server } = yield* Both
        behave(behaviour, reranked)
        const response = yield* server.call("/v1/rerank", { json: rank })
        assert.strictEqual(response.status, 200)
        assert.deepStrictEqual(askedSince(), { east: 1, west: 1 })
      })
    )
  }

  const wrong = json({ error: { message: "too many documents", type: "invalid_request_error" } })
  for (const [status, behaviour] of [
    [400, refusal(400, "too many documents")] as const,
    [200, wrong] as const
  ]) {
    it.effect(`a request that an upstream rejects with ${status} is 400 and not tried elsewhere`, () =>
      Effect.gen(function* () {
        const { askedSince, behave, server } = yield* Both
        behave(behaviour, reranked)
        // As many failures would open the circuit.
        for (let at = 0; at < 6; at++) {
          const response = yield* server.call("/v1/rerank", { json: rank })
          assert.strictEqual(response.status, 400)
        }
        assert.deepStrictEqual(askedSince(), { east: 6, west: 0 })
      })
    )
  }

  it.effect("if all providers fail, the error has a retry-after and no key", () =>
    Effect.gen(function* () {
      const { behave, server } = yield* Both
      behave(refusal(429, "slow down", { "retry-after": "7" }), refusal(503, "overloaded"))
      const limited = yield* server.call("/v1/rerank", { json: { ...rank, model: "limited" } })
      assert.strictEqual(limited.status, 429)
      assert.strictEqual(limited.headers.get("retry-after"), "7")

      behave(refusal(401, `bad key ${KEYS.EAST_KEY}`), refusal(401, `bad key ${KEYS.WEST_KEY}`))
      const refused = yield* server.call("/v1/rerank", { json: rank })
      assert.strictEqual(refused.status, 502)
      const { message } = yield* errorOf(refused)
      assert.include(message, "west")
      assert.notInclude(message, "canary")
      assert.notInclude(server.printed.join("\n"), "canary")
    })
  )

  const creations = [
    ["/v1/images/generations", paint],
    ["/v1/videos", film]
  ] as const
  for (const [path, body] of creations) {
    it.effect(`${path}: a creation is tried elsewhere only if it was not executed`, () =>
      Effect.gen(function* () {
        const { askedSince, behave, server } = yield* Both
        for (const doubtful of [down, refusal(503, "overloaded"), refusal(500, "oh")]) {
          behave(doubtful, made("never"))
          const response = yield* server.call(path, { json: body })
          assert.isAtLeast(response.status, 500)
          assert.include((yield* errorOf(response)).message, "may have been executed")
          assert.deepStrictEqual(askedSince(), { east: 1, west: 0 })
        }
        // The second may have made it, which is more important than the rate limit of the first.
        behave(refusal(429, "slow down"), down)
        const last = yield* server.call(path, { json: body })
        assert.strictEqual(last.status, 502)
        assert.include((yield* errorOf(last)).message, "may have been executed")

        behave(refusal(429, "slow down"), made(`surely-${body.model}`))
        const response = yield* server.call(path, { json: body })
        assert.strictEqual(response.status, 200)
        assert.deepStrictEqual(askedSince(), { east: 1, west: 1 })
      })
    )
  }

  it.effect("calls for a task go to the provider that created it", () =>
    Effect.gen(function* () {
      const { askedSince, behave, server, west } = yield* Both
      behave(refusal(429, "slow down"), made("by-the-west"))
      yield* server.call("/v1/videos", { json: film })

      behave(refusal(500, "not mine"), json({ id: "by-the-west", status: "completed" }))
      const found = yield* server.call("/v1/videos/by-the-west")
      assert.strictEqual(found.status, 200)
      west.behave(({ response }) => response.writeHead(200, { "content-type": "video/mp4" }).end("film"))
      const content = yield* server.call("/v1/videos/by-the-west/content")
      assert.strictEqual(yield* Effect.promise(() => content.text()), "film")
      west.behave(json({ deleted: true }))
      assert.strictEqual((yield* server.call("/v1/videos/by-the-west", { method: "DELETE" })).status, 200)
      assert.deepStrictEqual(askedSince(), { east: 0, west: 4 })
      assert.deepStrictEqual(
        west.requests.slice(-4).map(({ headers, method }) => [method, headers.authorization]),
        // The status is read before the deletion.
        ["GET", "GET", "GET", "DELETE"].map((method) => [method, `Bearer ${KEYS.WEST_KEY}`])
      )
    })
  )

  it.effect("a task id with a path is encoded in requests to its provider", () =>
    Effect.gen(function* () {
      const { behave, server, west } = yield* Both
      const id = "../../admin/keys?all=1#x"
      behave(refusal(429, "slow down"), made(id))
      yield* server.call("/v1/videos", { json: film })
      west.behave(json({ id, status: "in_progress" }))
      yield* server.call(`/v1/videos/${encodeURIComponent(id)}`)
      assert.strictEqual(west.requests.at(-1)?.path, `/v1/videos/${encodeURIComponent(id)}`)
    })
  )

  it.effect("if two providers return the same task id, the second task is rejected", () =>
    Effect.gen(function* () {
      const { askedSince, behave, server } = yield* Both
      behave(made("one-of-two"), down)
      assert.strictEqual((yield* server.call("/v1/videos", { json: film })).status, 200)
      behave(refusal(429, "slow down"), made("one-of-two"))
      const second = yield* server.call("/v1/videos", { json: film })
      assert.strictEqual(second.status, 502)
      assert.include((yield* errorOf(second)).message, "west")

      behave(json({ id: "one-of-two", status: "in_progress" }), down)
      assert.strictEqual((yield* server.call("/v1/videos/one-of-two")).status, 200)
      assert.deepStrictEqual(askedSince(), { east: 1, west: 0 })
    })
  )

  it.effect("bodies pass unchanged, except for the name of the model behind an alias", () =>
    Effect.gen(function* () {
      const { behave, east, server } = yield* Both
      const answer =
        '{"object":"list","data":[{"index":0,"embedding":[1]}],"model":"east-embed","usage":{"prompt_tokens":1,"total_tokens":1},"cost":0.10000000000000000001}'
      behave(
        ({ response }) => response.writeHead(200, { "content-type": "application/json" }).end(answer),
        down
      )
      const body = (model: string) =>
        `{"input":"a", "model":"${model}","unknown":{"model":"x"},"big":12345678901234567890}`
      const response = yield* server.call("/v1/embeddings", {
        body: body("embed"),
        headers: { "content-type": "application/json" }
      })
      assert.strictEqual(east.requests.at(-1)?.body, body("east-embed"))
      const text = yield* Effect.promise(() => response.text())
      assert.strictEqual(text, answer.replace("east-embed", "embed"))
    })
  )

  const event = (content: string) =>
    `data: ${JSON.stringify({ id: "c", model: "east-chat", choices: [{ index: 0, delta: { content } }] })}\n\n`
  const chat = { model: "chat", stream: true, messages: [{ role: "user", content: "hello" }] }

  it.effect("tool calls and their results pass unchanged", () =>
    Effect.gen(function* () {
      const { behave, server } = yield* Both
      const called = { id: "1", type: "function", function: { name: "tide", arguments: '{"at":"quay"}' } }
      const completion = (message: object, finish_reason: string) =>
        json({
          object: "chat.completion",
          model: "east-chat",
          choices: [{ index: 0, message, finish_reason }]
        })
      behave((exchange) => {
        const { messages } = JSON.parse(exchange.body) as { readonly messages: ReadonlyArray<object> }
        const tool = messages.find((message) => "tool_call_id" in message)
        const answer =
          tool === undefined
            ? completion({ role: "assistant", content: null, tool_calls: [called] }, "tool_calls")
            : completion({ role: "assistant", content: JSON.stringify(messages) }, "stop")
        answer(exchange)
      }, down)
      const client = new OpenAI({
        apiKey: server.secrets.apiKey,
        baseURL: `${server.url}/v1`,
        maxRetries: 0
      })
      const tide: RunnableToolFunctionWithParse<{ readonly at: string }> = {
        type: "function",
        function: {
          name: "tide",
          description: "How high the water is",
          parameters: { type: "object", properties: { at: { type: "string" } } },
          parse: (args: string) => JSON.parse(args) as { readonly at: string },
          function: ({ at }) => `two metres at the ${at}`
        }
      }
      const runner = client.chat.completions.runTools({
        model: "chat",
        messages: [{ role: "user", content: "How high is the water?" }],
        tools: [tide]
      })
      const [user, assistant, tool] = JSON.parse(
        (yield* Effect.promise(() => runner.finalContent())) ?? ""
      ) as ReadonlyArray<object>
      assert.deepInclude(user, { content: "How high is the water?" })
      assert.deepInclude(assistant, { content: null, tool_calls: [called] })
      assert.deepInclude(tool, { role: "tool", tool_call_id: "1", content: "two metres at the quay" })
    })
  )

  it.effect("an event of a stream arrives before the next one is sent", () =>
    Effect.gen(function* () {
      const { behave, east, server } = yield* Both
      behave(({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(event("one"))
      }, down)
      const response = yield* server.call("/v1/chat/completions", { json: chat })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      const read = Effect.map(
        Effect.promise(() => reader.read()),
        ({ value = new Uint8Array() }) => new TextDecoder().decode(value)
      )
      const first = yield* read
      assert.include(first, '"one"')
      assert.include(first, '"model":"chat"')
      east.requests.at(-1)?.response.end(`${event("two")}data: [DONE]\n\n`)
      let rest = ""
      for (let part = yield* read; part !== ""; part = yield* read) rest += part
      assert.include(rest, '"two"')
      assert.match(rest, /data: \[DONE\]\n\n$/)
    })
  )

  it.effect("a caller who disconnects aborts the upstream call, before and during the response", () =>
    Effect.gen(function* () {
      const { behave, east, server } = yield* Both
      behave(() => {}, down)
      const calling = yield* Effect.forkChild(server.call("/v1/rerank", { json: rank }))
      const waiting = yield* east.next
      yield* Fiber.interrupt(calling)
      yield* Effect.promise(() => waiting.disconnected)

      const leaving = new AbortController()
      behave(({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(event("one"))
      }, down)
      const response = yield* Effect.promise(() =>
        fetch(`${server.url}/v1/chat/completions`, {
          method: "POST",
          signal: leaving.signal,
          headers: { authorization: `Bearer ${server.secrets.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(chat)
        })
      )
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      yield* Effect.promise(() => reader.read())
      const streaming = east.requests.at(-1)
      leaving.abort()
      yield* Effect.promise(async () => streaming?.disconnected)
      assert.strictEqual(streaming?.response.writableEnded, false)
    })
  )

  it.effect("the lists of models have each name once, and no keys", () =>
    Effect.gen(function* () {
      const { server } = yield* Both
      const lists = [
        yield* server.json(ModelsResponse, "/v1/models"),
        yield* server.json(ModelsResponse, "/api/models", { as: "token" }),
        yield* server.json(ModelsResponse, "/api/user/available_models", { as: "token" })
      ]
      for (const { data } of lists) {
        const ids = data.map(({ id }) => id)
        assert.strictEqual(new Set(ids).size, ids.length)
        assert.includeMembers(ids, ["rank", "east-rank", "west-rank", "embed", "chat", "paint", "film"])
        assert.isAbove(data.filter((model) => model.owned_by === "sluice-embedded").length, 10)
        assert.notInclude(JSON.stringify(data), "canary")
      }
    })
  )

  it.effect("the embedded models are served in addition to the upstreams", () =>
    Effect.gen(function* () {
      const { askedSince, behave, server } = yield* Both
      behave(down, down)
      const response = yield* server.call("/v2/rerank", { json: { ...rank, model: "sluice-lexical-rerank" } })
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(askedSince(), { east: 0, west: 0 })
    })
  )
})
