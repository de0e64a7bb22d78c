/** An upstream's protocol, registered by the program. */
import { assert, it } from "@effect/vitest"
import { ChatChunk, ChatResponse, EmbeddingResponse, Video } from "@sluice/core/contract"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  type Dialect,
  Dialects,
  type Fields,
  gateway,
  type InterfaceRequest
} from "../../packages/providers/src/index.ts"
import { fieldOf } from "../../apps/demo-server/src/routing/ResponseBody.ts"
import { loopback } from "./Loopback.ts"
import { errorOf, failedStart, startServer, temporaryFolder } from "./TestServer.ts"

const lastText = (body: Fields): unknown => {
  const messages = body["messages"]
  return Array.isArray(messages) ? fieldOf(messages.at(-1), "content") : body["input"]
}

const usageOf = (body: unknown) =>
  fieldOf(body, "read") === undefined
    ? {}
    : { usage: { prompt_tokens: fieldOf(body, "read"), completion_tokens: fieldOf(body, "wrote") } }

const request = (body: Fields) => ({ ask: lastText(body), live: body["stream"] === true })
const path =
  (operation: string) =>
  ({ model }: InterfaceRequest) =>
    `/toy/${model}/${operation}`

const toy: Dialect = {
  id: "toy",
  name: "Toy",
  sign: (key) => ({ "x-toy-key": key }),
  operations: {
    chat: {
      path: path("chat"),
      request,
      response: (body) => ({
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: fieldOf(body, "say") },
            finish_reason: "stop"
          }
        ],
        ...usageOf(body)
      }),
      events: () => ({
        push: (event) => [{ choices: [{ index: 0, delta: { content: event["say"] } }], ...usageOf(event) }],
        end: () => ["[DONE]"]
      })
    },
    embeddings: {
      path: path("embeddings"),
      request,
      response: (body) => ({ data: [{ index: 0, embedding: fieldOf(body, "numbers") }], ...usageOf(body) })
    },
    videos: {
      path: path("videos"),
      request: ({ prompt }) => ({ film: prompt }),
      task: {
        reference: (body) => String(fieldOf(body, "job")),
        status: (reference, model) => ({ path: `/toy/jobs/${model}/${reference}` }),
        state: (body, reference) =>
          fieldOf(body, "percent") === 100
            ? { status: "completed", files: [`/toy/files/${reference}.mp4`] }
            : { status: "in_progress" },
        remove: (reference, model) => ({ path: `/toy/jobs/${model}/${reference}` })
      }
    }
  },
  error: (body) => {
    const oops = fieldOf(body, "oops")
    return typeof oops === "string" ? { message: oops, code: "toy_error" } : undefined
  }
}

/** An upstream that speaks the toy protocol, and the requests that it got. */
const startToy = Effect.gen(function* () {
  const requests: Array<{ readonly path: string; readonly key: unknown; readonly body: unknown }> = []
  let percent = 0
  const { url } = yield* loopback(({ body, headers, method, path, response }) => {
    const asked = body === "" ? { method } : (JSON.parse(body) as Fields)
    requests.push({ path, key: headers["x-toy-key"], body: asked })
    if (path.startsWith("/toy/files/")) {
      response.writeHead(200, { "content-type": "video/mp4" })
      return response.end("film")
    }
    if (path.startsWith("/toy/jobs/")) {
      response.writeHead(200, { "content-type": "application/json" })
      return response.end(JSON.stringify({ job: "j1", percent: (percent = Math.min(100, percent + 50)) }))
    }
    if (path.endsWith("/videos")) {
      response.writeHead(200, { "content-type": "application/json" })
      return response.end(JSON.stringify({ job: "j1" }))
    }
    if (asked["ask"] === "fail") {
      response.writeHead(400, { "content-type": "application/json" })
      return response.end(JSON.stringify({ oops: "it rains" }))
    }
    if (asked["live"] === true) {
      response.writeHead(200, { "content-type": "text/event-stream" })
      return response.end('data: {"say":"good"}\n\ndata: {"say":" day","read":3,"wrote":2}\n\n')
    }
    response.writeHead(200, { "content-type": "application/json" })
    const answer = path.endsWith("embeddings") ? { numbers: [1, 2] } : { say: "good day" }
    return response.end(JSON.stringify({ ...answer, read: 3, wrote: 2 }))
  })
  const folder = yield* temporaryFolder
  const file = join(folder, "sluice.config.json")
  const models = [
    { id: "t", operation: "chat", aliases: ["mine"] },
    { id: "v", operation: "embeddings" },
    { id: "f", operation: "videos" }
  ]
  const upstream = { id: "toys", url, dialect: "toy", apiKey: { env: "TOY_KEY" }, models }
  writeFileSync(file, JSON.stringify({ upstreams: [upstream] }))
  return { env: { SLUICE_CONFIG: file, TOY_KEY: "sk-toy" }, requests }
})

it.live("chat, streams, embeddings and errors pass through a registered protocol", () =>
  Effect.gen(function* () {
    const { env, requests } = yield* startToy
    const server = yield* Effect.provideService(startServer({ env }), Dialects, [gateway, toy])
    const messages = [{ role: "user", content: "hello" }]

    const chat = yield* server.json(ChatResponse, "/v1/chat/completions", {
      json: { model: "mine", messages }
    })
    assert.strictEqual(chat.choices[0]?.message.content, "good day")
    assert.deepInclude(chat.usage, { prompt_tokens: 3, completion_tokens: 2 })
    assert.deepStrictEqual(requests.at(-1), {
      path: "/toy/t/chat",
      key: "sk-toy",
      body: { ask: "hello", live: false }
    })

    const chunks = yield* server.events(ChatChunk, "/v1/chat/completions", {
      json: { model: "t", messages, stream: true, stream_options: { include_usage: true } }
    })
    assert.strictEqual(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), "good day")
    assert.deepInclude(chunks.at(-1)?.usage, { prompt_tokens: 3 })

    const vectors = yield* server.json(EmbeddingResponse, "/v1/embeddings", {
      json: { model: "v", input: "hello" }
    })
    assert.deepStrictEqual([...(vectors.data[0]?.embedding ?? [])], [1, 2])

    const failed = yield* server.call("/v1/chat/completions", {
      json: { model: "t", messages: [{ role: "user", content: "fail" }] }
    })
    assert.strictEqual(failed.status, 400)
    assert.deepInclude(yield* errorOf(failed), { message: "it rains", code: "toy_error" })
  }).pipe(Effect.scoped)
)

it.live("video tasks pass through a registered protocol", () =>
  Effect.gen(function* () {
    const { env, requests } = yield* startToy
    const server = yield* Effect.provideService(startServer({ env }), Dialects, [gateway, toy])
    const { id, status } = yield* server.json(Video, "/v1/videos", {
      json: { model: "f", prompt: "a barge" }
    })
    assert.strictEqual(status, "in_progress")
    assert.deepStrictEqual(requests.at(-1), {
      path: "/toy/f/videos",
      key: "sk-toy",
      body: { film: "a barge" }
    })

    for (const status of ["in_progress", "completed"]) {
      assert.strictEqual((yield* server.json(Video, `/v1/videos/${id}`)).status, status)
      assert.strictEqual(requests.at(-1)?.path, "/toy/jobs/f/j1")
    }

    const file = yield* server.call(`/v1/videos/${id}/content`)
    assert.deepInclude(
      requests.find(({ path }) => path.startsWith("/toy/files")),
      { path: "/toy/files/j1.mp4", key: "sk-toy" }
    )
    assert.strictEqual(yield* Effect.promise(() => file.text()), "film")

    const removed = yield* server.call(`/v1/videos/${id}`, { method: "DELETE" })
    assert.strictEqual(removed.status, 200)
    assert.deepInclude(requests.at(-1), { path: "/toy/jobs/f/j1", body: { method: "DELETE" } })
  }).pipe(Effect.scoped)
)

it.live("an unknown protocol fails the start, and the message lists the known ones", () =>
  Effect.gen(function* () {
    const { env } = yield* startToy
    const { printed } = yield* failedStart(yield* temporaryFolder, env)
    assert.include(printed, "the dialect toy is unknown. Known dialects: gateway, openai")
  }).pipe(Effect.scoped)
)
