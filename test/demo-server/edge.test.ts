/** Rules for every request: size limits, host names, request ids, headers, and the form of errors. */
import { assert, layer } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Schedule, Schema } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect } from "node:net"
import {
  MAX_ACCOUNT_BYTES,
  MAX_CALL_BYTES,
  MAX_IMAGES_BYTES
} from "../../apps/demo-server/src/http/Limits.ts"
import { MAX_UPLOAD_BYTES } from "../../apps/demo-server/src/contract/Documents.ts"
import { MAX_HEADER_BYTES, makeNodeServer } from "../../apps/demo-server/src/http/NodeServer.ts"
import { dripRaw, type Raw, sendRaw } from "./Raw.ts"
import { testServer, TestServer } from "./TestServer.ts"

const errorIn = (text: string) => Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))(text).error

const refusal = (raw: Raw) => {
  assert.match(raw.headers["content-type"] ?? "", /^application\/json/)
  assert.match(raw.headers["x-request-id"] ?? "", /^[\w.:-]+$/)
  assert.strictEqual(raw.headers["x-content-type-options"], "nosniff")
  return [raw.status, errorIn(raw.body).code] as const
}

const head = (method: string, path: string, headers: Record<string, string>) =>
  `${[`${method} ${path} HTTP/1.1`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join("\r\n")}\r\n\r\n`

layer(testServer({ env: { SLUICE_CALLER_SECONDS: "0.5" } }), { excludeTestServices: true })(
  "the edge",
  (it) => {
    const own = { host: "localhost", connection: "close" }

    for (const [path, limit] of [
      ["/v1/embeddings", MAX_CALL_BYTES],
      ["/v2/rerank", MAX_CALL_BYTES],
      ["/v1/videos", MAX_CALL_BYTES],
      ["/v1/images/generations", MAX_IMAGES_BYTES],
      ["/v1/chat/completions", MAX_IMAGES_BYTES],
      ["/api/token/", MAX_ACCOUNT_BYTES],
      ["/API/token/", MAX_ACCOUNT_BYTES],
      ["//api/token", MAX_ACCOUNT_BYTES],
      ["/%61pi/token/", MAX_ACCOUNT_BYTES],
      ["/session/", MAX_ACCOUNT_BYTES],
      ["/documents", MAX_UPLOAD_BYTES]
    ] as const) {
      it.effect(`${path} rejects a body of more than ${limit} bytes by its length: 413`, () =>
        Effect.gen(function* () {
          const { secrets, url } = yield* TestServer
          const authorization = `Bearer ${path.startsWith("/api") ? secrets.accessToken : secrets.apiKey}`
          // The body is never sent: waiting for it would hang.
          const raw = yield* sendRaw(
            url,
            head("POST", path, {
              host: "localhost",
              authorization,
              "content-type": "application/json",
              "content-length": String(limit + 1)
            })
          )
          assert.deepStrictEqual(refusal(raw), [413, "too_large"])
          assert.strictEqual(raw.headers["connection"], "close")
        })
      )
    }

    for (const type of ["application/json", "multipart/form-data; boundary=b"]) {
      it.effect(`a chunked body is rejected at the limit: 413 (${type})`, () =>
        Effect.gen(function* () {
          const { secrets, url } = yield* TestServer
          const isJson = type === "application/json"
          const [path, limit] = isJson ? ["/api/token/", MAX_ACCOUNT_BYTES] : ["/v1/videos", MAX_CALL_BYTES]
          const size = Math.ceil(limit / 8)
          const chunk = Buffer.concat([
            Buffer.from(`${size.toString(16)}\r\n`),
            Buffer.alloc(size, "a"),
            Buffer.from("\r\n")
          ])
          const opening = isJson
            ? `{"name":"`
            : `--b\r\ncontent-disposition: form-data; name="input_reference"; filename="a.png"\r\n\r\n`
          const raw = yield* sendRaw(
            url,
            head("POST", path, {
              host: "localhost",
              authorization: `Bearer ${isJson ? secrets.accessToken : secrets.apiKey}`,
              "content-type": type,
              "transfer-encoding": "chunked"
            }),
            `${opening.length.toString(16)}\r\n${opening}\r\n`,
            ...Array.from({ length: 9 }, () => chunk)
          )
          assert.deepStrictEqual(refusal(raw), [413, "too_large"])
        })
      )
    }

    it.effect("headers of more than 16 KiB: 431", () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const raw = yield* sendRaw(
          url,
          head("GET", "/healthz", { ...own, "x-long": "a".repeat(MAX_HEADER_BYTES) })
        )
        assert.deepStrictEqual(refusal(raw), [431, "headers_too_large"])
      })
    )

    for (const [name, sent, expected] of [
      ["no HTTP", "GET\0/ nothing\r\n\r\n", [400, "malformed_request"]],
      ["no Host", head("GET", "/healthz", { connection: "close" }), [400, "malformed_request"]],
      [
        "two Hosts",
        head("GET", "/v1/models", own).replace("\r\n", "\r\nhost: evil.example\r\n"),
        [400, "malformed_request"]
      ],
      [
        "an unknown expectation",
        head("GET", "/healthz", { ...own, expect: "tea" }),
        [417, "expectation_failed"]
      ],
      ["an unknown route", head("GET", "/v1/nothing", own), [404, "route_not_found"]],
      ["a wrong method", head("DELETE", "/v1/rerank", own), [405, "method_not_allowed"]],
      ["a preflight", head("OPTIONS", "/v1/rerank", own), [405, "method_not_allowed"]],
      ["a broken percent-encoding", head("GET", "/v1/%zz", own), [404, "route_not_found"]],
      [
        "a foreign name",
        head("GET", "/v1/models", { ...own, host: "evil.example" }),
        [403, "host_not_allowed"]
      ]
    ] as const) {
      it.effect(`${name}: ${expected.join(" ")} in the common error format`, () =>
        Effect.gen(function* () {
          const { url } = yield* TestServer
          assert.deepStrictEqual(refusal(yield* sendRaw(url, sent)), expected)
        })
      )
    }

    it.effect("invalid ids, bodies and content types are errors in the common format", () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const json = { "content-type": "application/json" }
        for (const [path, options, status] of [
          ["/v1/videos/%zz", {}, 404],
          ["/v1/videos/%E0%A4%A", {}, 404],
          ["/v1/rerank", { body: "{", headers: json }, 400],
          ["/v1/rerank", { body: "\u{0}", headers: json }, 400],
          ["/v1/rerank", { body: "a=b", headers: { "content-type": "text/plain" } }, 415]
        ] as const) {
          const response = yield* call(path, options)
          const error = errorIn(yield* Effect.promise(() => response.text()))
          assert.strictEqual(response.status, status, path)
          assert.isNotEmpty(error.message)
        }
      })
    )

    it.effect("every response has a request id, which is the caller's if it is valid", () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const named = (id: string) =>
          Effect.map(
            call("/v1/models", { headers: { "x-request-id": id } }),
            ({ headers }) => headers.get("x-request-id") ?? ""
          )
        assert.strictEqual(yield* named("trace-7.a:b_c"), "trace-7.a:b_c")
        for (const id of ["a b", "<script>", "x".repeat(129), ""])
          assert.match(yield* named(id), /^req_[\w-]{36}$/)
      })
    )

    it.effect("every response has security headers and is not cached", () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        for (const path of ["/", "/docs", "/openapi.json", "/healthz", "/status", "/v1/models", "/nothing"]) {
          const { headers } = yield* call(path, { headers: { origin: "https://evil.example" } })
          assert.strictEqual(headers.get("x-content-type-options"), "nosniff", path)
          assert.strictEqual(headers.get("referrer-policy"), "no-referrer", path)
          assert.strictEqual(headers.get("cross-origin-opener-policy"), "same-origin", path)
          assert.strictEqual(headers.get("cross-origin-resource-policy"), "same-origin", path)
          assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/, path)
          assert.isNull(headers.get("access-control-allow-origin"), path)
          if (path.startsWith("/v1")) assert.strictEqual(headers.get("cache-control"), "private, no-store")
        }
      })
    )
  }
)

layer(testServer({ env: { SLUICE_CALLER_SECONDS: "0.2" } }), { excludeTestServices: true })(
  "slow callers",
  (it) => {
    it.effect("a caller that stops in the middle of its headers: 408, and the connection is closed", () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        assert.deepStrictEqual(refusal(yield* sendRaw(url, "GET /healthz HTTP/1.1\r\nhost: loc")), [
          408,
          "request_timeout"
        ])
      })
    )

    it.effect("a caller that stops in the middle of its body: 408, and the connection is closed", () =>
      Effect.gen(function* () {
        const { secrets, url } = yield* TestServer
        const opening = head("POST", "/v1/rerank", {
          host: "localhost",
          authorization: `Bearer ${secrets.apiKey}`,
          "content-type": "application/json",
          "content-length": "100"
        })
        assert.deepStrictEqual(refusal(yield* sendRaw(url, `${opening}{"model":`)), [408, "request_timeout"])
      })
    )

    it.effect("an idle connection is closed", () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        assert.isTrue(Number.isNaN((yield* sendRaw(url)).status) || (yield* sendRaw(url)).status === 408)
      })
    )

    it.effect("a body that is sent byte by byte times out: 408", () =>
      Effect.gen(function* () {
        const { secrets, url } = yield* TestServer
        const opening = head("POST", "/v1/rerank", {
          host: "localhost",
          authorization: `Bearer ${secrets.apiKey}`,
          "content-type": "application/json",
          "content-length": "1000000"
        })
        const raw = yield* dripRaw(url, opening, " ", 20)
        assert.deepStrictEqual(refusal(raw), [408, "request_timeout"])
        // Two seconds of bytes; fewer on a busy machine.
        assert.isAtMost(raw.drops, 150)
      })
    )

    it.effect("a caller who waits for a response or an event does not time out", () =>
      Effect.gen(function* () {
        const { drop, server } = makeNodeServer(400, () => {})
        yield* Effect.addFinalizer(() => Effect.sync(() => void (server.close(), drop())))
        const silences: Array<() => void> = []
        let heard = 0
        server.on("timeout", () => {
          heard += 1
          // Twice the time limit of an incomplete request.
          if (heard % 2 === 0) silences.shift()?.()
        })
        server.on("request", (_, response) => {
          silences.push(() => {
            response.write("event")
            silences.push(() => response.end("end"))
          })
        })
        yield* Effect.callback<void>(
          (resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))
        )
        const { port } = server.address() as AddressInfo
        const answer = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/`))
        assert.strictEqual(yield* Effect.promise(() => answer.text()), "eventend")
      }).pipe(Effect.scoped)
    )

    it.effect("a caller that does not read its response is disconnected", () =>
      Effect.gen(function* () {
        const { drop, server } = makeNodeServer(100, () => {})
        yield* Effect.addFinalizer(() => Effect.sync(() => void (server.close(), drop())))
        server.on("request", (_, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)))
        yield* Effect.callback<void>(
          (resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))
        )
        const { port } = server.address() as AddressInfo
        const deaf = connect(port, "127.0.0.1").pause()
        yield* Effect.addFinalizer(() => Effect.sync(() => void deaf.destroy()))
        deaf.on("error", () => {})
        deaf.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        yield* Effect.promise(() => once(server, "request"))
        const open = Effect.callback<number>(
          (resume) => void server.getConnections((_, count) => resume(Effect.succeed(count)))
        )
        yield* Effect.repeat(open, { schedule: Schedule.spaced("20 millis"), until: (count) => count === 0 })
      }).pipe(Effect.scoped)
    )
  }
)

layer(testServer({ env: { SLUICE_HOSTS: "sluice.example, 10.0.0.5 second.example" } }), {
  excludeTestServices: true
})("a server with names", (it) => {
  it.effect("accepts those names and loopback names, with any port, and no others", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const status = (host: string) =>
        Effect.map(sendRaw(url, head("GET", "/status", { host, connection: "close" })), (raw) => raw.status)
      for (const host of [
        "sluice.example",
        "SLUICE.example:8443",
        "10.0.0.5:80",
        "second.example",
        "localhost",
        "[::1]:80"
      ]) {
        assert.strictEqual(yield* status(host), 200, host)
      }
      for (const host of [
        "evil.example",
        "sluice.example.evil.example",
        "10.0.0.6",
        "",
        "sluice.example@evil"
      ]) {
        assert.include([400, 403], yield* status(host), host)
      }
    })
  )

  it.effect("answers probes of any name", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      for (const path of ["/healthz", "/readyz?full"]) {
        const raw = yield* sendRaw(url, head("GET", path, { host: "10.0.0.6:8787", connection: "close" }))
        assert.strictEqual(raw.status, 200, path)
      }
      const metrics = head("GET", "/metrics", { host: "evil.example", connection: "close" })
      assert.deepStrictEqual(refusal(yield* sendRaw(url, metrics)), [403, "metrics_not_allowed"])
    })
  )
})
