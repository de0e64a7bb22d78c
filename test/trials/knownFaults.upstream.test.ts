/**
 * Known faults of other gateways, tested on this one: responses of upstreams, and separation of tenants. Numbered like the
 * list of faults. More of 17 is in `upstream`, `providers` and `charges`.
 */
import { assert, describe, it } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Deferred, Effect, Fiber, Option, Schema } from "effect"
import type { ServerResponse } from "node:http"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type CallOptions, startServer } from "../demo-server/TestServer.ts"
import { type Responder, json, startUpstream } from "../demo-server/Upstream.ts"

const decodeError = Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))

const canary = "sk-canary-upstream-credential"

/** A server in front of an upstream with the given response. `requests` are the credentials of the calls to one path. */
const startWithUpstream = Effect.fnUntraced(function* (
  path: string,
  answer: Responder,
  env: Record<string, string> = {}
) {
  const requests: Array<string | undefined> = []
  const upstream = yield* startUpstream((response, call, request) => {
    // The server's library sends embeddings calls of its own.
    if (!call.path.startsWith(path)) return json(response, {}, 404)
    requests.push(request.headers.authorization)
    answer(response, call, request)
  })
  const server = yield* startServer({ env: { ...upstream.env, SLUICE_API_KEY: canary, ...env } })
  return { ...server, requests }
})

const rerank = { model: "r", query: "canary-question", documents: ["d"] }
const ranked = { results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 2 } }
const chat = { model: "c", messages: [{ role: "user", content: "When?" }] }
const CHAT = "/v1/chat/completions"

const textOf = (response: Response) => Effect.promise(() => response.text())

const event = (content: string) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

const startEvents = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(event("first"))
}

const bearer = (secret: string) => ({ as: "none", headers: { authorization: `Bearer ${secret}` } }) as const
const Made = Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) })
const key = { name: "another", expired_time: -1, remain_quota: 500_000, subnet: "" }

describe("known faults of gateways, with an upstream", () => {
  it.live("4: a body or header that names another upstream neither reaches it nor sends it the key", () =>
    Effect.gen(function* () {
      const thief = yield* startUpstream((response) => json(response, ranked))
      const address = thief.env["SLUICE_GATEWAY_URL"] ?? ""
      const { requests, call } = yield* startWithUpstream("/v1/", (response, { body }) => {
        if (!body.includes('"stream":true'))
          return json(response, { ...ranked, id: "1", choices: [{}], data: [{}] })
        startEvents(response)
        response.end("data: [DONE]\n\n")
      })
      const names = ["api_base", "base_url", "baseURL", "url", "endpoint", "api_key", "custom_host"]
      const body = Object.fromEntries(names.map((name) => [name, address]))
      const headers = {
        "x-api-base": address,
        "x-base-url": address,
        "x-custom-host": address,
        "x-forwarded-host": new URL(address).host
      }
      const calls = {
        "/v1/rerank": [rerank],
        [CHAT]: [chat, { ...chat, stream: true }],
        "/v1/images/generations": [{ model: "i", prompt: "A lock" }],
        "/v1/videos": [{ model: "v", prompt: "A lock" }]
      }
      for (const [path, bodies] of Object.entries(calls)) {
        for (const request of bodies) {
          const before = requests.length
          const response = yield* call(`${path}?api_base=${encodeURIComponent(address)}`, {
            json: { ...request, ...body },
            headers
          })
          yield* textOf(response)
          assert.strictEqual(response.status, 200, path)
          assert.strictEqual(requests.at(-1), `Bearer ${canary}`, path)
          assert.isAbove(requests.length, before, path)
        }
      }
      assert.deepStrictEqual(thief.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("12: no header of an upstream reaches the caller, whole or streamed", () =>
    Effect.gen(function* () {
      const headers = {
        "set-cookie": "session=stolen",
        "access-control-allow-origin": "*",
        "access-control-allow-credentials": "true",
        "cache-control": "public, max-age=31536000",
        "strict-transport-security": "max-age=31536000",
        "content-security-policy": "default-src *",
        "x-request-id": "theirs",
        "x-secret": "canary",
        server: "theirs",
        location: "http://evil.example/"
      }
      const { call } = yield* startWithUpstream("/v1/", (response, { body }) => {
        const isStream = body.includes('"stream":true')
        response.writeHead(200, {
          ...headers,
          "content-type": isStream ? "text/event-stream" : "application/json"
        })
        response.end(isStream ? `${event("a")}data: [DONE]\n\n` : JSON.stringify(ranked))
      })
      for (const [path, json] of [
        ["/v1/rerank", rerank],
        [CHAT, { ...chat, stream: true }]
      ] as const) {
        const response = yield* call(path, { json })
        yield* textOf(response)
        assert.strictEqual(response.status, 200)
        for (const [name, value] of Object.entries(headers)) {
          assert.notStrictEqual(response.headers.get(name), value, `${name} of ${path}`)
        }
        assert.strictEqual(response.headers.get("cache-control"), "private, no-store")
      }
    }).pipe(Effect.scoped)
  )

  it.live("12: a video with public cache headers of an upstream is private here", () =>
    Effect.gen(function* () {
      const { call } = yield* startWithUpstream("/v1/videos", (response, { path }) => {
        if (!path.endsWith("/content")) return json(response, { id: "v1", status: "completed" })
        response.writeHead(200, {
          "content-type": "video/mp4",
          "cache-control": "public, max-age=31536000",
          "set-cookie": "session=stolen",
          "access-control-allow-origin": "*"
        })
        response.end("film")
      })
      yield* call("/v1/videos", { json: { model: "v", prompt: "p" } })
      const content = yield* call("/v1/videos/v1/content")
      assert.strictEqual(yield* textOf(content), "film")
      assert.deepStrictEqual(
        ["cache-control", "set-cookie", "access-control-allow-origin"].map((name) =>
          content.headers.get(name)
        ),
        ["private, no-store", null, null]
      )
    }).pipe(Effect.scoped)
  )

  it.live("12: HEAD does not download a video", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const { call } = yield* startWithUpstream("/v1/videos", (response, { path }) => {
        if (!path.endsWith("/content")) return json(response, { id: "v1", status: "completed" })
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        response.writeHead(200, { "content-type": "video/mp4" })
        response.write("film")
      })
      yield* call("/v1/videos", { json: { model: "v", prompt: "p" } })
      const head = yield* call("/v1/videos/v1/content", { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.headers.get("content-type")], [200, "video/mp4"])
      // Sooner than garbage collection would close it.
      assert.isTrue(Option.isSome(yield* Effect.timeoutOption(Deferred.await(closed), "4 seconds")))
    }).pipe(Effect.scoped)
  )

  it.live("14: a key disabled during a stream gets the rest of it, and nothing more", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<ServerResponse>()
      const { call, json } = yield* startWithUpstream(CHAT, (response) => {
        startEvents(response)
        Deferred.doneUnsafe(started, Effect.succeed(response))
      })
      const { data } = yield* json(Made, "/api/token/", { as: "token", json: key })
      const streamed = yield* call(CHAT, { ...bearer(data.key), json: { ...chat, stream: true } })
      const upstream = yield* Deferred.await(started)
      yield* call("/api/token/", { as: "token", method: "PUT", json: { id: data.id, status: 0 } })
      assert.strictEqual((yield* call("/v1/models", bearer(data.key))).status, 401)
      upstream.end(`${event("last")}data: [DONE]\n\n`)
      const text = yield* textOf(streamed)
      assert.include(text, "last")
      assert.include(text, "[DONE]")
    }).pipe(Effect.scoped)
  )

  it.live("a stream ends with its last event and closes the upstream's connection", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const { call } = yield* startWithUpstream(CHAT, (response) => {
        startEvents(response)
        response.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
        response.write(`${event("last")}data: [DONE]\n\n${event("late")}`)
      })
      const text = yield* textOf(yield* call(CHAT, { json: { ...chat, stream: true } }))
      assert.strictEqual(text, `${event("first")}${event("last")}data: [DONE]\n\n`)
      yield* Deferred.await(closed)
    }).pipe(Effect.scoped)
  )

  for (const env of [{ SLUICE_LOG: "json" }, { SLUICE_LOG_REQUESTS: "true" }]) {
    it.live(
      `15: no secret and no text of a caller is in a log, an error, a metric or a file (${Object.keys(env)[0]})`,
      () =>
        Effect.gen(function* () {
          const echo: Responder = (response, _, request) =>
            json(
              response,
              { error: { message: `refused ${request.headers.authorization} for canary-question` } },
              401
            )
          const { call, data, printed, secrets } = yield* startWithUpstream("/v1/rerank", echo, env)
          const login = printed.length
          const answers = yield* Effect.forEach(
            [
              ["/v1/rerank", { json: rerank }],
              ["/v1/rerank", { ...bearer("sk-canary-wrong-credential"), json: rerank }],
              ["/v1/rerank", { as: "token", json: rerank }],
              ["/api/user/self", { as: "key" }],
              [`/v1/models?key=${secrets.apiKey}`, {}],
              [`/${secrets.apiKey}`, {}],
              ["/session", { as: "none", json: { apiKey: secrets.apiKey } }],
              ["/session", { as: "none", json: { login: secrets.login } }],
              ["/qa", { json: { question: "canary-question" } }]
            ] as ReadonlyArray<readonly [string, CallOptions]>,
            ([path, options]) => Effect.flatMap(call(path, options), textOf)
          )
          const metrics = yield* Effect.flatMap(call("/metrics", { as: "none" }), textOf)
          const names = yield* Effect.promise(() => readdir(data, { recursive: true, withFileTypes: true }))
          const files = yield* Effect.promise(() =>
            Promise.all(
              names
                .filter((entry) => entry.isFile())
                .map((entry) => readFile(join(entry.parentPath, entry.name), "latin1"))
            )
          )
          const lines = printed.slice(login)
          assert.isAbove(lines.filter((line) => /\brequest\b/.test(line)).length, 5)
          assert.isAbove(files.length, 0)
          for (const secret of [canary, "canary-wrong", secrets.apiKey, secrets.accessToken, secrets.login]) {
            for (const [where, texts] of [
              ["the log", lines],
              ["a metric", [metrics]],
              ["a file", files]
            ] as const) {
              assert.isFalse(
                texts.some((text) => text.includes(secret)),
                `${secret.slice(0, 12)} in ${where}`
              )
            }
          }
          for (const text of [...lines, metrics]) assert.notInclude(text, "canary-question")
          for (const text of answers) assert.notInclude(text, canary)
        }).pipe(Effect.scoped)
    )
  }

  it.live("16: no response comes from another user's request, even with the same Idempotency-Key", () =>
    Effect.gen(function* () {
      let times = 0
      const {
        requests,
        call,
        json: read,
        secrets
      } = yield* startWithUpstream("/v1/rerank", (response) => {
        times += 1
        json(response, { ...ranked, id: `answer-${times}` })
      })
      const Person = Schema.Struct({ data: Schema.Struct({ access_token: Schema.String }) })
      const other = yield* read(Person, "/api/user", {
        as: "token",
        json: { username: "ann", quota: 500_000 }
      })
      const made = yield* read(Made, "/api/token/", { ...bearer(other.data.access_token), json: key })
      const ask = (secret: string) =>
        Effect.flatMap(
          call("/v1/rerank", {
            as: "none",
            json: rerank,
            headers: { authorization: `Bearer ${secret}`, "idempotency-key": "the-same" }
          }),
          textOf
        )
      assert.include(yield* ask(secrets.apiKey), "answer-1")
      assert.include(yield* ask(made.data.key), "answer-2")
      assert.include(yield* ask(secrets.apiKey), "answer-1")
      assert.lengthOf(requests, 2)
    }).pipe(Effect.scoped)
  )

  it.live(
    "17: an upstream that closes early is an error, whole or streamed, and the server keeps running",
    () =>
      Effect.gen(function* () {
        const { call } = yield* startWithUpstream("/v1/", (response, { body }) => {
          if (body.includes('"stream":true')) startEvents(response)
          else response.writeHead(200, { "content-type": "application/json", "content-length": "500" })
          response.write(body.includes('"stream":true') ? event("second") : '{"results":[', () =>
            response.destroy()
          )
        })
        const broken = yield* call("/v1/rerank", { json: rerank })
        assert.strictEqual(broken.status, 502)
        decodeError(yield* textOf(broken))
        const streamed = yield* call(CHAT, { json: { ...chat, stream: true } })
        const text = yield* textOf(streamed)
        assert.include(text, "second")
        assert.include(text, '"error"')
        assert.notInclude(text, "[DONE]")
        assert.strictEqual((yield* call("/healthz")).status, 200)
      }).pipe(Effect.scoped)
  )

  it.live("15, 17: a stream contains no key, and a truncated event is reported", () =>
    Effect.gen(function* () {
      const { call } = yield* startWithUpstream(CHAT, (response, { body }) => {
        startEvents(response)
        if (body.includes("cut")) return response.end('data: {"id":"1","choi')
        response.end(`data: {"error":{"message":"bad key ${canary}"}}\n\ndata: [DONE]\n\n`)
      })
      const ask = (content: string) =>
        call(CHAT, { json: { ...chat, messages: [{ role: "user", content }], stream: true } })
      const redacted = yield* Effect.flatMap(ask("tell"), textOf)
      assert.include(redacted, "bad key <redacted>")
      assert.notInclude(redacted, canary)
      const [error, ...rest] = (yield* Effect.flatMap(ask("cut"), textOf)).split("data: ").slice(2)
      decodeError(error ?? "")
      assert.isEmpty(rest)
    }).pipe(Effect.scoped)
  )

  it.live("17: a stream without [DONE] ends when it ends", () =>
    Effect.gen(function* () {
      const { call } = yield* startWithUpstream(CHAT, (response) => {
        startEvents(response)
        response.end()
      })
      const streamed = yield* call(CHAT, { json: { ...chat, stream: true } })
      assert.include(yield* textOf(streamed), "first")
    }).pipe(Effect.scoped)
  )

  for (const after of ["", "1000000000", "-5", "soon", new Date(Date.now() + 3_600_000).toUTCString()]) {
    it.live(
      `17: rate-limited calls are not retried, and the response has a valid retry-after (${after})`,
      () =>
        Effect.gen(function* () {
          const { requests, call } = yield* startWithUpstream("/v1/rerank", (response) => {
            response.setHeader("retry-after", after)
            json(response, { error: { message: "slower" } }, 429)
          })
          const calls = yield* Effect.forkChild(
            Effect.forEach(Array.from({ length: 20 }), () => call("/v1/rerank", { json: rerank }), {
              concurrency: "unbounded"
            })
          )
          for (const response of yield* Fiber.join(calls)) {
            assert.include([429, 503], response.status)
            const wait = response.headers.get("retry-after")
            assert.match(wait ?? "none", /^\d{1,5}$/)
          }
          assert.isAtMost(requests.length, 20)
        }).pipe(Effect.scoped)
    )
  }
})
