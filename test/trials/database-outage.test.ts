/** A database that becomes unavailable during a call. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schedule, Schema } from "effect"
import { onPostgres } from "../demo-server/Stores.ts"
import { startServer } from "../demo-server/TestServer.ts"
import { json, startUpstream } from "../demo-server/Upstream.ts"

const User = Schema.Struct({ data: Schema.Struct({ quota: Schema.Int }) })

onPostgres((postgres, store) => {
  it.live(
    "a call gets its response, and is charged when the database is back",
    () =>
      Effect.gen(function* () {
        const { start, stop } = yield* postgres
        let answer: (() => void) | undefined
        const vectors = { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 100_000 } }
        const upstream = yield* startUpstream((response, { body }) => {
          if (body.includes("three")) answer = () => json(response, vectors)
          else json(response, vectors)
        })
        const server = yield* startServer({ env: { ...upstream.env, ...(yield* store) } })
        const quota = Effect.map(
          server.json(User, "/api/user/self", { as: "token" }),
          ({ data }) => data.quota
        )
        const had = yield* quota
        const input = `three ${"word ".repeat(20_000)}`
        const calling = yield* Effect.forkChild(
          server.call("/v1/embeddings", { json: { model: "e", input } })
        )
        yield* Effect.repeat(
          Effect.sync(() => answer),
          { schedule: Schedule.spaced("5 millis"), until: (given) => given !== undefined }
        )
        // 10 units per 1,000 tokens; the reserve is one token per character.
        assert.strictEqual(yield* quota, had - Math.ceil(input.length / 100))
        yield* stop
        answer?.()
        assert.strictEqual((yield* Fiber.join(calling)).status, 200)
        assert.strictEqual(
          (yield* server.call("/v1/embeddings", { json: { model: "e", input } })).status,
          503
        )
        yield* start
        const back = Effect.map(server.call("/api/user/self", { as: "token" }), ({ status }) => status)
        yield* Effect.repeat(back, {
          schedule: Schedule.spaced("50 millis"),
          until: (status) => status === 200
        })
        yield* Effect.repeat(quota, {
          schedule: Schedule.spaced("50 millis"),
          until: (left) => left === had - 1000
        })
      }).pipe(Effect.scoped),
    60_000
  )
})
