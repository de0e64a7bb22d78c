/** A server in front of gateways in use, which send more than the interface says. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey } from "@sluice/core"
import { encodeVector } from "@sluice/core/contract"
import { Duration, Effect, Schema } from "effect"
import { gatewayUpstream } from "../../apps/demo-server/src/providers/ProvidersSettings.ts"
import { chat, costs, piece, post, startPaidServer } from "../demo-server/PaidServer.ts"
import { filesOf } from "../demo-server/TestServer.ts"
import { json, type Responder } from "../demo-server/Upstream.ts"

const film = { model: "v", prompt: "p", seconds: "4" }
/** Four seconds at ten units. */
const FILM = 40

/** A video task that ends like this at the first poll. */
const task =
  (created: object, last: object): Responder =>
  (response, { method }) =>
    json(response, method === "POST" ? created : last)

describe("tasks of other gateways", () => {
  const ends: ReadonlyArray<readonly [last: object, cost: number]> = [
    [{ id: "t", status: "SUCCEEDED" }, FILM],
    [{ id: "t", status: "FAILED" }, 0],
    [{ id: "t", status: "cancelled" }, 0],
    [{ id: "t", status: "expired" }, 0],
    [{ id: "t", status: "processing", error: { message: "no" } }, 0],
    [{ id: 42, status: "Completed" }, FILM],
    [{ id: "t".repeat(2000), status: "error" }, 0]
  ]
  it.live("are settled or refunded at the first look that shows their end", () =>
    Effect.gen(function* () {
      for (const [last, cost] of ends) {
        const id = String("id" in last ? last.id : "")
        const created = { ...last, status: "queued", error: null }
        const { server } = yield* startPaidServer(task(created, last))
        const look = Effect.andThen(post(server, "/v1/videos", film), server.call(`/v1/videos/${id}`))
        const { status } = yield* costs(server, look, cost)
        assert.strictEqual(status, 200, id.slice(0, 9))
      }
    })
  )

  it.live("images as an object or texts are no tasks", () =>
    Effect.gen(function* () {
      for (const data of [{ url: "https://i.example/1.png" }, ["https://i.example/1.png"]]) {
        const { server } = yield* startPaidServer((response) => json(response, { id: "", data }))
        const made = post(server, "/v1/images/generations", { model: "i", prompt: "p" })
        assert.strictEqual((yield* costs(server, made, 100)).status, 200)
      }
    })
  )
})

describe("texts of other gateways", () => {
  it.live("a stream under another type is passed on as events", () =>
    Effect.gen(function* () {
      const { server } = yield* startPaidServer((response) => {
        const usage = { prompt_tokens: 6, completion_tokens: 3 }
        const sent = [piece("one"), { choices: [], usage }].map((event) => JSON.stringify(event))
        response.writeHead(200, { "content-type": "text/plain" })
        response.end([...sent, "[DONE]"].map((data) => `data: ${data}\n\n`).join(""))
      })
      const { headers, text } = yield* costs(
        server,
        post(server, "/v1/chat/completions", { ...chat, stream: true }),
        9
      )
      assert.include(headers.get("content-type") ?? "", "text/event-stream")
      assert.include(text, '"one"')
    })
  )

  it.live("a word that is also the key stays in answers", () =>
    Effect.gen(function* () {
      const content = "ollama runs local models; none of them is remote"
      for (const SLUICE_API_KEY of ["ollama", "none", "k"]) {
        const respond: Responder = (response) => json(response, { choices: [{ message: { content } }] })
        const { server } = yield* startPaidServer(respond, { SLUICE_API_KEY })
        assert.include((yield* post(server, "/v1/chat/completions", chat)).text, content)
      }
    })
  )
})

describe("an upstream without `base64`", () => {
  const Input = Schema.fromJsonString(
    Schema.Struct({
      input: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
      encoding_format: Schema.optional(Schema.String)
    })
  )
  const floats: Responder = (response, { body, path }) => {
    if (path !== "/v1/embeddings") return json(response, { results: [{ index: 0, relevance_score: 1 }] })
    const { encoding_format, input } = Schema.decodeUnknownSync(Input)(body)
    if (encoding_format === "base64")
      return json(response, { error: { message: "base64 is not supported" } }, 400)
    json(response, { data: [input].flat().map((_, index) => ({ index, embedding: [1] })), model: "e" })
  }

  it.live("serves callers that want it, and is asked for it once", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer(floats)
      for (let i = 0; i < 2; i++) {
        const { status, text } = yield* post(server, "/v1/embeddings", {
          model: "e",
          input: "three",
          encoding_format: "base64"
        })
        assert.strictEqual(status, 200)
        assert.include(text, encodeVector(Float32Array.of(1)))
      }
      assert.strictEqual(requests().filter(({ body }) => body.includes("base64")).length, 1)
    })
  )

  it.live("takes uploads", () =>
    Effect.gen(function* () {
      const { server } = yield* startPaidServer(floats)
      const files = filesOf({ "three.md": "# three\n\nthree herons wait." })
      const { status } = yield* server.call("/documents", { body: files })
      assert.strictEqual(status, 200)
    })
  )
})

describe("time for responses", () => {
  it("is ten minutes for chat and images, one for others", () => {
    const url = "http://127.0.0.1:9"
    const models = { embedding: "e", rerank: "r", chat: "c", vision: undefined, verify: undefined }
    const settings = { accessToken: undefined, models, prefixes: undefined, batch: undefined }
    const { models: served } = gatewayUpstream({ url, apiKey: apiKey("k"), ...settings }, models)
    assert.deepStrictEqual(
      served.map(({ operation, timeout }) => [operation, Duration.toMinutes(timeout)]),
      [
        ["embeddings", 1],
        ["rerank", 1],
        ["chat", 10]
      ]
    )
  })
})
