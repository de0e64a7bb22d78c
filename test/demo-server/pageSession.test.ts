/** The page's session at the gateway: what it allows, and to whom. */
import { assert, it as alone, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type CallOptions, errorOf, startServer, TestServer, testServer } from "./TestServer.ts"

const embeddings = { json: { model: "sluice-lexical-1024", input: "A lock" } }
const token = { json: { name: "made by the page", expired_time: -1, remain_quota: 1 } }

const statusOf = (path: string, options: CallOptions) =>
  Effect.flatMap(TestServer, ({ call }) => Effect.map(call(path, options), ({ status }) => status))

/** Headers of a browser's request from another page; the last case has none. */
const elsewhere = [
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "none" },
  { "sec-fetch-site": "cross-site", origin: "http://evil.example" }
]

layer(testServer(), { excludeTestServices: true })("the page's session at the gateway", (it) => {
  it.effect("calls models and manages keys as the signed-in user", () =>
    Effect.gen(function* () {
      const { call, events, json } = yield* TestServer
      assert.strictEqual(yield* statusOf("/v1/embeddings", { as: "session", ...embeddings }), 200)
      const Made = Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) })
      const { data } = yield* json(Made, "/api/token/", { as: "session", ...token })
      assert.match(data.key, /^sk-/)
      const path = `/api/token/${data.id}`
      assert.strictEqual(yield* statusOf(path, { as: "token" }), 200, "the same user by token")
      assert.strictEqual((yield* call(path, { as: "session", method: "DELETE" })).status, 200)
      const chunks = yield* events(Schema.Unknown, "/v1/chat/completions", {
        as: "session",
        json: { model: "sluice-extractive", stream: true, messages: [{ role: "user", content: "?" }] }
      })
      assert.isAbove(chunks.length, 0)
    })
  )

  it.effect("neither changes nor costs anything from another origin", () =>
    Effect.gen(function* () {
      for (const headers of elsewhere) {
        for (const [path, options] of [
          ["/v1/embeddings", embeddings],
          ["/v1/images/generations", { json: { model: "sluice-image-i1", prompt: "A lock" } }],
          ["/api/token/", token],
          ["/api/token/1", { method: "DELETE" }],
          ["/v1/videos/video_1", { method: "DELETE" }]
        ] as const) {
          const status = yield* statusOf(path, { as: "session", ...options, headers })
          assert.strictEqual(status, 403, `${path} with ${JSON.stringify(headers)}`)
        }
      }
    })
  )

  it.effect("cannot replace the system access token with a GET", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const refused = yield* call("/api/user/token", { as: "session" })
      const error = yield* errorOf(refused)
      assert.strictEqual(refused.status, 401)
      assert.match(error.message, /Bearer.*POST/)
      assert.strictEqual(yield* statusOf("/api/user/self", { as: "token" }), 200)
    })
  )

  it.effect("does not make up for a wrong credential", () =>
    Effect.gen(function* () {
      for (const path of ["/v1/models", "/api/models"]) {
        const headers = { authorization: "Bearer sk-wrong" }
        assert.strictEqual(yield* statusOf(path, { as: "session", headers }), 401)
      }
    })
  )

  it.effect("is invalid once it is closed", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      assert.strictEqual((yield* call("/session", { as: "session", method: "DELETE" })).status, 204)
      assert.strictEqual(yield* statusOf("/v1/models", { as: "session" }), 401)
      assert.strictEqual(yield* statusOf("/v1/embeddings", { as: "session", ...embeddings }), 401)
    })
  )
})

alone.live("replacing the system access token ends all other sessions", () =>
  Effect.gen(function* () {
    const { call, json, secrets } = yield* startServer()
    const Text = Schema.Struct({ data: Schema.String })
    const signedIn = Effect.fnUntraced(function* (credential: Record<string, string>) {
      const { headers } = yield* call("/session", { as: "none", json: credential })
      const cookie = headers.get("set-cookie")?.split(";")[0] ?? ""
      return { as: "none", headers: { cookie, "sec-fetch-site": "same-origin" } } as const
    })
    const bearer = (token: string) => ({ as: "none", headers: { authorization: `Bearer ${token}` } }) as const
    const lets = (page: CallOptions, path = "/api/user/self") =>
      Effect.map(call(path, page), ({ status }) => status === 200)

    const byKey = yield* signedIn({ apiKey: secrets.apiKey })
    const here = yield* signedIn({ accessToken: secrets.accessToken })
    const there = yield* signedIn({ accessToken: secrets.accessToken })
    const { data: second } = yield* json(Text, "/api/user/token", { ...here, method: "POST" })
    assert.deepStrictEqual([yield* lets(here), yield* lets(there)], [true, false])
    const { data: third } = yield* json(Text, "/api/user/token", bearer(second))
    assert.isFalse(yield* lets(here))
    const again = yield* signedIn({ accessToken: third })
    const { data: last } = yield* json(Text, "/api/user/owner/token", { ...bearer(third), method: "POST" })
    assert.deepStrictEqual([yield* lets(again), yield* lets(bearer(last))], [false, true])
    assert.isTrue(yield* lets(byKey, "/v1/models"))
  }).pipe(Effect.scoped)
)
