/** Each call is permitted and paid as its own caller, whoever opened the library. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bearer } from "./AccountCalls.ts"
import { type CallOptions, filesOf, startServer, TestServer } from "./TestServer.ts"

const Key = Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) })
const Left = Schema.Struct({ data: Schema.Struct({ remain_quota: Schema.Int }) })

/** A key of the owner, and what is left of its quota. */
const makeKey = (more: object = {}) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const fields = { name: "key", expired_time: -1, remain_quota: 50_000, subnet: "", ...more }
    const { id, key } = (yield* json(Key, "/api/token/", { as: "token", json: fields })).data
    const left = Effect.map(json(Left, `/api/token/${id}`, { as: "token" }), ({ data }) => data.remain_quota)
    return { id, left, key }
  })

const text = (path: string, options: CallOptions) =>
  Effect.flatMap(TestServer, ({ call }) =>
    Effect.flatMap(call(path, options), (response) => Effect.promise(() => response.text()))
  )

const body = () => filesOf({ "a.md": "# A\n\nThe toll is four crowns." })
const rebuild = ({ key }: { readonly key: string }) => text("/rebuild", { ...bearer(key), method: "POST" })

const served = <A, E, R>(test: Effect.Effect<A, E, R | TestServer>) =>
  Effect.flatMap(startServer(), (server) => Effect.provideService(test, TestServer, server)).pipe(
    Effect.scoped
  )

describe("a library that another key opened", () => {
  for (const collection of ["default", "other"]) {
    const query = `?collection=${collection}`
    it.live(`does not lend the key's models and money to a rebuild (${collection})`, () =>
      served(
        Effect.gen(function* () {
          const first = yield* makeKey()
          const second = yield* makeKey({ models: ["sluice-chat"] })
          yield* text(`/documents${query}`, { ...bearer(first.key), body: body() })
          const left = yield* first.left
          assert.isBelow(left, 50_000)
          assert.include(yield* rebuild(second), "may not use the model")
          assert.strictEqual(yield* first.left, left)
        })
      )
    )

    it.live(`rebuilds for others after the key is deleted (${collection})`, () =>
      served(
        Effect.gen(function* () {
          const { call } = yield* TestServer
          const first = yield* makeKey()
          const second = yield* makeKey()
          yield* text(`/documents${query}`, { ...bearer(first.key), body: body() })
          yield* call(`/api/token/${first.id}`, { as: "token", method: "DELETE" })
          const events = yield* rebuild(second)
          assert.include(events, `"type":"done"`)
          assert.notInclude(events, "error")
          assert.isBelow(yield* second.left, 50_000)
        })
      )
    )

    it.live(`charges each question to its own key (${collection})`, () =>
      served(
        Effect.gen(function* () {
          const first = yield* makeKey()
          const second = yield* makeKey()
          yield* text(`/documents${query}`, { ...bearer(first.key), body: body() })
          const left = yield* first.left
          const json = { question: "What is the toll?", collection }
          assert.include(yield* text("/qa", { ...bearer(second.key), json }), "four crowns")
          assert.strictEqual(yield* first.left, left)
          assert.isBelow(yield* second.left, 50_000)
        })
      )
    )
  }
})
