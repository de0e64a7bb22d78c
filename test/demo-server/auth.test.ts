/** Authentication: which credential gives access to which endpoints. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFile, readdir } from "node:fs/promises"
import { join } from "node:path"
import { request } from "node:http"
import { ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { type Credential, filesOf, startServer, testServer, TestServer } from "./TestServer.ts"

/** A request with any Host header, which `fetch` does not allow. */
const statusWithHost = (url: string, host: string) =>
  Effect.callback<number>((resume) => {
    const { hostname, port } = new URL(url)
    request({ hostname, port, path: "/status", headers: { host } }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    }).end()
  })

const matrix: ReadonlyArray<readonly [path: string, open: ReadonlyArray<Credential>]> = [
  ["/v1/models", ["key", "session"]],
  ["/api/models", ["token", "session"]],
  ["/api/user/available_models", ["token", "session"]],
  ["/api/user/self", ["token", "session"]],
  ["/documents", ["key", "session"]],
  ["/session", ["key", "session"]],
  ["/status", ["key", "token", "session", "none"]],
  ["/healthz", ["key", "token", "session", "none"]]
]

layer(testServer(), { excludeTestServices: true })("authentication", (it) => {
  for (const [path, open] of matrix) {
    for (const credential of ["key", "token", "session", "none"] as const) {
      const expected = open.includes(credential) ? 200 : 401
      it.effect(`${path} by ${credential}: ${expected}`, () =>
        Effect.gen(function* () {
          const { call } = yield* TestServer
          const response = yield* call(path, { as: credential })
          assert.strictEqual(response.status, expected)
          assert.match(response.headers.get("x-request-id") ?? "", /^req_/)
        })
      )
    }
  }

  it.effect("the status has counts only for a credential", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      for (const as of ["key", "token", "session"] as const) {
        assert.strictEqual((yield* json(ServerStatus, "/status", { as })).documents, 0, as)
      }
      for (const authorization of ["", "Bearer wrong"]) {
        const status = yield* json(ServerStatus, "/status", { as: "none", headers: { authorization } })
        assert.notProperty(status, "documents")
        assert.notProperty(status, "passages")
      }
    })
  )

  it.effect("a wrong credential fails in the common error format, which does not repeat it", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const path of ["/v1/models", "/api/models", "/documents"]) {
        const response = yield* call(path, {
          as: "none",
          headers: { authorization: "Bearer sk-canary-wrong" }
        })
        const text = yield* Effect.promise(() => response.text())
        assert.strictEqual(response.status, 401)
        assert.deepStrictEqual(Object.keys(JSON.parse(text).error), ["message", "type", "param", "code"])
        assert.notInclude(text, "canary")
      }
    })
  )

  it.effect("the printed login opens one session", () =>
    Effect.gen(function* () {
      const { call, secrets } = yield* TestServer
      const first = yield* call("/session", { as: "none", json: { login: secrets.login } })
      assert.strictEqual(first.status, 200)
      const cookie = first.headers.get("set-cookie") ?? ""
      for (const attribute of ["HttpOnly", "SameSite=Strict", "Path=/"]) assert.include(cookie, attribute)
      const again = yield* call("/session", { as: "none", json: { login: secrets.login } })
      assert.strictEqual(again.status, 401)

      const headers = { cookie: cookie.split(";")[0] ?? "", "sec-fetch-site": "same-origin" }
      assert.strictEqual((yield* call("/documents", { as: "none", headers })).status, 200)
      assert.strictEqual((yield* call("/session", { as: "none", method: "DELETE", headers })).status, 204)
      assert.strictEqual((yield* call("/documents", { as: "none", headers })).status, 401)
    })
  )

  it.effect("servers on other ports of the host keep their sessions", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const servers = [yield* startServer(), yield* startServer()] as const
        const cookies: Array<string> = []
        for (const { call, secrets } of servers) {
          const opened = yield* call("/session", { as: "none", json: { apiKey: secrets.apiKey } })
          cookies.push(opened.headers.get("set-cookie")?.split(";")[0] ?? "")
        }
        // A browser replaces cookies of the same name.
        assert.strictEqual(new Set(cookies.map((cookie) => cookie.split("=")[0])).size, 2)
        const headers = { cookie: cookies.join("; "), "sec-fetch-site": "same-origin" }
        for (const { call } of servers) {
          for (const path of ["/documents", "/v1/models"]) {
            assert.strictEqual((yield* call(path, { as: "none", headers })).status, 200)
          }
        }
        const left = yield* servers[0].call("/session", { as: "none", method: "DELETE", headers })
        assert.strictEqual(left.status, 204)
        assert.strictEqual((yield* servers[0].call("/documents", { as: "none", headers })).status, 401)
        assert.strictEqual((yield* servers[1].call("/documents", { as: "none", headers })).status, 200)
      })
    )
  )

  it.effect("an API key opens a session, a wrong key does not", () =>
    Effect.gen(function* () {
      const { call, secrets } = yield* TestServer
      const right = yield* call("/session", { as: "none", json: { apiKey: secrets.apiKey } })
      const wrong = yield* call("/session", { as: "none", json: { apiKey: secrets.accessToken } })
      assert.deepStrictEqual([right.status, wrong.status], [200, 401])
    })
  )

  it.effect("another origin cannot change anything with a session, but can with an API key", () =>
    Effect.gen(function* () {
      const { call, url } = yield* TestServer
      const ask = { json: { question: "?" } }
      const statuses = yield* Effect.forEach(
        [
          { as: "session", headers: { "sec-fetch-site": "cross-site" } },
          { as: "session", headers: { "sec-fetch-site": "same-site" } },
          { as: "session", headers: { "sec-fetch-site": "same-origin" } },
          { as: "key", headers: { "sec-fetch-site": "cross-site", origin: "https://evil.example" } }
        ] as const,
        (options) => Effect.map(call("/qa", { ...ask, ...options }), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [403, 403, 200, 200])
      const upload = yield* call("/documents", {
        as: "session",
        body: filesOf({ "a.md": "# A\n\nText." }),
        headers: { "sec-fetch-site": "cross-site", origin: url }
      })
      assert.strictEqual(upload.status, 403)
    })
  )

  it.effect("a server bound to loopback rejects foreign host names (DNS rebinding)", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const port = new URL(url).port
      const statuses = yield* Effect.forEach(
        [`evil.example:${port}`, `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`],
        (host) => statusWithHost(url, host)
      )
      assert.deepStrictEqual(statuses, [403, 200, 200, 200])
    })
  )

  it.effect("secrets are neither in the data folder nor printed, except in the banner", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { data, secrets, printed, call } = yield* startServer()
        yield* call("/session", { as: "none", json: { login: secrets.login } })
        yield* call("/v1/models")
        yield* call("/v1/models", { as: "token" })
        const names = yield* Effect.promise(() => readdir(data, { recursive: true, withFileTypes: true }))
        const files = names
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
        const contents = yield* Effect.promise(() =>
          Promise.all(files.map((file) => readFile(file, "latin1")))
        )
        assert.isAbove(contents.length, 0)
        for (const secret of Object.values(secrets)) {
          assert.isFalse(contents.some((content) => content.includes(secret)))
          assert.strictEqual(printed.join("\n").split(secret).length, 2)
        }
      })
    )
  )
})
