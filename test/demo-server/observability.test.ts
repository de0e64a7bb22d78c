/** Requests in the log, the metrics and traces. */
import { assert, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Schema, Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { filesOf, startServer, testServer, TestServer } from "./TestServer.ts"
import { json, startUpstream } from "./Upstream.ts"

const Line = Schema.Struct({
  time: Schema.String,
  level: Schema.String,
  message: Schema.String,
  request: Schema.optional(Schema.String),
  method: Schema.optional(Schema.String),
  route: Schema.optional(Schema.String),
  status: Schema.optional(Schema.Finite),
  ms: Schema.optional(Schema.Finite),
  user: Schema.optional(Schema.String),
  key: Schema.optional(Schema.String),
  model: Schema.optional(Schema.String),
  inputTokens: Schema.optional(Schema.Finite)
})

const linesOf = (printed: ReadonlyArray<string>) =>
  printed
    .filter((text) => text.startsWith("{"))
    .map((text) => Schema.decodeUnknownSync(Schema.fromJsonString(Line))(text))

const embedding = { model: "sluice-lexical-1024", input: "canary-text in a canal" }

/** The value of a series in Prometheus' text format; 0 if it is missing. */
const valueOf = (text: string, series: string): number =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length) ?? 0
  )

for (const [env, lines] of [
  [{}, 0],
  [{ SLUICE_LOG_REQUESTS: "true" }, 1],
  [{ SLUICE_LOG: "json", SLUICE_LOG_REQUESTS: "false" }, 0]
] as const) {
  it.live(`with ${JSON.stringify(env)} the log has ${lines} lines for a request`, () =>
    Effect.gen(function* () {
      const { call, printed } = yield* startServer({ env })
      yield* call("/v1/embeddings", { json: embedding, headers: { "x-request-id": "asked-once" } })
      yield* call("/v1/models", { headers: { authorization: "Bearer sk-canary" } })
      const found = printed.filter((line) => line.includes("asked-once"))
      assert.lengthOf(found, lines)
      for (const line of found) {
        assert.match(
          line,
          /^timestamp=[^\n]* model=sluice-lexical-1024 [^\n]*method=POST route=\/v1\/embeddings status=200/
        )
      }
      assert.notInclude(printed.join(""), "canary")
    }).pipe(Effect.scoped)
  )
}

layer(testServer({ env: { SLUICE_LOG: "json" } }), { excludeTestServices: true })("a log in JSON", (it) => {
  it.effect("has one line for each request, with user, route, status, time and tokens", () =>
    Effect.gen(function* () {
      const { call, printed } = yield* TestServer
      const response = yield* call("/v1/embeddings", { json: embedding, headers: { "x-request-id": "one" } })
      assert.strictEqual(response.status, 200)
      const lines = linesOf(printed).filter(({ request }) => request === "one")
      assert.lengthOf(lines, 1)
      const [line] = lines
      assert.deepInclude(line, {
        level: "info",
        message: "request",
        method: "POST",
        route: "/v1/embeddings",
        status: 200,
        model: embedding.model
      })
      assert.isAtLeast(line?.ms ?? -1, 0)
      assert.isAbove(line?.inputTokens ?? 0, 0)
      assert.isNotEmpty(line?.user)
      assert.isNotEmpty(line?.key)
      assert.isFalse(Number.isNaN(Date.parse(line?.time ?? "")))
    })
  )

  it.effect("has rejected requests by their route, and not by their path", () =>
    Effect.gen(function* () {
      const { call, printed } = yield* TestServer
      yield* call("/v1/videos/canary-id", { headers: { "x-request-id": "foreign" } })
      yield* call("/canary-path", { headers: { "x-request-id": "nowhere" } })
      yield* call("/v1/models", { headers: { "x-request-id": "stranger" }, as: "none" })
      const logged = new Map(linesOf(printed).map((line) => [line.request, [line.route, line.status]]))
      assert.deepStrictEqual(logged.get("foreign"), ["/v1/videos/:id", 404])
      assert.deepStrictEqual(logged.get("nowhere"), ["other", 404])
      assert.deepStrictEqual(logged.get("stranger"), ["/v1/models", 401])
      assert.notInclude(printed.filter((text) => text.startsWith("{")).join("\n"), "canary")
    })
  )

  it.effect("has a stream when it has ended", () =>
    Effect.gen(function* () {
      const { call, printed } = yield* TestServer
      const response = yield* call("/v1/chat/completions", {
        json: { model: "sluice-extractive", stream: true, messages: [{ role: "user", content: "A canal." }] },
        headers: { "x-request-id": "streamed" }
      })
      yield* Effect.promise(() => response.text())
      const lines = linesOf(printed).filter(({ request }) => request === "streamed")
      assert.deepStrictEqual(
        lines.map(({ model, status }) => [model, status]),
        [["sluice-extractive", 200]]
      )
    })
  )
})

layer(testServer(), { excludeTestServices: true })("the metrics", (it) => {
  const metrics = Effect.gen(function* () {
    const { call } = yield* TestServer
    const response = yield* call("/metrics", { as: "none" })
    assert.strictEqual(response.status, 200)
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
    return yield* Effect.promise(() => response.text())
  })

  it.effect("count requests, their seconds and their tokens, by route, status and model", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const before = yield* metrics
      yield* call("/v1/embeddings", { json: embedding })
      yield* call("/v1/embeddings", { json: embedding, as: "none" })
      const after = yield* metrics
      const grown = (series: string) => valueOf(after, series) - valueOf(before, series)
      const route = 'method="POST",route="/v1/embeddings"'
      assert.strictEqual(grown(`sluice_requests_total{${route},status="200"}`), 1)
      assert.strictEqual(grown(`sluice_requests_total{${route},status="401"}`), 1)
      assert.strictEqual(grown(`sluice_request_seconds_count{${route}}`), 2)
      assert.isAbove(grown(`sluice_tokens_total{model="${embedding.model}",type="input"}`), 0)
      assert.include(after, 'sluice_media_tasks{kind="video",status="completed"} 0')
      assert.isAbove(valueOf(after, "process_resident_memory_bytes"), 1_000_000)
    })
  )

  it.effect("count the tokens of documents and questions by model", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const before = yield* metrics
      const body = filesOf({ "a.md": "# A\n\nThe toll is four crowns." })
      assert.strictEqual((yield* call("/documents", { body })).status, 200)
      const asked = yield* call("/qa", { json: { question: "What is the toll?" } })
      assert.include(yield* Effect.promise(() => asked.text()), "four crowns")
      const after = yield* metrics
      for (const model of ["sluice-lexical-1024", "sluice-lexical-rerank", "sluice-extractive"]) {
        const series = `sluice_tokens_total{model="${model}",type="input"}`
        assert.isAbove(valueOf(after, series), valueOf(before, series), model)
      }
      assert.notInclude(after, 'sluice_tokens_total{model=""')
    })
  )

  it.effect("reject requests through a proxy on this machine", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const header of ["x-forwarded-for", "forwarded", "x-real-ip"]) {
        const { status } = yield* call("/metrics", { as: "none", headers: { [header]: "203.0.113.9" } })
        assert.strictEqual(status, 403, header)
      }
    })
  )
})

it.live("the metrics count upstream calls, which do not carry the caller's trace", () =>
  Effect.gen(function* () {
    const traces: Array<unknown> = []
    const upstream = yield* startUpstream((response, _, { headers }) => {
      traces.push(headers["traceparent"])
      json(response, { results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 2 } })
    })
    const { call } = yield* startServer({ env: upstream.env })
    const body = { model: "r", query: "q", documents: ["d"] }
    const headers = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }
    const count = Effect.map(
      Effect.flatMap(call("/metrics", { as: "none" }), (response) => Effect.promise(() => response.text())),
      (text) => valueOf(text, `sluice_client_calls{gen_ai_operation_name="rerank",gen_ai_request_model="r"}`)
    )
    const before = yield* count
    assert.strictEqual((yield* call("/v1/rerank", { json: body, headers })).status, 200)
    assert.strictEqual((yield* count) - before, 1)
    assert.isTrue(traces.length > 0 && traces.every((trace) => trace === undefined))
  }).pipe(Effect.scoped)
)

const metricsToken = "canary-metrics-token"

layer(testServer({ env: { SLUICE_METRICS_TOKEN: metricsToken } }), { excludeTestServices: true })(
  "the metrics with a token",
  (it) => {
    it.effect("require it, also on loopback", () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const status = (authorization: string) =>
          Effect.map(
            call("/metrics", { as: "none", headers: { authorization } }),
            (response) => response.status
          )
        assert.strictEqual(yield* status(`Bearer ${metricsToken}`), 200)
        assert.strictEqual(yield* status("Bearer canary-metrics-tokem"), 403)
        assert.strictEqual((yield* call("/metrics", { as: "key" })).status, 403)
        assert.strictEqual((yield* call("/metrics", { as: "none" })).status, 403)
      })
    )
  }
)

const Spans = Schema.Struct({
  resourceSpans: Schema.Array(
    Schema.Struct({
      scopeSpans: Schema.Array(
        Schema.Struct({
          spans: Schema.Array(
            Schema.Struct({
              traceId: Schema.String,
              parentSpanId: Schema.optional(Schema.String),
              name: Schema.String,
              attributes: Schema.Array(
                Schema.Struct({
                  key: Schema.String,
                  value: Schema.Struct({ stringValue: Schema.optional(Schema.String) })
                })
              )
            })
          )
        })
      )
    })
  )
})

it.live("traces continue the caller's trace at the collector, without the caller's texts", () =>
  Effect.gen(function* () {
    const bodies: Array<string> = []
    const headers: Array<string> = []
    const received = yield* Deferred.make<void>()
    const collector = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk) => (body += String(chunk)))
      request.on("end", () => {
        bodies.push(body)
        headers.push(`${request.url} ${String(request.headers["x-collector"])}`)
        response.writeHead(200, { "content-type": "application/json" }).end("{}")
        Deferred.doneUnsafe(received, Effect.void)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void collector.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => void (collector.close(), collector.closeAllConnections()))
    )
    const scope = yield* Scope.make()
    const { call, secrets } = yield* startServer({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
        OTEL_EXPORTER_OTLP_HEADERS: "x-collector=known"
      }
    }).pipe(Scope.provide(scope))
    const traceId = "0af7651916cd43dd8448eb211c80319c"
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    assert.strictEqual(
      (yield* call("/v1/embeddings", { json: embedding, headers: { traceparent } })).status,
      200
    )
    assert.strictEqual((yield* call("/v1/models?keyword=canary")).status, 200)
    for (const path of ["/shared/canary", "/SHARED/canary", "/files/canary"])
      assert.notStrictEqual((yield* call(path, { as: "none" })).status, 200)
    // The rest is sent when the server stops.
    yield* Scope.close(scope, Exit.void)
    yield* Deferred.await(received)

    const spans = bodies
      .flatMap((body) => Schema.decodeUnknownSync(Schema.fromJsonString(Spans))(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    const mine = spans.filter((span) => span.traceId === traceId)
    const span = mine.find(({ parentSpanId }) => parentSpanId === "b7ad6b7169203331")
    assert.strictEqual(span?.name, "POST")
    assert.includeDeepMembers(
      [...(span?.attributes ?? [])],
      [
        { key: "http.route", value: { stringValue: "/v1/embeddings" } },
        { key: "gen_ai.operation.name", value: { stringValue: "embeddings" } },
        { key: "gen_ai.request.model", value: { stringValue: embedding.model } }
      ]
    )
    assert.isTrue(headers.every((header) => header === "/v1/traces known"))
    for (const secret of ["canary", secrets.apiKey, secrets.accessToken, secrets.login]) {
      assert.notInclude(bodies.join("\n"), secret)
    }
  }).pipe(Effect.scoped)
)
