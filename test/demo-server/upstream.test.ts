/** An upstream gateway that is configured in place of the embedded models: working, down, or misbehaving. */
import { assert, describe, it } from "@effect/vitest"
import { ChatChunk, ErrorBody, ModelsResponse, RerankResponse } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import type { ServerResponse } from "node:http"
import { AnswerBody, IngestReportBody, ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { loopback } from "./Loopback.ts"
import { filesOf, startServer, type TestServer } from "./TestServer.ts"
import { json } from "./Upstream.ts"

const canary = "sk-canary-upstream-credential"

const gatewayAt = (url: string, apiKey: string, models: ServerStatus["models"]) => ({
  SLUICE_GATEWAY_URL: url,
  SLUICE_API_KEY: apiKey,
  SLUICE_EMBEDDING_MODEL: models.embedding,
  SLUICE_RERANK_MODEL: models.rerank,
  SLUICE_CHAT_MODEL: models.chat
})
const models = { embedding: "e", rerank: "r", chat: "c" }

const rerank = { model: "r", query: "q", documents: ["d"] }

// Concurrent, because they mostly wait.
describe.concurrent("behind a gateway", () => {
  it.live("answers questions, and bodies pass unchanged", () =>
    Effect.gen(function* () {
      const gateway = yield* startServer()
      const { models } = yield* gateway.json(ServerStatus, "/status")
      const server = yield* startServer({ env: gatewayAt(gateway.url, gateway.secrets.apiKey, models) })
      assert.strictEqual((yield* server.json(ServerStatus, "/status")).provider, "gateway")

      const files = filesOf({
        "ferry.md": "# Ferry\n\nThe last ferry to the island leaves at nine in the evening.\n"
      })
      assert.deepInclude(yield* server.json(IngestReportBody, "/documents", { body: files }), {
        added: 1,
        failed: []
      })
      const question = "When does the last ferry to the island leave?"
      const answer = yield* server.json(AnswerBody, "/qa", { json: { question } })
      assert.include(answer.answer, "nine in the evening")
      assert.isNotEmpty(answer.citations)

      const call = {
        model: models.rerank,
        query: question,
        documents: ["A boat.", "The last ferry leaves at nine."]
      }
      const through = yield* server.json(RerankResponse, "/v1/rerank", { json: call })
      const direct = yield* gateway.json(RerankResponse, "/v1/rerank", { json: call })
      assert.deepStrictEqual(through.results, direct.results)
      const messages = [{ role: "user", content: `The last ferry leaves at nine.\n\n${question}` }]
      const chunks = yield* server.events(ChatChunk, "/v1/chat/completions", {
        json: { model: models.chat, messages, stream: true }
      })
      assert.include(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), "nine")
    }).pipe(Effect.scoped)
  )

  it.live("that is down, the server keeps running, and errors do not contain the key", () =>
    Effect.gen(function* () {
      const { url, close } = yield* loopback(({ response }) => response.end())
      close()
      const server = yield* startServer({ env: gatewayAt(url, canary, models) })
      const status = yield* server.json(ServerStatus, "/status")
      assert.strictEqual(status.state, "unavailable")
      assert.isNotEmpty(status.message)
      for (const [path, json] of [
        ["/qa", { question: "Is anybody there?" }],
        ["/v1/rerank", rerank]
      ] as const) {
        const response = yield* server.call(path, { json })
        const text = yield* Effect.promise(() => response.text())
        assert.strictEqual(response.status, 502)
        assert.strictEqual(
          Schema.decodeUnknownSync(ErrorBody)(JSON.parse(text)).error.code,
          "upstream_unreachable"
        )
        assert.notInclude(text, "canary")
        assert.include(text, "check SLUICE_GATEWAY_URL")
        assert.notInclude(text, new URL(url).port)
      }
      assert.notInclude(server.printed.join("\n"), "canary")
    }).pipe(Effect.scoped)
  )

  it.live("/api lists the gateway's models with an access token, and the configured ones without it", () =>
    Effect.gen(function* () {
      const accessToken = "sat-canary-upstream-credential"
      const lists: Record<string, unknown> = {
        "/api/models": { "1": ["e", "r"], "2": ["c", "other"] },
        "/api/user/available_models": [{ id: "e", owned_by: "them" }]
      }
      const { url } = yield* loopback(({ path, response }) => {
        const allowed = response.req.headers.authorization === `Bearer ${accessToken}`
        const body = allowed
          ? { success: true, data: lists[path] }
          : { error: { message: `bad token ${accessToken}` } }
        response.writeHead(allowed ? 200 : 401, { "content-type": "application/json" })
        response.end(JSON.stringify(body))
      })
      const idsOf = (server: TestServer["Service"], path: string) =>
        Effect.map(server.json(ModelsResponse, path, { as: "token" }), ({ data }) => data.map(({ id }) => id))
      const env = gatewayAt(url, canary, models)

      const server = yield* startServer({ env: { ...env, SLUICE_ACCESS_TOKEN: accessToken } })
      assert.deepStrictEqual(yield* idsOf(server, "/api/models"), ["e", "r", "c", "other"])
      assert.deepStrictEqual(yield* idsOf(server, "/api/user/available_models"), ["e"])

      const without = yield* startServer({ env })
      assert.deepStrictEqual(yield* idsOf(without, "/api/models"), ["e", "r", "c"])

      const refused = yield* startServer({ env: { ...env, SLUICE_ACCESS_TOKEN: `${accessToken}-old` } })
      const response = yield* refused.call("/api/models", { as: "token" })
      const text = yield* Effect.promise(() => response.text())
      assert.strictEqual(response.status, 502)
      assert.include(Schema.decodeUnknownSync(ErrorBody)(JSON.parse(text)).message, "SLUICE_ACCESS_TOKEN")
    }).pipe(Effect.scoped)
  )

  const misbehaviours: ReadonlyArray<
    readonly [name: string, answer: (response: ServerResponse) => void, status: number, code: string | null]
  > = [
    [
      "a page of HTML with status 200",
      (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
      502,
      "upstream_invalid_response"
    ],
    [
      "invalid JSON",
      (response) => response.writeHead(200, { "content-type": "application/json" }).end("\u0000{{{"),
      502,
      "upstream_invalid_response"
    ],
    [
      "a rate limit",
      (response) =>
        response
          .writeHead(429, { "content-type": "application/json", "retry-after": "7" })
          .end('{"error":{"message":"slow down","type":"x","param":null,"code":"rate_limited"}}'),
      429,
      "rate_limited"
    ],
    [
      "an overload with an invalid retry-after",
      (response) => json(response.setHeader("retry-after", "-5"), { error: { message: "no" } }, 503),
      503,
      null
    ],
    ["nothing and closes the connection", (response) => response.destroy(), 502, "upstream_unreachable"],
    [
      "a rejection that repeats the key",
      (response) =>
        response
          .writeHead(401, { "content-type": "application/json" })
          .end(`{"error":{"message":"bad key ${canary}","type":"x","param":null,"code":null}}`),
      502,
      null
    ]
  ]
  it.live("that returns errors with status 200, they become the status that they describe", () =>
    Effect.gen(function* () {
      const told: ReadonlyArray<readonly [answer: unknown, status: number, code: string | null]> = [
        [
          { id: "r-1", status: "error", error: { message: "no", type: "server_error" } },
          502,
          "upstream_invalid_response"
        ],
        [{ id: "r-1", results: [], error: { message: "no" } }, 502, null],
        [{ success: false, message: "no" }, 502, null],
        [{ success: false, message: "beside", results: [{ index: 0, relevance_score: 1 }] }, 200, null],
        [{}, 502, null],
        [{ results: null }, 502, null],
        [{ results: [], usage: { total_tokens: 9 } }, 502, null],
        [{ error: { message: "no", param: "query" } }, 400, null],
        [{ results: [{ index: 0, relevance_score: 1 }], error: { message: "slow" } }, 200, null]
      ]
      let now: unknown
      const saying = yield* loopback(({ response }) => json(response, now))
      const server = yield* startServer({ env: gatewayAt(saying.url, canary, models) })
      for (const [answer, status, code] of told) {
        now = answer
        const response = yield* server.call("/v1/rerank", { json: rerank })
        const body: unknown = yield* Effect.promise(() => response.json())
        assert.strictEqual(response.status, status, JSON.stringify(answer))
        if (status !== 200) assert.strictEqual(Schema.decodeUnknownSync(ErrorBody)(body).error.code, code)
      }
      now = { results: [] }
      const none = yield* server.call("/v1/rerank", { json: { ...rerank, top_n: 0 } })
      assert.strictEqual(none.status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("that rejects with an unusual status, errors about the request stay 400", () =>
    Effect.gen(function* () {
      let now = 404
      const refusing = yield* loopback(({ response }) => json(response, { error: { message: "no" } }, now))
      const server = yield* startServer({ env: gatewayAt(refusing.url, canary, models) })
      for (const [refused, status] of [
        [409, 409],
        [413, 413],
        [422, 422],
        [418, 400],
        [451, 400],
        [405, 502],
        [415, 502]
      ] as const) {
        now = refused
        const response = yield* server.call("/v1/rerank", { json: rerank })
        const body: unknown = yield* Effect.promise(() => response.json())
        assert.strictEqual(response.status, status, String(refused))
        const { message } = Schema.decodeUnknownSync(ErrorBody)(body).error
        assert.strictEqual(message.includes("SLUICE_GATEWAY_URL"), status === 502)
      }
    }).pipe(Effect.scoped)
  )

  for (const [name, answer, expected, code] of misbehaviours) {
    it.live(`that returns ${name}: ${expected} after one attempt, without the key`, () =>
      Effect.gen(function* () {
        let calls = 0
        const counting = yield* loopback(({ path, response }) => {
          if (path === "/v1/rerank") calls += 1
          answer(response)
        })
        const server = yield* startServer({ env: gatewayAt(counting.url, canary, models) })
        const response = yield* server.call("/v1/rerank", { json: rerank })
        const text = yield* Effect.promise(() => response.text())
        assert.strictEqual(response.status, expected)
        assert.strictEqual(Schema.decodeUnknownSync(ErrorBody)(JSON.parse(text)).error.code, code)
        assert.notInclude(text, "canary")
        assert.strictEqual(calls, 1)
        const after = { 429: "7", 503: "1" }[expected] ?? null
        assert.strictEqual(response.headers.get("retry-after"), after)
      }).pipe(Effect.scoped)
    )
  }
})
