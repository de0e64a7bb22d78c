/** Billing of documents and questions. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { NewUser } from "../../apps/demo-server/src/contract/Administration.ts"
import { bearer, quotaOf, Self } from "./AccountCalls.ts"
import { type CallOptions, filesOf, startServer, TestServer } from "./TestServer.ts"

const dataOf = <S extends Schema.Top>(data: S) => Schema.Struct({ data })
const One = dataOf(NewUser)
const Key = dataOf(Schema.Struct({ id: Schema.Int, key: Schema.String }))
const Left = dataOf(Schema.Struct({ remain_quota: Schema.Int }))
const Code = Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))

const makeUser = (username: string, quota: number, more: object = {}) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const options = { as: "token", json: { username, quota } } as const
    const { access_token } = (yield* json(One, "/api/user", options)).data
    const fields = { name: "key", expired_time: -1, remain_quota: 50_000, subnet: "", ...more }
    const { id, key } = (yield* json(Key, "/api/token/", { ...bearer(access_token), json: fields })).data
    /** The balances of the user and of the key. */
    const left = Effect.all([
      Effect.map(json(Self, "/api/user/self", bearer(access_token)), ({ data }) => data.quota),
      Effect.map(json(Left, `/api/token/${id}`, bearer(access_token)), ({ data }) => data.remain_quota)
    ])
    return { key, left }
  })

const text = (path: string, options: CallOptions) =>
  Effect.flatMap(TestServer, ({ call }) =>
    Effect.flatMap(call(path, options), (response) =>
      Effect.promise(async () => ({ status: response.status, body: await response.text() }))
    )
  )

const served = <A, E, R>(test: Effect.Effect<A, E, R | TestServer>) =>
  Effect.flatMap(startServer(), (server) => Effect.provideService(test, TestServer, server)).pipe(
    Effect.scoped
  )

describe("billing of documents and questions", () => {
  it.live("debits the user and the key, with and without streaming; the samples are free", () =>
    served(
      Effect.gen(function* () {
        const { json } = yield* TestServer
        const owners = quotaOf({ json })
        const before = yield* owners
        const { key, left } = yield* makeUser("ann", 10_000)
        const asked = { question: "How many crowns is the toll?" }
        const stream = { ...bearer(key).headers, accept: "text/event-stream" }
        const file = (name: string) => filesOf({ [name]: `# ${name}\n\nThe toll is four crowns in ${name}.` })
        const steps: ReadonlyArray<readonly [path: string, options: CallOptions]> = [
          ["/documents", { ...bearer(key), body: file("a.md") }],
          ["/documents", { as: "none", headers: stream, body: file("b.md") }],
          ["/qa", { ...bearer(key), json: asked }],
          ["/qa", { as: "none", headers: stream, json: asked }]
        ]
        let [user, ofKey] = yield* left
        assert.deepStrictEqual([user, ofKey], [10_000, 50_000])
        for (const [path, options] of steps) {
          const { body, status } = yield* text(path, options)
          assert.strictEqual(status, 200, body)
          const [userNow, keyNow] = yield* left
          assert.isBelow(userNow, user, `${path} ${JSON.stringify(options.headers)}`)
          assert.strictEqual(ofKey - keyNow, user - userNow)
          // A reserve that was not released would be about 100.
          assert.isBelow(user - userNow, 50)
          ;[user, ofKey] = [userNow, keyNow]
        }
        // Reading documents is free.
        for (const path of ["/documents", "/status"]) yield* text(path, bearer(key))
        assert.deepStrictEqual(yield* left, [user, ofKey])
        assert.strictEqual(yield* owners, before)
      })
    )
  )

  it.live("rejects users without balance, and charges and stores nothing", () =>
    served(
      Effect.gen(function* () {
        const { key, left } = yield* makeUser("ben", 0)
        const refusals: ReadonlyArray<readonly [path: string, options: CallOptions]> = [
          ["/documents", { ...bearer(key), body: filesOf({ "a.md": "# A\n\nThe toll is four crowns." }) }],
          ["/qa", { ...bearer(key), json: { question: "What is the toll?" } }]
        ]
        for (const [path, options] of refusals) {
          const { body, status } = yield* text(path, options)
          assert.deepStrictEqual(
            [status, Schema.decodeUnknownSync(Code)(body).error.code],
            [403, "insufficient_quota"],
            path
          )
        }
        const Listed = Schema.fromJsonString(Schema.Struct({ documents: Schema.Array(Schema.Unknown) }))
        const { body } = yield* text("/documents", bearer(key))
        assert.deepStrictEqual(Schema.decodeUnknownSync(Listed)(body).documents, [])
        assert.deepStrictEqual(yield* left, [0, 50_000])
      })
    )
  )

  it.live("rejects keys that may not use a model", () =>
    served(
      Effect.gen(function* () {
        const { key, left } = yield* makeUser("cas", 10_000, { models: ["sluice-lexical-1024"] })
        const body = filesOf({ "a.md": "# A\n\nThe toll is four crowns." })
        assert.strictEqual((yield* text("/documents", { ...bearer(key), body })).status, 200)
        const [user] = yield* left
        const asked = yield* text("/qa", { ...bearer(key), json: { question: "What is the toll?" } })
        assert.deepStrictEqual(
          [asked.status, Schema.decodeUnknownSync(Code)(asked.body).error.code],
          [403, "model_not_allowed"]
        )
        assert.strictEqual((yield* left)[0], user)
      })
    )
  )

  it.live("counts one request as one call of the rate limit", () =>
    served(
      Effect.gen(function* () {
        const { call, json } = yield* TestServer
        const body = filesOf({ "a.md": "# A\n\nThe toll is four crowns." })
        assert.strictEqual((yield* call("/documents", { body })).status, 200)
        for (const limits of [{ requests_per_minute: 1 }, { tokens_per_minute: 10 }]) {
          const fields = { name: "key", expired_time: -1, remain_quota: 50_000, subnet: "", ...limits }
          const { key } = (yield* json(Key, "/api/token/", { as: "token", json: fields })).data
          const ask = Effect.gen(function* () {
            const before = yield* quotaOf({ json })
            const asked = { ...bearer(key), json: { question: "What is the toll?" } }
            const { body, status } = yield* text("/qa", asked)
            return { body, status, cost: before - (yield* quotaOf({ json })) }
          })
          const first = yield* ask
          assert.strictEqual(first.status, 200, first.body)
          assert.include(first.body, "four crowns")
          // A minute may end between two calls, once.
          const more = [yield* ask, yield* ask]
          const refused = more.filter(({ status }) => status === 429)
          assert.isAbove(refused.length, 0)
          for (const { cost } of refused) assert.strictEqual(cost, 0)
        }
      })
    )
  )
})
