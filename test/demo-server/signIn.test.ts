/** Signing in: the printed login on the server's machine, credentials elsewhere, never from another origin. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { SESSION_COOKIE } from "../../apps/demo-server/src/contract/Access.ts"
import { startServer, TestServer } from "./TestServer.ts"

/** Signs in with any Host and other headers, which `fetch` does not allow. */
const signIn = (json: Record<string, string>, headers: Record<string, string> = {}) =>
  Effect.flatMap(TestServer, ({ url }) =>
    Effect.callback<{ readonly status: number; readonly cookie: string }>((resume) => {
      const { host, hostname, port } = new URL(url)
      const options = { hostname, port, path: "/session", method: "POST" }
      const call = request(
        { ...options, headers: { host, "content-type": "application/json", ...headers } },
        (response) => {
          response.resume()
          const [cookie = ""] = response.headers["set-cookie"] ?? []
          resume(Effect.succeed({ status: response.statusCode ?? 0, cookie }))
        }
      )
      call.end(JSON.stringify(json))
    })
  )

const served = <A, E, R>(env: Record<string, string>, test: Effect.Effect<A, E, R | TestServer>) =>
  Effect.flatMap(startServer({ env }), (server) => Effect.provideService(test, TestServer, server)).pipe(
    Effect.scoped
  )

describe("signing in", () => {
  it.live("the printed login works on this machine only, other credentials everywhere", () =>
    served(
      { HOST: "0.0.0.0" },
      Effect.gen(function* () {
        const { call, secrets } = yield* TestServer
        const { accessToken, apiKey, login } = secrets
        const elsewhere = [
          { host: "sluice.example" },
          { "x-forwarded-for": "203.0.113.7" },
          { forwarded: "for=203.0.113.7" },
          { via: "1.1 proxy.example" }
        ] as const
        for (const headers of elsewhere) {
          assert.deepStrictEqual(yield* signIn({ login }, headers), { status: 401, cookie: "" })
          for (const credential of [{ apiKey }, { accessToken }]) {
            const { cookie, status } = yield* signIn(credential, headers)
            assert.strictEqual(status, 200)
            for (const attribute of ["HttpOnly", "SameSite=Strict", "Path=/"])
              assert.include(cookie, attribute)
          }
        }
        assert.strictEqual((yield* signIn({ login })).status, 200, "not used up by who may not use it")
        assert.strictEqual((yield* signIn({ login })).status, 401)
        for (const wrong of [
          { apiKey: accessToken },
          { accessToken: apiKey },
          { apiKey: "" },
          { login: "" }
        ]) {
          assert.deepStrictEqual(yield* signIn(wrong), { status: 401, cookie: "" })
        }
        for (const path of ["/", "/session", "/status", "/docs"]) {
          assert.isNull((yield* call(path, { as: "none" })).headers.get("set-cookie"), path)
        }
      })
    )
  )

  it.live("the cookie is `Secure` if a trusted proxy reports HTTPS", () =>
    served(
      { SLUICE_TRUSTED_PROXIES: "127.0.0.1" },
      Effect.gen(function* () {
        const { secrets } = yield* TestServer
        const credential = { apiKey: secrets.apiKey }
        const forwarded = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" }
        assert.include((yield* signIn(credential, forwarded)).cookie, "Secure")
        assert.notInclude((yield* signIn(credential)).cookie, "Secure")
      })
    )
  )

  it.live("another origin's page cannot sign its visitor in", () =>
    served(
      {},
      Effect.gen(function* () {
        const { secrets, url } = yield* TestServer
        const { apiKey, login } = secrets
        for (const headers of [
          { origin: "https://evil.example" },
          { origin: "null" },
          { "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "same-site" },
          { "sec-fetch-site": "cross-site", origin: url }
        ]) {
          for (const credential of [{ apiKey }, { login }]) {
            assert.deepStrictEqual(yield* signIn(credential, headers), { status: 403, cookie: "" })
          }
        }
        assert.strictEqual(
          (yield* signIn({ login }, { "sec-fetch-site": "same-origin", origin: url })).status,
          200
        )
        assert.strictEqual(
          (yield* signIn({ apiKey }, { host: "evil.example", origin: "http://evil.example" })).status,
          403
        )
      })
    )
  )

  it.live("a session has the rights of the credential that opened it", () =>
    served(
      {},
      Effect.gen(function* () {
        const { call, secrets } = yield* TestServer
        const opened = (credential: Record<string, string>) =>
          Effect.map(signIn(credential), ({ cookie }) => ({
            cookie: cookie.split(";")[0] ?? "",
            "sec-fetch-site": "same-origin"
          }))
        const statuses = (headers: Record<string, string>) =>
          Effect.forEach(["/api/token/", "/v1/models", "/documents"], (path) =>
            Effect.map(call(path, { as: "none", headers }), ({ status }) => status)
          )
        assert.deepStrictEqual(
          yield* statuses(yield* opened({ accessToken: secrets.accessToken })),
          [200, 200, 200]
        )
        assert.deepStrictEqual(yield* statuses(yield* opened({ apiKey: secrets.apiKey })), [403, 200, 200])
        const forged = { cookie: `${SESSION_COOKIE}=forged`, "sec-fetch-site": "same-origin" }
        assert.deepStrictEqual(yield* statuses(forged), [401, 401, 401])
      })
    )
  )
})
