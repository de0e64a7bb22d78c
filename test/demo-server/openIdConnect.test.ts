/** Sign-in by OpenID Connect, at a real provider and at one with faults; and invitations. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  AnswerBody,
  CollectionInfo,
  IngestReportBody,
  SessionUser
} from "../../apps/demo-server/src/contract/index.ts"
import { bearer, Self } from "./AccountCalls.ts"
import {
  type Browser,
  type Claims,
  CLIENT,
  faultyProvider,
  makeBrowser,
  realProvider,
  signInAt
} from "./IdentityProvider.ts"
import { onStore } from "./Stores.ts"
import { errorOf, failedStart, filesOf, startServer, temporaryFolder, type TestServer } from "./TestServer.ts"

type Server = TestServer["Service"]
const Collections = Schema.Struct({ collections: Schema.Array(CollectionInfo) })
const Users = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, username: Schema.String, quota: Schema.Int }))
})
const Invited = Schema.Struct({ data: Schema.Struct({ path: Schema.String, expires_time: Schema.Int }) })

const settingsOf = (issuer: string) => ({
  SLUICE_OIDC_ISSUER: issuer,
  SLUICE_OIDC_CLIENT_ID: CLIENT.id,
  SLUICE_OIDC_CLIENT_SECRET: CLIENT.secret,
  SLUICE_OIDC_NAME: "Harbour login"
})

/** The session cookie of a browser, as headers of the page's own requests. */
const sessionOf = ({ cookies }: Browser, { url }: Server) => {
  const [name, value] = [...cookies(url)].find(([name]) => /^sluice_session_\d+$/.test(name)) ?? []
  return { as: "none", headers: { cookie: `${name}=${value}`, "sec-fetch-site": "same-origin" } } as const
}

const users = ({ json }: Server) =>
  Effect.map(json(Users, "/api/user?num=100", { as: "token" }), ({ data }) => data)

onStore((store) => {
  it.live("a first sign-in creates a user with a balance, and its groups are members of collections", () =>
    Effect.gen(function* () {
      let callback = ""
      const provider = yield* realProvider(() => callback)
      const env = { ...(yield* store), ...settingsOf(provider.origin), SLUICE_OIDC_QUOTA: "70000" }
      const server = yield* startServer({ env })
      callback = `${server.url}/session/oidc/callback`
      const body = filesOf({ "rules.md": "# Rules\n\nThe toll is four crowns." })
      yield* server.json(IngestReportBody, "/documents?collection=rules", { body })
      const members = [{ group: "legal", access: "read" }]
      yield* server.call("/collections/rules/members", { method: "PUT", json: { members } })

      const browser = makeBrowser()
      const start = `${server.url}/session/oidc`
      const back = yield* Effect.promise(() =>
        signInAt(browser, `${start}?return_to=https://evil.example`, "ann")
      )
      const done = yield* Effect.promise(() => browser.request(back))
      assert.deepStrictEqual([done.status, done.next], [302, `${server.url}/`])
      const cookie =
        done.headers
          .getSetCookie()
          .find((line) => line.startsWith("sluice_session_") && !line.includes("oidc")) ?? ""
      assert.match(cookie, /HttpOnly; SameSite=Strict/i)
      const session = sessionOf(browser, server)
      assert.deepInclude(yield* server.json(SessionUser, "/session", session), {
        username: "ann",
        role: "user"
      })
      assert.strictEqual((yield* server.json(Self, "/api/user/self", session)).data.quota, 70_000)
      const { collections } = yield* server.json(Collections, "/collections", session)
      assert.deepInclude(collections, {
        name: "rules@owner",
        documents: 1,
        passages: 1,
        shared: { owner: "owner", access: "read" }
      })
      const json = { question: "How much is the toll?", collection: "rules@owner" }
      assert.include((yield* server.json(AnswerBody, "/qa", { ...session, json })).answer, "four crowns")

      // The same address again, and in another browser.
      for (const other of [browser, makeBrowser()]) {
        const replayed = yield* Effect.promise(() => other.request(back))
        assert.strictEqual(replayed.next, `${server.url}/#problem=expired`)
      }
      // A second sign-in is the same user; a disabled one has no session.
      const again = yield* Effect.promise(() => signInAt(browser, start, "ann"))
      yield* Effect.promise(() => browser.request(again))
      const [, ann] = yield* users(server)
      assert.deepInclude(ann, { username: "ann" })
      assert.lengthOf(yield* users(server), 2)
      yield* server.call("/api/user", { as: "token", method: "PUT", json: { id: ann?.id, status: 0 } })
      const last = yield* Effect.promise(() => signInAt(browser, start, "ann"))
      const refused = yield* Effect.promise(() => browser.request(last))
      assert.strictEqual(refused.next, `${server.url}/#problem=disabled`)
    }).pipe(Effect.scoped)
  )

  it.live("a user's name gives no access to a user of the same name, and unknown users are refused", () =>
    Effect.gen(function* () {
      const env = yield* store
      const named = (claims: Claims) => ({ ...claims, preferred_username: "owner", groups: "staff" })
      const provider = yield* faultyProvider(named)
      const data = yield* temporaryFolder
      const through = (settings: Record<string, string>) =>
        Effect.scoped(
          Effect.gen(function* () {
            const server = yield* startServer({
              data,
              env: { ...env, ...settingsOf(provider.origin), ...settings }
            })
            const browser = makeBrowser()
            const there = yield* Effect.promise(() => browser.request(`${server.url}/session/oidc`))
            const back = yield* Effect.promise(() => browser.request(there.next ?? ""))
            const done = yield* Effect.promise(() => browser.request(back.next ?? ""))
            const who =
              done.next === `${server.url}/`
                ? yield* server.json(SessionUser, "/session", sessionOf(browser, server))
                : undefined
            return { problem: done.next?.slice(server.url.length), who }
          })
        )
      assert.deepStrictEqual(yield* through({}), { problem: "/#problem=unknown_user", who: undefined })
      const { who } = yield* through({ SLUICE_OIDC_QUOTA: "0" })
      assert.deepInclude(who, { username: "owner 2", role: "user" })
      // Known from now on.
      assert.deepStrictEqual((yield* through({})).who, who)
    }).pipe(Effect.scoped)
  )

  it.live("an invitation makes one user, once, and not after it has expired", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const { call, json } = server
      const invite = (given: object) => ({ as: "token", json: given }) as const
      const made = yield* json(Invited, "/api/invitation", invite({ username: "Ann", quota: 500 }))
      const [, secret = ""] = /^\/#invitation=(\w{48})$/.exec(made.data.path) ?? []
      const accept = (invitation: string) => call("/session", { as: "none", json: { invitation } })
      const all = yield* Effect.all([accept(secret), accept(secret), accept(secret)], { concurrency: 3 })
      assert.deepStrictEqual(all.map(({ status }) => status).toSorted(), [200, 401, 401])
      const [cookie = ""] = all.find(({ status }) => status === 200)?.headers.getSetCookie() ?? []
      const session = { as: "none", headers: { cookie: cookie.split(";")[0] ?? "" } } as const
      assert.strictEqual((yield* json(Self, "/api/user/self", session)).data.quota, 500)
      assert.strictEqual((yield* errorOf(yield* accept("x"))).code, "invalid_login")

      // A name that is taken meanwhile leaves the invitation as it is.
      const taken = yield* json(Invited, "/api/invitation", invite({ username: "Ben" }))
      const ben = taken.data.path.slice("/#invitation=".length)
      yield* call("/api/user", invite({ username: "Ben" }))
      assert.deepStrictEqual([(yield* accept(ben)).status, (yield* accept(ben)).status], [409, 409])
      for (const given of [
        { username: "" },
        { username: "x", hours: 0 },
        { username: "x", hours: 721 },
        { username: "x", budget: 1 }
      ])
        assert.strictEqual((yield* call("/api/invitation", invite(given))).status, 400)
      const token = yield* json(Schema.Struct({ data: Schema.String }), "/api/user/token", {
        ...session,
        method: "POST",
        headers: { ...session.headers, "sec-fetch-site": "same-origin" }
      })
      const byAnn = { ...bearer(token.data), json: { username: "Eve" } }
      assert.strictEqual((yield* errorOf(yield* call("/api/invitation", byAnn))).code, "not_an_administrator")
    }).pipe(Effect.scoped)
  )
})

const FAULTS: Readonly<Record<string, (claims: Claims) => Claims>> = {
  "a wrong nonce": (claims) => ({ ...claims, nonce: "another" }),
  "no nonce": (claims) => ({ ...claims, nonce: undefined }),
  "a wrong audience": (claims) => ({ ...claims, aud: "another" }),
  "a wrong issuer": (claims) => ({ ...claims, iss: "https://evil.example" }),
  "an expired token": (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 3600 })
}

it.live("an ID token with a fault, a wrong state and a provider that is down open no session", () =>
  Effect.gen(function* () {
    let fault: (claims: Claims) => Claims = (claims) => claims
    const provider = yield* faultyProvider((claims) => fault(claims))
    const server = yield* startServer({ env: { ...settingsOf(provider.origin), SLUICE_OIDC_QUOTA: "1" } })
    const signIn = (changed = (back: string) => back) =>
      Effect.promise(async () => {
        const browser = makeBrowser()
        const there = await browser.request(`${server.url}/session/oidc`)
        if (there.next?.startsWith(provider.origin) !== true) return there.next
        const { next = "" } = await browser.request(there.next)
        return (await browser.request(changed(next))).next
      })
    for (const [name, change] of Object.entries(FAULTS)) {
      fault = change
      assert.strictEqual(yield* signIn(), `${server.url}/#problem=failed`, name)
    }
    fault = (claims) => claims
    const wrongState = (back: string) => back.replace(/state=[^&]+/, "state=another")
    assert.strictEqual(yield* signIn(wrongState), `${server.url}/#problem=expired`)
    const denied = (back: string) => back.replace("code=any", "error=access_denied")
    assert.strictEqual(yield* signIn(denied), `${server.url}/#problem=failed`)
    assert.lengthOf(yield* users(server), 1)
    assert.strictEqual(yield* signIn(), `${server.url}/`)
    assert.notInclude(server.printed.join("\n"), CLIENT.secret)
    const down = yield* startServer({ env: settingsOf("http://127.0.0.1:9") })
    const browser = makeBrowser()
    const there = yield* Effect.promise(() => browser.request(`${down.url}/session/oidc`))
    assert.strictEqual(there.next, `${down.url}/#problem=failed`)
  }).pipe(Effect.scoped)
)

it.live("an issuer must have https, and a client identifier", () =>
  Effect.gen(function* () {
    const data = yield* temporaryFolder
    for (const env of [
      { SLUICE_OIDC_ISSUER: "http://login.example", SLUICE_OIDC_CLIENT_ID: "x" },
      { SLUICE_OIDC_ISSUER: "https://login.example" },
      { SLUICE_OIDC_ISSUER: "https://login.example", SLUICE_OIDC_CLIENT_ID: "x", SLUICE_OIDC_QUOTA: "-1" }
    ]) {
      const { code, printed } = yield* failedStart(data, env)
      assert.strictEqual(code, 1)
      assert.match(printed, /SLUICE_OIDC_/)
    }
  }).pipe(Effect.scoped)
)
