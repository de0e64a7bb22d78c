/** The endpoints of keys and of the user, and what each key gives access to. */
import { assert, describe, it, layer } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { parsePage } from "../../apps/demo-server/src/accounts/AccountRequests.ts"
import { hashSecret } from "../../apps/demo-server/src/accounts/Secret.ts"
import { bearer } from "./AccountCalls.ts"
import { type CallOptions, startServer, temporaryFolder, testServer, TestServer } from "./TestServer.ts"

const Token = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  key: Schema.String,
  status: Schema.Int,
  expired_time: Schema.Int,
  remain_quota: Schema.Int,
  subnet: Schema.String,
  created_time: Schema.Int
})
const enveloped = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ success: Schema.Literal(true), message: Schema.Literal(""), data })
const One = enveloped(Token)
const Many = enveloped(Schema.Array(Token))

const whole = /^sk-[A-Za-z0-9]{48}$/
const masked = /^sk-\w{4}\*{10}\w{4}$/

const fields = { expired_time: -1, remain_quota: 50_000, subnet: "" }

const asToken = Effect.map(TestServer, ({ call, json }) => {
  const create = (given: Record<string, unknown>) =>
    Effect.map(json(One, "/api/token/", { as: "token", json: { ...fields, ...given } }), ({ data }) => data)
  const update = (given: Record<string, unknown>) =>
    call("/api/token/", { as: "token", method: "PUT", json: given })
  const get = (id: number) => Effect.map(json(One, `/api/token/${id}`, { as: "token" }), ({ data }) => data)
  const search = (keyword: string) =>
    Effect.map(
      json(Many, `/api/token/search?keyword=${encodeURIComponent(keyword)}`, { as: "token" }),
      ({ data }) => data.map(({ name }) => name)
    )
  return { call, json, create, get, search, update }
})

/** Status, code and message of an error. */
const refusal = (path: string, options: CallOptions) =>
  Effect.gen(function* () {
    const { call } = yield* TestServer
    const response = yield* call(path, options)
    const body = yield* Effect.promise(() => response.json())
    const { error } = Schema.decodeUnknownSync(ErrorBody)(body)
    return { status: response.status, ...error }
  })

layer(testServer(), { excludeTestServices: true })("tokens", (it) => {
  it.effect("a new key is shown once, and masked in lists", () =>
    Effect.gen(function* () {
      const { call, create, get, json } = yield* asToken
      const { data } = yield* TestServer
      const made = yield* create({ name: "team" })
      assert.match(made.key, whole)
      for (const path of ["/v1/models", "/documents"]) {
        assert.strictEqual((yield* call(path, bearer(made.key))).status, 200)
      }
      const listed = (yield* json(Many, "/api/token/", { as: "token" })).data
      assert.strictEqual(listed[0]?.id, made.id)
      assert.strictEqual(listed.at(-1)?.name, "first")
      for (const { key } of [...listed, yield* get(made.id)]) assert.match(key, masked)
      for (const file of ["accounts.db", "accounts.db-wal"]) {
        assert.notInclude(readFileSync(join(data, file), "latin1"), made.key)
      }
    })
  )

  it.effect("an update changes only the given fields", () =>
    Effect.gen(function* () {
      const { create, get, update } = yield* asToken
      const made = yield* create({ name: "before", subnet: "10.0.0.0/8" })
      const same = { ...made, key: (yield* get(made.id)).key }
      assert.strictEqual((yield* update({ id: made.id, name: "after" })).status, 200)
      assert.deepStrictEqual(yield* get(made.id), { ...same, name: "after" })
      const changes = { status: 0, expired_time: 4_000_000_000, remain_quota: 7, subnet: "" }
      assert.strictEqual((yield* update({ id: made.id, ...changes })).status, 200)
      const changed = { ...same, name: "after", ...changes }
      assert.deepStrictEqual(yield* get(made.id), changed)
      // Sent back as it was read, with the nulls that some clients send.
      assert.strictEqual((yield* update({ ...changed, subnet: null, expired_time: null })).status, 200)
      assert.deepStrictEqual(yield* get(made.id), changed)
    })
  )

  it.effect("lists start at page 0 with the newest key", () =>
    Effect.gen(function* () {
      const { create, json } = yield* asToken
      const ids = yield* Effect.forEach(["p1", "p2", "p3"], (name) =>
        Effect.map(create({ name }), ({ id }) => id)
      )
      const page = (query: string) =>
        Effect.map(json(Many, `/api/token/?${query}`, { as: "token" }), ({ data }) =>
          data.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* page("num=2"), [ids[2], ids[1]])
      assert.strictEqual((yield* page("num=2&p=1"))[0], ids[0])
      assert.deepStrictEqual(yield* page("size=1"), [ids[2]])
      assert.deepStrictEqual(yield* page("num=100&p=90000"), [])
      assert.deepStrictEqual((yield* page("num=101")).slice(0, 3), ids.toReversed())
      assert.deepStrictEqual(yield* parsePage({ num: 90_000 }), { size: 1_000, skip: 0 })
    })
  )

  it.effect("a search treats % and _ literally", () =>
    Effect.gen(function* () {
      const { create, search } = yield* asToken
      yield* Effect.forEach(["50% off", "snake_case", "snakeXcase", "wow!", "O'Brien"], (name) =>
        create({ name })
      )
      assert.deepStrictEqual(yield* search("%"), ["50% off"])
      assert.deepStrictEqual(yield* search("snake_"), ["snake_case"])
      assert.deepStrictEqual(yield* search("SNAKE"), ["snakeXcase", "snake_case"])
      assert.deepStrictEqual(yield* search("!"), ["wow!"])
      assert.deepStrictEqual(yield* search("o'b"), ["O'Brien"])
      assert.deepStrictEqual(yield* search("' OR 1=1 --"), [])
      assert.deepStrictEqual(yield* search("%%%%%%%%%%%%%%%%%%%%_x"), [])
    })
  )

  it.effect("a removed key and its id are unknown", () =>
    Effect.gen(function* () {
      const { call, create } = yield* asToken
      const { id, key } = yield* create({ name: "short-lived" })
      const path = `/api/token/${id}`
      assert.strictEqual((yield* call(path, { as: "token", method: "DELETE" })).status, 200)
      assert.strictEqual((yield* call("/v1/models", bearer(key))).status, 401)
      for (const options of [{ method: "GET" }, { method: "DELETE" }]) {
        assert.include(yield* refusal(path, { as: "token", ...options }), {
          status: 404,
          code: "token_not_found"
        })
      }
      const put = { as: "token", method: "PUT", json: { id, name: "again" } } as const
      assert.include(yield* refusal("/api/token/", put), { status: 404 })
    })
  )

  const bad: ReadonlyArray<readonly [param: string, given: Record<string, unknown>]> = [
    ["subnet", { subnet: "10.0.0.0/33" }],
    ["subnet", { subnet: "10.0.0.0/8, nonsense" }],
    ["remain_quota", { remain_quota: -1 }],
    ["expired_time", { expired_time: 1 }],
    ["expired_time", { expired_time: "tomorrow" }],
    ["expired_time", { expired_time: 1_900_000_000_000 }],
    ["name", { name: "" }],
    ["name", { name: "x".repeat(101) }],
    ["name", { name: "a\u0000b" }],
    ["unlimited_quota", { unlimited_quota: "yes" }]
  ]
  for (const [param, given] of bad) {
    it.effect(`rejects a key with ${JSON.stringify(given).slice(0, 50)}`, () =>
      Effect.gen(function* () {
        const options = { as: "token", json: { name: "never made", ...fields, ...given } } as const
        assert.include(yield* refusal("/api/token/", options), { status: 400, param })
        const { search } = yield* asToken
        assert.deepStrictEqual(yield* search("never made"), [])
      })
    )
  }

  it.effect("only the balance limits a key with unlimited_quota", () =>
    Effect.gen(function* () {
      const { create, get, update } = yield* asToken
      const { id } = yield* create({ name: "free", remain_quota: 0, unlimited_quota: true })
      assert.strictEqual((yield* get(id)).remain_quota, Number.MAX_SAFE_INTEGER)
      yield* update({ id, remain_quota: 7, unlimited_quota: false })
      assert.strictEqual((yield* get(id)).remain_quota, 7)
      yield* update({ id, unlimited_quota: true })
      const put = { as: "token", method: "PUT", json: { id, unlimited_quota: false } } as const
      assert.include(yield* refusal("/api/token/", put), { status: 400, param: "remain_quota" })
      assert.strictEqual((yield* get(id)).remain_quota, Number.MAX_SAFE_INTEGER)
    })
  )

  it.effect("rejects other statuses than 0 and 1, and page sizes out of range", () =>
    Effect.gen(function* () {
      const put = { as: "token", method: "PUT", json: { id: 1, status: 2 } } as const
      assert.include(yield* refusal("/api/token/", put), { status: 400, param: "status" })
      for (const query of ["num=0", "num=-1", "p=-1", "num=100&p=9007199254740991"]) {
        assert.include(yield* refusal(`/api/token/?${query}`, { as: "token" }), { status: 400 })
      }
    })
  )

  it.effect("disabled and expired keys are rejected at the next call, with the reason", () =>
    Effect.gen(function* () {
      const { call, create, update } = yield* asToken
      const { id, key } = yield* create({ name: "on and off" })
      yield* update({ id, status: 0 })
      for (const path of ["/v1/models", "/documents"]) {
        const { status, message } = yield* refusal(path, bearer(key))
        assert.deepStrictEqual([status, message.includes("disabled")], [401, true])
      }
      const signIn = yield* refusal("/session", { as: "none", json: { apiKey: key } })
      assert.strictEqual(signIn.status, 401)
      yield* update({ id, status: 1, expired_time: 1 })
      assert.include((yield* refusal("/v1/models", bearer(key))).message, "expired")
      yield* update({ id, expired_time: -1 })
      assert.strictEqual((yield* call("/v1/models", bearer(key))).status, 200)
    })
  )

  it.effect("changes of a key apply to its next call", () =>
    Effect.gen(function* () {
      const { call, create, update } = yield* asToken
      const { id, key } = yield* create({ name: "changed" })
      const json = { model: "sluice-lexical-1024", input: "a lock" }
      const status = Effect.map(call("/v1/embeddings", { ...bearer(key), json }), ({ status }) => status)
      for (const [changes, expected] of [
        [{}, 200],
        [{ status: 0 }, 401],
        [{ status: 1 }, 200],
        [{ subnet: "203.0.113.0/24" }, 403],
        [{ subnet: "127.0.0.0/8" }, 200],
        [{ models: ["another"] }, 403],
        [{ models: ["*"] }, 200],
        [{ expired_time: 1 }, 401]
      ] as const) {
        yield* update({ id, ...changes })
        assert.strictEqual(yield* status, expected, JSON.stringify(changes))
      }
    })
  )

  it.effect("a key is limited to its subnet, whatever headers say, and errors reveal neither", () =>
    Effect.gen(function* () {
      const { call, create } = yield* asToken
      const elsewhere = yield* create({ name: "elsewhere", subnet: "10.1.2.0/24, 2001:db8::/32" })
      const { headers } = bearer(elsewhere.key)
      for (const path of ["/v1/models", "/documents"]) {
        const options = { as: "none", headers: { ...headers, "x-forwarded-for": "10.1.2.3" } } as const
        const refused = yield* refusal(path, options)
        assert.include(refused, { status: 403, code: "address_not_allowed" })
        assert.notMatch(refused.message, /10\.1|127\.|db8|::/)
      }
      const here = yield* create({ name: "here", subnet: "10.1.2.0/24,127.0.0.0/8" })
      assert.strictEqual((yield* call("/v1/models", bearer(here.key))).status, 200)
    })
  )

  it.effect("SQL in a credential has no effect", () =>
    Effect.gen(function* () {
      const { call } = yield* asToken
      const attacks = [
        "' OR '1'='1",
        "sk-' UNION SELECT * FROM tokens --",
        "x'; DROP TABLE tokens; --",
        '" OR ""="',
        "%",
        "sk-%",
        "_".repeat(51)
      ]
      for (const attack of attacks) {
        for (const path of ["/v1/models", "/documents", "/api/token/", "/api/user/self"]) {
          assert.strictEqual((yield* call(path, bearer(attack))).status, 401, `${path} ${attack}`)
        }
      }
      assert.strictEqual((yield* call("/v1/models")).status, 200)
    })
  )
})

const Text = enveloped(Schema.String)

describe("the system access token", () => {
  it.live(
    "is replaced: the new one works, the old one does not, and of two concurrent calls one succeeds",
    () =>
      Effect.gen(function* () {
        const { call, json, secrets } = yield* startServer()
        for (const unseen of [{ method: "HEAD" }, { headers: { "sec-purpose": "prefetch" } }]) {
          assert.strictEqual((yield* call("/api/user/token", { as: "token", ...unseen })).status, 403)
        }
        const answered = yield* call("/api/user/token", { as: "token" })
        assert.include(answered.headers.get("cache-control") ?? "", "no-store")
        const { data: next } = Schema.decodeUnknownSync(Text)(yield* Effect.promise(() => answered.json()))
        assert.match(next, /^sat-\w{48}$/)
        assert.strictEqual((yield* call("/api/user/self", bearer(secrets.accessToken))).status, 401)
        assert.strictEqual((yield* call("/api/user/self", bearer(next))).status, 200)
        assert.strictEqual((yield* call("/v1/models", bearer(next))).status, 401)

        const both = yield* Effect.all(
          [call("/api/user/token", bearer(next)), call("/api/user/token", bearer(next))],
          { concurrency: 2 }
        )
        assert.sameMembers(
          both.map(({ status }) => status),
          [200, 401]
        )
        const User = enveloped(Schema.Struct({ username: Schema.String, quota: Schema.Int }))
        const won = both.filter(({ status }) => status === 200)
        const [body] = yield* Effect.promise(() => Promise.all(won.map((response) => response.json())))
        const { data: last } = Schema.decodeUnknownSync(Text)(body)
        assert.strictEqual((yield* json(User, "/api/user/self", bearer(last))).data.username, "owner")
      }).pipe(Effect.scoped)
  )
})

const stranger = "sat-of-the-stranger"

/** Adds a second user to the data folder of a stopped server. */
const addStranger = (data: string) => {
  const database = new DatabaseSync(join(data, "accounts.db"))
  database.exec(
    "INSERT INTO users (id, username, role, quota, created_at) VALUES ('stranger', 'stranger', 'user', 0, 0)"
  )
  database.prepare("INSERT INTO system_tokens VALUES ('stranger', ?, 0)").run(hashSecret(stranger))
  database.close()
}

describe("another user", () => {
  it.live("sees another user's key like a missing one", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const created = yield* Effect.scoped(
        Effect.gen(function* () {
          const { json } = yield* startServer({ data })
          const token = { name: "mine", ...fields }
          return (yield* json(One, "/api/token/", { as: "token", json: token })).data
        })
      )
      addStranger(data)
      const { call, json } = yield* startServer({ data })
      const answers = (id: number) =>
        Effect.forEach(
          [
            call(`/api/token/${id}`, bearer(stranger)),
            call(`/api/token/${id}`, { ...bearer(stranger), method: "DELETE" }),
            call("/api/token/", { ...bearer(stranger), method: "PUT", json: { id, status: 0 } })
          ],
          (asked) =>
            Effect.flatMap(asked, (response) =>
              Effect.promise(async () => [response.status, await response.text()] as const)
            )
        )
      const foreign = yield* answers(created.id)
      assert.deepStrictEqual(foreign, yield* answers(987_654))
      for (const [status] of foreign) assert.strictEqual(status, 404)
      for (const path of ["/api/token/", "/api/token/search?keyword=mine"]) {
        assert.deepStrictEqual((yield* json(Many, path, bearer(stranger))).data, [])
      }
      assert.strictEqual((yield* call("/v1/models", bearer(created.key))).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("an unreadable subnet allows no address", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const { apiKey } = yield* Effect.scoped(Effect.map(startServer({ data }), ({ secrets }) => secrets))
      const database = new DatabaseSync(join(data, "accounts.db"))
      database.exec("UPDATE tokens SET subnet = '127.0.0.0/8, 127.0.0.1/99'")
      database.close()
      const { call } = yield* startServer({ data })
      assert.strictEqual((yield* call("/v1/models", bearer(apiKey))).status, 403)
    }).pipe(Effect.scoped)
  )
})
