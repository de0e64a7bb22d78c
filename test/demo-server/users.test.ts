/** Users: administration, separation of their data, and the audit log. */
import { assert, describe, it, layer } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Layer, Schema } from "effect"
import { AuditEntry, NewUser, UserInfo } from "../../apps/demo-server/src/contract/Administration.ts"
import { bearer } from "./AccountCalls.ts"
import { onStore } from "./Stores.ts"
import { type CallOptions, filesOf, startServer, TestServer } from "./TestServer.ts"

const enveloped = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ success: Schema.Literal(true), message: Schema.Literal(""), data })
const One = enveloped(NewUser)
const Info = enveloped(UserInfo)
const Many = enveloped(Schema.Array(UserInfo))
const Log = enveloped(Schema.Array(AuditEntry))
const Key = enveloped(Schema.Struct({ id: Schema.Int, key: Schema.String }))
const Text = enveloped(Schema.String)
const Listed = Schema.Struct({
  documents: Schema.Array(Schema.Struct({ id: Schema.String, path: Schema.String }))
})

const fields = { expired_time: -1, remain_quota: 50_000, subnet: "" }

const statusOf = (path: string, options: CallOptions) =>
  Effect.flatMap(TestServer, ({ call }) => Effect.map(call(path, options), ({ status }) => status))

/** Status and body of a response. */
const told = (path: string, options: CallOptions) =>
  Effect.gen(function* () {
    const response = yield* (yield* TestServer).call(path, options)
    return { status: response.status, body: yield* Effect.promise(() => response.text()) }
  })

const refusal = (path: string, options: CallOptions) =>
  Effect.map(told(path, options), ({ body, status }) => ({
    status,
    code: Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))(body).error.code
  }))

/** A user with a key, created by the administrator. */
const makeUser = (username: string, given: Record<string, unknown> = {}) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const user = (yield* json(One, "/api/user", { as: "token", json: { username, ...given } })).data
    const token = { ...bearer(user.access_token), json: { name: "first", ...fields } }
    const { key } = (yield* json(Key, "/api/token/", token)).data
    return { ...user, key }
  })

onStore((store) => {
  const server = Layer.effect(
    TestServer,
    Effect.flatMap(store, (env) => startServer({ env }))
  )
  layer(server, { excludeTestServices: true })("users", (it) => {
    it.effect("an administrator creates users with their own balance and keys", () =>
      Effect.gen(function* () {
        const { json } = yield* TestServer
        const ann = yield* makeUser("Ann", { quota: 7 })
        assert.match(ann.access_token, /^sat-\w{48}$/)
        assert.deepInclude(ann, { username: "Ann", role: "user", status: 1, quota: 7 })
        const Self = enveloped(Schema.Struct({ username: Schema.String, quota: Schema.Int }))
        assert.deepInclude((yield* json(Self, "/api/user/self", bearer(ann.access_token))).data, {
          username: "Ann",
          quota: 7
        })
      })
    )

    it.effect("of two administrators who demote or disable each other at once, one remains", () =>
      Effect.gen(function* () {
        const losses = [{ role: "user" }, { status: 0 }, { role: "user" }, { status: 0 }]
        for (const [round, loss] of losses.entries()) {
          const one = yield* makeUser(`one of ${round}`, { role: "admin" })
          const other = yield* makeUser(`other of ${round}`, { role: "admin" })
          const change = (by: string, id: string) =>
            told("/api/user", { ...bearer(by), method: "PUT", json: { id, ...loss } })
          const answers = yield* Effect.all(
            [change(one.access_token, other.id), change(other.access_token, one.id)],
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            answers.map(({ status }) => status === 200),
            answers[0].status === 200 ? [true, false] : [false, true],
            JSON.stringify(answers)
          )
        }
      })
    )

    it.effect("only administrators create users and read the audit log", () =>
      Effect.gen(function* () {
        const { secrets } = yield* TestServer
        const ann = yield* makeUser("bob")
        const calls = [
          ["/api/user", {}],
          ["/api/user", { json: { username: "eve" } }],
          ["/api/user", { method: "PUT", json: { id: ann.id, role: "admin" } }],
          ["/api/user/owner/token", { method: "POST" }],
          ["/api/audit", {}]
        ] as const
        for (const [path, options] of calls) {
          const refused = yield* refusal(path, { ...bearer(ann.access_token), ...options })
          assert.deepStrictEqual(refused, { status: 403, code: "not_an_administrator" }, path)
          assert.strictEqual(yield* statusOf(path, { ...bearer(ann.key), ...options }), 401)
          assert.strictEqual(yield* statusOf(path, { as: "none", ...options }), 401)
        }
        assert.strictEqual(yield* statusOf("/api/user/self", bearer(secrets.accessToken)), 200)
      })
    )

    it.effect("a user is updated by field, and disabling a user disables all credentials", () =>
      Effect.gen(function* () {
        const { call, json } = yield* TestServer
        const ann = yield* makeUser("cleo", { quota: 10 })
        const { id } = ann
        const update = (given: Record<string, unknown>) =>
          ({ as: "token", method: "PUT", json: { id, ...given } }) as const
        const changed = yield* json(Info, "/api/user", update({ add_quota: -4, username: "Cleopatra" }))
        assert.deepInclude(changed.data, { id, username: "Cleopatra", quota: 6, role: "user", status: 1 })
        assert.deepStrictEqual(yield* refusal("/api/user", update({ add_quota: -7 })), {
          status: 409,
          code: "insufficient_quota"
        })
        const most = update({ add_quota: Number.MAX_SAFE_INTEGER })
        assert.deepStrictEqual(yield* refusal("/api/user", most), { status: 400, code: "invalid_value" })
        assert.deepStrictEqual(yield* refusal("/api/user", update({ username: "owner" })), {
          status: 409,
          code: "username_taken"
        })
        for (const id of ["user_x", "a\0b"]) {
          const gone = { status: 404, code: "user_not_found" }
          assert.deepStrictEqual(yield* refusal("/api/user", update({ id })), gone)
          const renewal = { as: "token", method: "POST" } as const
          const path = `/api/user/${encodeURIComponent(id)}/token`
          assert.deepStrictEqual(yield* refusal(path, renewal), gone)
        }
        for (const given of [{ status: 2 }, { username: "" }, { username: "a\u0000" }, { budget: 1 }]) {
          assert.strictEqual((yield* refusal("/api/user", update(given))).status, 400)
        }
        const opened = yield* call("/session", { as: "none", json: { accessToken: ann.access_token } })
        const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? ""
        const ways = [
          ["/v1/models", bearer(ann.key)],
          ["/documents", bearer(ann.key)],
          ["/api/user/self", bearer(ann.access_token)],
          ["/documents", { as: "none", headers: { cookie } }],
          ["/api/user/self", { as: "none", headers: { cookie } }]
        ] as const
        for (const [path, options] of ways) assert.strictEqual(yield* statusOf(path, options), 200, path)
        yield* call("/api/user", update({ status: 0 }))
        for (const [path, options] of ways) assert.strictEqual(yield* statusOf(path, options), 401, path)
        yield* call("/api/user", update({ status: 1 }))
        for (const [path, options] of ways) assert.strictEqual(yield* statusOf(path, options), 200, path)
        const listed = (yield* json(Many, "/api/user?num=100", { as: "token" })).data
        assert.strictEqual(listed[0]?.username, "owner")
        assert.include(
          listed.map(({ username }) => username),
          "Cleopatra"
        )
        assert.lengthOf((yield* json(Many, "/api/user?num=1&p=1", { as: "token" })).data, 1)
      })
    )

    it.effect("usernames are unique, and administrators cannot remove their own rights", () =>
      Effect.gen(function* () {
        yield* makeUser("dan")
        assert.deepStrictEqual(yield* refusal("/api/user", { as: "token", json: { username: "dan" } }), {
          status: 409,
          code: "username_taken"
        })
        const self = { as: "token", method: "PUT" } as const
        for (const given of [{ role: "user" }, { status: 0 }]) {
          const refused = yield* refusal("/api/user", { ...self, json: { id: "owner", ...given } })
          assert.strictEqual(refused.status, 400)
        }
      })
    )

    it.effect("every account change is in the audit log, without secrets", () =>
      Effect.gen(function* () {
        const { call, json, secrets } = yield* TestServer
        const since = Math.floor(Date.now() / 1000)
        const ann = yield* makeUser("fay", { quota: 3 })
        const made = yield* json(Key, "/api/token/", { as: "token", json: { name: "laptop", ...fields } })
        const { id } = made.data
        const put = { as: "token", method: "PUT" } as const
        yield* call("/api/token/", { ...put, json: { id, status: 0 } })
        yield* call(`/api/token/${id}`, { as: "token", method: "DELETE" })
        // These failed and are not logged.
        yield* call(`/api/token/${id}`, { as: "token", method: "DELETE" })
        yield* call("/api/user", { as: "token", json: { username: "fay" } })
        yield* call("/api/user", { ...put, json: { id: ann.id, add_quota: 4 } })
        yield* call("/session", { as: "none", json: { apiKey: ann.key } })
        const entries = (yield* json(Log, "/api/audit?num=7", { as: "token" })).data
        const facts = entries.map(({ action, by, subject, user }) => [action, user, by, subject])
        assert.deepStrictEqual(facts, [
          ["session.open", ann.id, "session", ann.id],
          ["user.update", "owner", "token", ann.id],
          ["token.remove", "owner", "token", String(id)],
          ["token.update", "owner", "token", String(id)],
          ["token.create", "owner", "token", String(id)],
          ["token.create", ann.id, "token", facts[5]?.[3]],
          ["user.create", "owner", "token", ann.id]
        ])
        assert.deepStrictEqual(entries[1]?.details, { add_quota: 4 })
        assert.deepInclude(entries[6]?.details, { username: "fay", quota: 3 })
        for (const { address, time } of entries) {
          assert.match(address, /127\.0\.0\.1$/)
          assert.isAtLeast(time, since)
        }
        const text = JSON.stringify(entries)
        for (const secret of [ann.key, ann.access_token, made.data.key, ...Object.values(secrets)]) {
          assert.notInclude(text, secret)
        }
      })
    )

    it.effect(
      "a token that was lost is renewed, by an administrator or from the page, and the old one ends",
      () =>
        Effect.gen(function* () {
          const { json } = yield* TestServer
          const ann = yield* makeUser("eli")
          const renewed = (yield* json(Text, `/api/user/${ann.id}/token`, { as: "token", method: "POST" }))
            .data
          assert.strictEqual(yield* statusOf("/api/user/self", bearer(ann.access_token)), 401)
          assert.strictEqual(yield* statusOf("/api/user/self", bearer(renewed)), 200)
          const next = (yield* json(Text, "/api/user/token", { as: "session", method: "POST" })).data
          assert.strictEqual(yield* statusOf("/api/user/self", { as: "token" }), 401)
          assert.strictEqual(yield* statusOf("/api/user/self", bearer(next)), 200)
          const elsewhere = {
            as: "session",
            method: "POST",
            headers: { "sec-fetch-site": "cross-site" }
          } as const
          assert.strictEqual(yield* statusOf("/api/user/token", elsewhere), 403)
        })
    )
  })
})

describe("the documents of a user", () => {
  it.live("are invisible to other users", () =>
    Effect.gen(function* () {
      const server = yield* startServer()
      yield* Effect.gen(function* () {
        const { call, json } = server
        const ann = yield* makeUser("ann", { quota: 10_000 })
        const ben = yield* makeUser("ben", { quota: 10_000 })
        // Both users have a document of the same path, and neither sees the other's.
        const upload = (key: string, text: string) =>
          call("/documents", { ...bearer(key), body: filesOf({ "notes.md": `# Notes\n\n${text}` }) })
        assert.strictEqual((yield* upload(ann.key, "The heron nests by the upper gate.")).status, 200)
        assert.strictEqual((yield* upload(ben.key, "The toll is four crowns.")).status, 200)
        assert.strictEqual(
          (yield* call("/documents", { ...bearer(ben.key), body: filesOf({ "own.md": "# Own\n\nMine." }) }))
            .status,
          200
        )
        const listed = (key: string) =>
          Effect.map(json(Listed, "/documents", bearer(key)), ({ documents }) => documents)
        assert.deepStrictEqual(
          (yield* listed(ann.key)).map(({ path }) => path),
          ["notes.md"]
        )
        const text = (key: string, id: string) => told(`/documents/${id}`, bearer(key))
        const [notes] = yield* listed(ann.key)
        assert.include((yield* text(ann.key, notes?.id ?? "")).body, "heron")
        assert.include((yield* text(ben.key, notes?.id ?? "")).body, "crowns")

        const own = (yield* listed(ben.key)).find(({ path }) => path === "own.md")?.id ?? ""
        const nobodys = own.replaceAll(/./g, (digit) => (digit === "0" ? "1" : "0"))
        for (const [path, options] of [
          ["", {}],
          ["/file", {}],
          ["/pages/1", {}],
          ["", { method: "DELETE" }]
        ] as const) {
          const of = (id: string) =>
            Effect.map(
              told(`/documents/${id}${path}`, { ...bearer(ann.key), ...options }),
              ({ body, status }) => ({
                status,
                body: body.replaceAll(id, "ID")
              })
            )
          const foreign = yield* of(own)
          assert.deepStrictEqual(foreign, yield* of(nobodys), path)
          assert.strictEqual(foreign.status, 404)
        }
        assert.strictEqual((yield* text(ben.key, own)).status, 200)

        const asked = yield* told("/qa", { ...bearer(ann.key), json: { question: "What is the toll?" } })
        assert.strictEqual(asked.status, 200)
        assert.notInclude(asked.body, "crowns")
        const known = yield* told("/qa", { ...bearer(ben.key), json: { question: "What is the toll?" } })
        assert.include(known.body, "four crowns")
      }).pipe(Effect.provideService(TestServer, server))
    }).pipe(Effect.scoped)
  )
})

describe("what a key may use", () => {
  const Models = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

  it.live("is limited to its models and documents, and its session has no more rights", () =>
    Effect.gen(function* () {
      const server = yield* startServer()
      yield* Effect.gen(function* () {
        const { call, json } = server
        const ids = (as: CallOptions) =>
          Effect.map(json(Models, "/v1/models", as), ({ data }) => data.map(({ id }) => id))
        const all = yield* ids({ as: "key" })
        const ByOperation = Schema.Struct({
          data: Schema.Array(Schema.Struct({ id: Schema.String, operation: Schema.String }))
        })
        const known = yield* json(ByOperation, "/v1/models")
        const model = known.data.find(({ operation }) => operation === "embeddings")?.id ?? ""
        const other = all.find((id) => id !== model) ?? ""
        const Permitted = enveloped(
          Schema.Struct({
            id: Schema.Int,
            key: Schema.String,
            models: Schema.Array(Schema.String),
            documents: Schema.String
          })
        )
        const create = {
          as: "token",
          json: { name: "narrow", ...fields, models: [model], documents: false }
        } as const
        const { id, key, ...permitted } = (yield* json(Permitted, "/api/token/", create)).data
        assert.deepStrictEqual(permitted, { models: [model], documents: "none" })
        const embed = (model: string) => ({ ...bearer(key), json: { model, input: "A lock" } })
        const notAllowed = { status: 403, code: "model_not_allowed" }
        const closed = { status: 403, code: "documents_not_allowed" }
        assert.deepStrictEqual(yield* ids(bearer(key)), [model])
        assert.strictEqual(yield* statusOf("/v1/embeddings", embed(model)), 200)
        assert.deepStrictEqual(yield* refusal("/v1/embeddings", embed(other)), notAllowed)
        assert.deepStrictEqual(yield* refusal("/v1/embeddings", embed("nobodys-model")), notAllowed)
        for (const path of ["/v1/images/generations", "/v1/videos"]) {
          const options = { ...bearer(key), json: { model: other, prompt: "A lock" } }
          assert.deepStrictEqual(yield* refusal(path, options), notAllowed, path)
        }
        const form = new FormData()
        form.append("model", other)
        form.append("prompt", "A lock")
        assert.deepStrictEqual(yield* refusal("/v1/videos", { ...bearer(key), body: form }), notAllowed)
        assert.deepStrictEqual(yield* refusal("/documents", bearer(key)), closed)
        assert.deepStrictEqual(yield* refusal("/qa", { ...bearer(key), json: { question: "?" } }), closed)
        assert.deepStrictEqual(yield* refusal("/rebuild", { ...bearer(key), method: "POST" }), closed)

        // A session opened with the key has the key's rights.
        const opened = yield* call("/session", { as: "none", json: { apiKey: key } })
        const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? ""
        const session = { as: "none", headers: { cookie, "sec-fetch-site": "same-origin" } } as const
        assert.strictEqual(yield* statusOf("/session", session), 200)
        assert.deepStrictEqual(yield* ids(session), [model])
        const bySession = { ...session, json: { model: other, input: "A lock" } }
        assert.deepStrictEqual(yield* refusal("/v1/embeddings", bySession), notAllowed)
        assert.deepStrictEqual(yield* refusal("/documents", session), closed)
        const needed = { status: 403, code: "access_token_needed" }
        assert.deepStrictEqual(yield* refusal("/api/token/", session), needed)
        assert.deepStrictEqual(
          yield* refusal("/api/token/", { ...session, json: { name: "wide", ...fields } }),
          needed
        )

        const put = (given: Record<string, unknown>) =>
          ({ as: "token", method: "PUT", json: { id, ...given } }) as const
        // Omitted fields are not changed.
        yield* call("/api/token/", put({ name: "still narrow", models: null, documents: null }))
        assert.deepStrictEqual(yield* ids(bearer(key)), [model])
        yield* call("/api/token/", put({ models: [] }))
        assert.deepStrictEqual(yield* ids(bearer(key)), [])
        yield* call("/api/token/", put({ models: ["*"], documents: true }))
        assert.deepStrictEqual(yield* ids(bearer(key)), all)
        assert.strictEqual(yield* statusOf("/documents", session), 200)
        for (const given of [{ models: "all" }, { models: [1] }, { models: [""] }, { documents: "yes" }]) {
          assert.strictEqual((yield* refusal("/api/token/", put(given))).status, 400)
        }
        // Removing the key ends the session.
        yield* call("/api/token/", put({ status: 0 }))
        assert.strictEqual(yield* statusOf("/documents", session), 401)
        yield* call(`/api/token/${id}`, { as: "token", method: "DELETE" })
        assert.strictEqual(yield* statusOf("/documents", session), 401)
      }).pipe(Effect.provideService(TestServer, server))
    }).pipe(Effect.scoped)
  )
})
