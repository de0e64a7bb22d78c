/** Headers about the caller are used from trusted proxies only. */
import { assert, it, layer } from "@effect/vitest"
import { ErrorBody, ImageResponse } from "@sluice/core/contract"
import { ConfigProvider, Effect, Layer } from "effect"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { MadeKey } from "./AccountCalls.ts"
import { testServer, TestServer } from "./TestServer.ts"

/** The statuses of calls with a key for `subnet`, for each value of the header. */
const statuses = (subnet: string, forwarded: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { call, json } = yield* TestServer
    const { data } = yield* json(MadeKey, "/api/token/", {
      as: "token",
      json: { name: "narrow", remain_quota: 50_000, expired_time: -1, subnet }
    })
    return yield* Effect.forEach(forwarded, (value) =>
      Effect.map(
        call("/v1/models", {
          as: "none",
          headers: { authorization: `Bearer ${data.key}`, ...(value !== "" && { "x-forwarded-for": value }) }
        }),
        ({ status }) => status
      )
    )
  })

const linkOf = (headers: Record<string, string>) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const request = { model: "sluice-image-i1", prompt: "A lock", size: "256x256", response_format: "url" }
    const { data } = yield* json(ImageResponse, "/v1/images/generations", { json: request, headers })
    return data?.[0]?.url ?? ""
  })

layer(testServer({ env: { SLUICE_TRUSTED_PROXIES: "127.0.0.0/8, 10.0.0.0/8" } }), {
  excludeTestServices: true
})("behind a trusted proxy", (it) => {
  it.effect("the caller's address is the one that the proxy appended", () =>
    Effect.gen(function* () {
      const seen = yield* statuses("203.0.113.0/24", [
        "203.0.113.9",
        "::ffff:203.0.113.9",
        "203.0.113.9:4711",
        "198.51.100.1, 203.0.113.9",
        "203.0.113.9, 10.1.2.3",
        "203.0.113.9, 198.51.100.1",
        "198.51.100.1",
        "203.0.113.9, nonsense",
        "nonsense",
        ""
      ])
      assert.deepStrictEqual(seen, [200, 200, 200, 200, 200, 403, 403, 403, 403, 403])
    })
  )

  it.effect("links have the scheme of the caller's request", () =>
    Effect.gen(function* () {
      const forwarded = { "x-forwarded-for": "203.0.113.9" }
      assert.match(yield* linkOf({ ...forwarded, "x-forwarded-proto": "https" }), /^https:\/\/127\.0\.0\.1:/)
      assert.match(yield* linkOf({ ...forwarded, "x-forwarded-proto": "gopher" }), /^http:\/\/127\.0\.0\.1:/)
      assert.match(yield* linkOf(forwarded), /^http:\/\/127\.0\.0\.1:/)
    })
  )

  it.effect("only event streams disable the proxy's buffering", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const json = { model: "sluice-extractive", messages: [{ role: "user", content: "A lock" }] }
      const buffering = (stream: boolean) =>
        Effect.map(call("/v1/chat/completions", { json: { ...json, stream } }), ({ headers }) =>
          headers.get("x-accel-buffering")
        )
      assert.deepStrictEqual([yield* buffering(true), yield* buffering(false)], ["no", null])
      const asked = { json: { question: "A lock?" }, headers: { accept: "text/event-stream" } }
      assert.strictEqual((yield* call("/qa", asked)).headers.get("x-accel-buffering"), "no")
    })
  )

  it.effect("if a proxy changes the host name, the error has both names", () =>
    Effect.gen(function* () {
      const { call, json, url } = yield* TestServer
      const asked = {
        as: "session",
        json: { question: "?" },
        headers: { "sec-fetch-site": "cross-site", origin: "https://ai.team.example" }
      } as const
      assert.strictEqual((yield* call("/qa", asked)).status, 403)
      const { error } = yield* json(ErrorBody, "/qa", asked)
      assert.include(
        error.message,
        `at https://ai.team.example, but the server was called as ${new URL(url).host}`
      )
    })
  )

  it.effect("metrics for loopback reject requests through the proxy", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      assert.strictEqual((yield* call("/metrics", { as: "none" })).status, 200)
      const headers = { "x-forwarded-for": "203.0.113.9" }
      assert.strictEqual((yield* call("/metrics", { as: "none", headers })).status, 403)
    })
  )
})

layer(testServer(), { excludeTestServices: true })("without a trusted proxy", (it) => {
  it.effect("headers change neither the caller's address nor the scheme", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* statuses("203.0.113.0/24", ["203.0.113.9", ""]), [403, 403])
      assert.deepStrictEqual(yield* statuses("127.0.0.1", ["203.0.113.9", ""]), [200, 200])
      assert.match(yield* linkOf({ "x-forwarded-proto": "https" }), /^http:/)
    })
  )
})

for (const [name, value] of [
  ["SLUICE_TRUSTED_PROXIES", "10.0.0.0/33"],
  ["SLUICE_HOSTS", "http://sluice.example"],
  ["SLUICE_LOG", "xml"],
  ["SLUICE_LOG_REQUESTS", "yes"],
  ["SLUICE_KEEP_DAYS", "0"],
  ["SLUICE_SYNCHRONOUS", "canary"],
  ["SLUICE_METRICS_TOKEN", "canary"],
  ["SLUICE_SHUTDOWN_SECONDS", "soon"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"]
] as const) {
  it.effect(`an invalid ${name} fails the start with a message that does not repeat the value`, () =>
    Effect.gen(function* () {
      const environment = ConfigProvider.layer(ConfigProvider.fromUnknown({ [name]: value }))
      const { message } = yield* Effect.flip(Layer.build(Layer.provide(ServerConfig.layer, environment)))
      assert.include(message, name)
      assert.notMatch(message, /canary|SchemaError/)
    }).pipe(Effect.scoped)
  )
}
