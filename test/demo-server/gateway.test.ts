/** The gateway endpoints with embedded models: response shapes, errors, and what common clients need. */
import { assert, layer } from "@effect/vitest"
import {
  ChatChunk,
  ChatResponse,
  EmbeddingResponse,
  ErrorBody,
  decodeVector,
  ModelsResponse,
  RerankResponse
} from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { errorOf, testServer, TestServer } from "./TestServer.ts"

const documents = [
  "A bicycle needs air in its tyres.",
  "The harbour master measures the tide every hour.",
  "Bread rises when the dough is warm."
]
const query = "Who measures the tide in the harbour?"

const Wire = Schema.Record(Schema.String, Schema.Json)
const Served = Schema.Struct({
  data: Schema.Array(
    Schema.StructWithRest(Schema.Struct({ owned_by: Schema.String }), [
      Schema.Record(Schema.String, Schema.Json)
    ])
  )
})

layer(testServer(), { excludeTestServices: true })("gateway", (it) => {
  const models = Effect.gen(function* () {
    const { json } = yield* TestServer
    return (yield* json(ServerStatus, "/status")).models
  })

  it.effect("reports demo credit without upstreams", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      assert.isTrue((yield* json(ServerStatus, "/status")).demo)
    })
  )

  it.effect("lists the same models of providers under /v1 and /api", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { embedding, rerank, chat } = yield* models
      const { data } = yield* json(ModelsResponse, "/v1/models")
      assert.sameMembers(
        data.flatMap(({ extra, id }) => (/^(images|videos)$/.test(String(extra?.["operation"])) ? [] : [id])),
        [embedding, rerank, chat, "sluice-ocr", "sluice/default"]
      )
      for (const path of ["/api/models", "/api/user/available_models"]) {
        const wire = yield* json(Wire, path, { as: "token" })
        assert.deepStrictEqual(Object.keys(wire), ["success", "message", "data"])
        // The models of the caller's collections are those of the server, not of a provider.
        const { data: served } = yield* json(Served, "/v1/models")
        assert.deepStrictEqual(
          wire["data"],
          served.filter(({ owned_by }) => owned_by !== "sluice")
        )
      }
    })
  )

  for (const path of ["/v1/rerank", "/v2/rerank"]) {
    it.effect(`${path} ranks documents, and accepts null fields`, () =>
      Effect.gen(function* () {
        const { json } = yield* TestServer
        const { rerank: model } = yield* models
        const nulls = { top_n: null, return_documents: null, max_chunks_per_doc: null }
        const answer = yield* json(RerankResponse, path, { json: { model, query, documents, ...nulls } })
        assert.deepStrictEqual(answer.results.map(({ index }) => index).toSorted(), [0, 1, 2])
        assert.strictEqual(answer.results[0]?.index, 1)
        const scores = answer.results.map(({ relevance_score }) => relevance_score)
        assert.deepStrictEqual(
          scores,
          scores.toSorted((a, b) => b - a)
        )
        assert.isTrue(answer.results.every(({ document }) => document === undefined))
        for (const key of ["id", "meta", "usage"] as const) assert.exists(answer[key])
      })
    )
  }

  it.effect("rerank returns top_n results, with documents on request", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { rerank: model } = yield* models
      const ask = (extra: object) =>
        json(RerankResponse, "/v1/rerank", {
          json: { model, query, documents: documents.map((text) => ({ text })), ...extra }
        })
      assert.lengthOf((yield* ask({ top_n: 0 })).results, 0)
      assert.lengthOf((yield* ask({ top_n: 99 })).results, 3)
      const [best] = (yield* ask({ top_n: 1, return_documents: true })).results
      assert.deepStrictEqual([best?.index, best?.document?.text], [1, documents[1]])
    })
  )

  it.effect("embeddings are floats by default, and the same values in base64", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { embedding: model } = yield* models
      const ask = (extra: object) =>
        json(EmbeddingResponse, "/v1/embeddings", { json: { model, input: documents, ...extra } })
      const floats = yield* ask({})
      const base64 = yield* ask({ encoding_format: "base64", user: null, dimensions: null })
      assert.strictEqual(floats.object, "list")
      assert.deepStrictEqual(
        floats.data.map(({ index }) => index),
        [0, 1, 2]
      )
      for (const [position, { embedding }] of base64.data.entries()) {
        assert.isString(embedding)
        assert.deepStrictEqual(
          Array.from(decodeVector(String(embedding)) ?? []),
          Array.from(floats.data[position]?.embedding as ReadonlyArray<number>)
        )
      }
      const one = yield* json(EmbeddingResponse, "/v1/embeddings", { json: { model, input: documents[0] } })
      assert.deepStrictEqual(one.data[0]?.embedding, floats.data[0]?.embedding)
    })
  )

  it.effect("chat answers with text from the messages, or says that it is extractive", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { chat: model } = yield* models
      const ask = (content: unknown) =>
        json(ChatResponse, "/v1/chat/completions", { json: { model, messages: [{ role: "user", content }] } })
      const text = [
        { type: "text", text: `${documents.join("\n\n")}\n\nQuestion: How often is the tide measured?` }
      ]
      const answer = yield* ask(text)
      assert.include(answer.choices[0]?.message.content, documents[1])
      assert.strictEqual(answer.choices[0]?.finish_reason, "stop")
      const none = yield* ask(`${documents.join("\n\n")}\n\nQuestion: Which planet has the most moons?`)
      assert.include(none.choices[0]?.message.content, "extractive")
    })
  )

  it.effect("chat streams the same answer in chunks that end in [DONE]", () =>
    Effect.gen(function* () {
      const { call, events, json } = yield* TestServer
      const { chat: model } = yield* models
      const messages = [{ role: "user", content: `${documents.join("\n\n")}\n\n${query}` }]
      const whole = yield* json(ChatResponse, "/v1/chat/completions", { json: { model, messages } })
      const stream = { model, messages, stream: true, stream_options: { include_usage: true } }
      const chunks = yield* events(ChatChunk, "/v1/chat/completions", { json: stream })
      const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")
      assert.strictEqual(said, whole.choices[0]?.message.content)
      assert.deepStrictEqual(chunks.at(-1)?.usage, whole.usage)
      const raw = yield* call("/v1/chat/completions", { json: stream })
      assert.match(raw.headers.get("content-type") ?? "", /^text\/event-stream/)
      assert.match(yield* Effect.promise(() => raw.text()), /data: \[DONE\]\n\n$/)
    })
  )

  it.effect("a text model rejects images", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const { chat: model } = yield* models
      const content = [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }]
      const response = yield* call("/v1/chat/completions", {
        json: { model, messages: [{ role: "user", content }] }
      })
      const error = yield* errorOf(response)
      assert.deepStrictEqual([response.status, error.code], [400, "image_input_not_supported"])
      assert.include(error.message, "sluice-ocr")
    })
  )

  const refusals: ReadonlyArray<
    readonly [
      name: string,
      path: string,
      body: object,
      status: number,
      param: string | null,
      code: string | null
    ]
  > = [
    ["an unknown model", "/v1/rerank", { model: "nope", query, documents }, 404, null, "model_not_found"],
    ["no model", "/v1/rerank", { query, documents }, 400, "model", null],
    ["an empty query", "/v1/rerank", { model: "nope", query: "", documents }, 400, "query", null],
    ["no documents", "/v1/rerank", { model: "nope", query, documents: [] }, 400, "documents", null],
    ["a negative top_n", "/v1/rerank", { model: "nope", query, documents, top_n: -1 }, 400, "top_n", null],
    ["no input", "/v1/embeddings", { model: "nope", input: [] }, 400, "input", null],
    ["no messages", "/v1/chat/completions", { model: "nope", messages: [] }, 400, "messages", null],
    ["an unknown route", "/v1/nothing", {}, 404, null, "route_not_found"]
  ]
  for (const [name, path, body, status, param, code] of refusals) {
    it.effect(`${name}: ${status}, not retryable`, () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const response = yield* call(path, { json: body })
        const wire = Schema.decodeUnknownSync(ErrorBody)(yield* Effect.promise(() => response.json()))
        assert.strictEqual(response.status, status)
        assert.strictEqual(wire.error.code, code)
        if (param !== null) assert.strictEqual(wire.error.param, param)
        assert.strictEqual(wire.message, wire.error.message)
        assert.strictEqual(response.headers.get("x-should-retry"), "false")
      })
    )
  }

  it.effect("a route without /v1 is an error that names the right one", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { error } = yield* json(ErrorBody, "/embeddings", { json: { model: "any", input: "a" } })
      assert.strictEqual(error.message, "No route /embeddings. Did you mean /v1/embeddings?")
    })
  )

  it.effect("a model of another operation is an error that names a suitable one", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { embedding, rerank } = yield* models
      const { error } = yield* json(ErrorBody, "/v1/rerank", { json: { model: embedding, query, documents } })
      assert.strictEqual(error.param, "model")
      assert.include(error.message, rerank)
    })
  )

  it.effect(
    "invalid JSON, and bodies that are too deep or too large, are errors, and the server keeps running",
    () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const headers = { "content-type": "application/json" }
        const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
        const large = `"${"x".repeat(33 * 1024 * 1024)}"`
        const statuses = yield* Effect.forEach(["{", deep, '{"__proto__":{"model":1}}', large], (body) =>
          Effect.map(call("/v1/rerank", { body, headers }), ({ status }) => status)
        )
        assert.deepStrictEqual(statuses, [400, 400, 400, 413])
        assert.strictEqual((yield* call("/v1/rerank", { method: "DELETE" })).status, 405)
        assert.strictEqual((yield* call("/healthz")).status, 200)
      })
  )
})
