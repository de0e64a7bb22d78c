/** Stopping the server: running calls, streams, and tasks that continue at the next start. */
import { assert, describe, it } from "@effect/vitest"
import { ErrorBody, Video } from "@sluice/core/contract"
import { Deferred, Effect, Exit, Fiber, Schedule, Schema, Scope } from "effect"
import { existsSync } from "node:fs"
import { createServer, request, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { join } from "node:path"
import { PNG } from "../../packages/core/src/conformance/checks/Chat.ts"
import { quotaOf, Self } from "../demo-server/AccountCalls.ts"
import { chat, CHAT_INPUT, codeOf, events, piece, post as ask, priced } from "../demo-server/PaidServer.ts"
import { addressIn, dataFolder, keyIn, startProcess } from "../demo-server/Process.ts"
import { startServer } from "../demo-server/TestServer.ts"
import { json, startUpstream } from "../demo-server/Upstream.ts"

/** Milliseconds. A video takes a second or two on an idle machine. */
const FILM = 120_000

/** The starting balance of the first administrator, in units. */
const GRANTED = 500_000_000

/**
 * A gateway whose streams never end, and which holds back its other responses until `release`. `received` waits for the
 * expected number of calls.
 */
const heldGateway = Effect.fnUntraced(function* (expected: number) {
  const held: Array<ServerResponse> = []
  const allReceived = yield* Deferred.make<void>()
  let calls = 0
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      if (request.url !== "/v1/chat/completions") return void response.writeHead(404).end()
      if (body.includes('"stream":true')) {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Slowly" } }] })}\n\n`
        )
      } else held.push(response)
      calls += 1
      if (calls === expected) Deferred.doneUnsafe(allReceived, Effect.void)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void (server.close(), server.closeAllConnections()))
  )
  const release = Effect.sync(() => {
    const answer = { choices: [{ index: 0, message: { role: "assistant", content: "At last" } }] }
    for (const response of held) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
    }
  })
  return {
    env: {
      SLUICE_GATEWAY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      SLUICE_API_KEY: "upstream-key",
      SLUICE_EMBEDDING_MODEL: "e",
      SLUICE_RERANK_MODEL: "r",
      SLUICE_CHAT_MODEL: "c"
    },
    received: Deferred.await(allReceived),
    release
  }
})

interface Answer {
  readonly status: number | undefined
  readonly text: string
  readonly retryAfter: string | undefined
  /** Whether the response was received completely. */
  readonly whole: boolean
}

const post = (url: URL, key: string, body: object) =>
  new Promise<Answer>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const sent = request(new URL("/v1/chat/completions", url), { method: "POST", headers }, (response) => {
      let text = ""
      response.on("data", (chunk) => (text += String(chunk)))
      response.on("error", () => {})
      response.on("close", () => {
        const retryAfter = response.headers["retry-after"]
        resolve({ status: response.statusCode, text, retryAfter, whole: response.complete })
      })
    })
    sent.on("error", reject)
    sent.end(JSON.stringify({ messages: [{ role: "user", content: "When?" }], ...body }))
  })

const isRefused = ({ port }: URL) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(Number(port), "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resume(Effect.succeed(false))
    })
    socket.once("error", () => resume(Effect.succeed(true)))
  })

describe("a server that is stopping", () => {
  it.live("accepts no calls, finishes running ones, and ends streams with an error event", () =>
    Effect.gen(function* () {
      const gateway = yield* heldGateway(2)
      const started = yield* startProcess({
        ...gateway.env,
        SLUICE_DATA: yield* dataFolder,
        SLUICE_SHUTDOWN_SECONDS: "3"
      })
      const banner = yield* started.printed("The API key is for")
      const [url, key] = [addressIn(banner), keyIn(banner)]
      const stream = post(url, key, { model: "c", stream: true })
      const call = post(url, key, { model: "c" })
      yield* gateway.received
      yield* started.signal("SIGINT")
      yield* Effect.repeat(isRefused(url), {
        schedule: Schedule.spaced("20 millis"),
        until: (refused) => refused
      })
      yield* gateway.release

      const answered = yield* Effect.promise(() => call)
      assert.deepStrictEqual([answered.status, answered.whole], [200, true])
      assert.include(answered.text, "At last")
      const { status, text, whole } = yield* Effect.promise(() => stream)
      assert.deepStrictEqual([status, whole], [200, true])
      assert.include(text, "Slowly")
      const last =
        text
          .trimEnd()
          .split("\n\n")
          .at(-1)
          ?.replace(/^data: /, "") ?? ""
      const { error } = Schema.decodeUnknownSync(
        Schema.fromJsonString(Schema.Struct({ error: ErrorBody.fields.error }))
      )(last)
      assert.strictEqual(error.code, "shutting_down")
      const { code, stderr } = yield* started.ended
      assert.strictEqual(code, 0, stderr)
    }).pipe(Effect.scoped)
  )

  it.live("interrupts an embedded image that takes too long, with 503", () =>
    Effect.gen(function* () {
      const data = yield* dataFolder
      const scope = yield* Scope.make()
      const env = { SLUICE_SHUTDOWN_SECONDS: "0.2" }
      const server = yield* startServer({ data, env }).pipe(Scope.provide(scope))
      const image = { model: "sluice-image-i2", prompt: "a lock", n: 10, size: "1024x1024" }
      const balance = quotaOf(server)
      const before = yield* balance
      const json = { ...image, response_format: "url" }
      const drawing = yield* Effect.forkChild(server.call("/v1/images/generations", { json }))
      yield* Effect.repeat(balance, {
        schedule: Schedule.spaced("5 millis"),
        until: (left) => left < before,
        times: 1000
      })
      yield* Scope.close(scope, Exit.void)
      const response = yield* Fiber.join(drawing)
      assert.strictEqual(response.status, 503)
      assert.isFalse(existsSync(join(data, "media", "files")))
    }).pipe(Effect.scoped)
  )

  it.live("interrupts a call that takes too long, with a retryable 503", () =>
    Effect.gen(function* () {
      const gateway = yield* heldGateway(1)
      const scope = yield* Scope.make()
      const env = { ...gateway.env, SLUICE_SHUTDOWN_SECONDS: "0.2" }
      const { secrets, url } = yield* startServer({ env }).pipe(Scope.provide(scope))
      const call = post(new URL(url), secrets.apiKey, { model: "c" })
      yield* gateway.received
      yield* Scope.close(scope, Exit.void)
      const { retryAfter, status, text } = yield* Effect.promise(() => call)
      const { error } = Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))(text)
      assert.deepStrictEqual([status, error.code, retryAfter], [503, "shutting_down", "1"])
    }).pipe(Effect.scoped)
  )

  it.live("waits for creations of upstreams, and charges interrupted streams for the received text", () =>
    Effect.gen(function* () {
      const allReceived = yield* Deferred.make<void>()
      const made: Array<() => void> = []
      let expected = 5
      const upstream = yield* startUpstream((response, { body, path }) => {
        if (path === "/v1/images/generations") {
          made.push(() => json(response, { created: 1, data: [{ url: "https://cdn.example/1.png" }] }))
        } else if (path === "/v1/videos") {
          made.push(() => json(response, { id: "a film", status: "in_progress", seconds: "8" }))
        } else if (path !== "/v1/chat/completions") return void response.writeHead(404).end()
        else if (body.includes('"stream":true')) events(response, piece("One"))
        expected -= 1
        if (expected === 0) Deferred.doneUnsafe(allReceived, Effect.void)
      })
      const data = yield* dataFolder
      const env = { ...upstream.env, ...(yield* priced), SLUICE_SHUTDOWN_SECONDS: "0.2" }
      const scope = yield* Scope.make()
      const server = yield* startServer({ data, env }).pipe(Scope.provide(scope))
      const begin = (path: string, body: unknown, headers = {}) =>
        Effect.forkChild(ask(server, path, body, { headers }))
      const image = yield* begin("/v1/images/generations", { model: "painter", prompt: "a lock" })
      const video = yield* begin("/v1/videos", { model: "animator", prompt: "a lock", seconds: "8" })
      const call = yield* begin("/v1/chat/completions", chat)
      const named = yield* begin("/v1/chat/completions", chat, { "idempotency-key": "a-question" })
      const streamed = { ...chat, stream: true }
      const cut = { "idempotency-key": "a-stream" }
      const stream = yield* begin("/v1/chat/completions", streamed, cut)
      yield* Deferred.await(allReceived)

      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      const refused = yield* Fiber.join(named)
      assert.deepStrictEqual([refused.status, codeOf(refused)], [503, "shutting_down"])
      for (const answer of made) answer()
      const { status, text } = yield* Fiber.join(image)
      assert.deepStrictEqual([status, text.includes("1.png")], [200, true])
      const film = yield* Fiber.join(video)
      assert.deepStrictEqual([film.status, film.text.includes("a film")], [200, true])
      const other = yield* Fiber.join(call)
      assert.deepStrictEqual([other.status, codeOf(other)], [503, "shutting_down"])
      assert.include((yield* Fiber.join(stream)).text, "shutting_down")
      yield* Fiber.join(closing)

      const next = yield* startServer({ data, env })
      const key = { ...cut, authorization: `Bearer ${server.secrets.apiKey}` }
      const again = yield* ask(next, "/v1/chat/completions", streamed, { as: "none", headers: key })
      assert.deepStrictEqual([again.status, codeOf(again)], [409, "idempotency_answer_not_kept"])
      const headers = { authorization: `Bearer ${server.secrets.accessToken}` }
      const { data: self } = yield* next.json(Self, "/api/user/self", { as: "none", headers })
      // The image, the reserve of the running video, and the stream's input with one received word.
      assert.strictEqual(self.quota, GRANTED - 100 - 80 - CHAT_INPUT - 1)
    }).pipe(Effect.scoped)
  )

  it.live(
    "continues a video at its next start",
    () =>
      Effect.gen(function* () {
        const data = yield* dataFolder
        const first = yield* startProcess({ SLUICE_DATA: data })
        const banner = yield* first.printed("The API key is for")
        const headers = { authorization: `Bearer ${keyIn(banner)}`, "content-type": "application/json" }
        const video = (url: URL, init: RequestInit = {}) =>
          Effect.promise(async () => {
            const response = await fetch(url, { ...init, headers })
            return Schema.decodeUnknownSync(Video)(await response.json())
          })
        const body = {
          model: "sluice-video-from-image",
          prompt: "A barge",
          seconds: "2",
          size: "480P",
          input_reference: PNG
        }
        const made = yield* video(new URL("/v1/videos", addressIn(banner)), {
          method: "POST",
          body: JSON.stringify(body)
        })
        const task = `/v1/videos/${made.id}`
        const running = yield* Effect.repeat(video(new URL(task, addressIn(banner))), {
          schedule: Schedule.spaced("20 millis"),
          until: ({ extra, status }) => status !== "in_progress" || Number(extra?.["progress"]) > 0
        })
        assert.strictEqual(running.status, "in_progress")
        yield* first.signal("SIGTERM")
        assert.strictEqual((yield* first.ended).code, 0)

        const second = yield* startProcess({ SLUICE_DATA: data })
        const url = addressIn(yield* second.printed("Reference"))
        const ended = yield* Effect.repeat(video(new URL(task, url)), {
          schedule: Schedule.spaced("100 millis"),
          until: ({ status }) => status === "completed" || status === "failed"
        })
        assert.strictEqual(ended.status, "completed")
        const content = yield* Effect.promise(() => fetch(new URL(`${task}/content`, url), { headers }))
        assert.deepStrictEqual([content.status, content.headers.get("content-type")], [200, "video/mp4"])
      }).pipe(Effect.scoped),
    FILM
  )
})
