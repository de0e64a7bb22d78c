/** Usage by day and model, and idempotent creation of tokens, on both databases. */
import { assert, it } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Schedule, Schema } from "effect"
import { DayUsage } from "../../apps/demo-server/src/contract/index.ts"
import { MadeKey, MadeUser } from "./AccountCalls.ts"
import { onEachStore } from "./Stores.ts"
import { type CallOptions, startServer } from "./TestServer.ts"

const Used = Schema.Struct({ data: Schema.Array(DayUsage) })
const Listed = Schema.Struct({ data: Schema.Array(Schema.Struct({ name: Schema.String })) })

onEachStore((store) => {
  it.live("lists a user's usage by day and model, without rejected calls", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const embed = (input: string, model = "sluice-lexical-1024") =>
        server.call("/v1/embeddings", { json: { model, input } })
      yield* Effect.all([embed("a lock"), embed("a weir by the lock"), embed("x", "nobody's")])
      const usage = server.json(Used, "/api/usage?days=2", { as: "token" })
      const { data } = yield* Effect.repeat(usage, {
        schedule: Schedule.spaced("10 millis"),
        until: ({ data }) => data.reduce((sum, { calls }) => sum + calls, 0) >= 2
      })
      // The day may end in between.
      const sum = (field: "calls" | "input_tokens" | "output_tokens" | "quota") =>
        data.reduce((sum, day) => sum + day[field], 0)
      assert.deepStrictEqual(
        [sum("calls"), sum("input_tokens"), sum("output_tokens"), sum("quota")],
        [2, 7, 0, 2]
      )
      for (const { day, model, operation } of data) {
        assert.deepStrictEqual([model, operation], ["sluice-lexical-1024", "embeddings"])
        assert.match(day, /^\d{4}-\d\d-\d\d$/)
      }
      assert.strictEqual((yield* server.call("/api/usage", { as: "none" })).status, 401)
      for (const days of ["0", "3661", "1.5", "many"]) {
        assert.strictEqual((yield* server.call(`/api/usage?days=${days}`, { as: "token" })).status, 400)
      }
      const misspelt = yield* server.call("/api/usage?users=ann", { as: "token" })
      assert.strictEqual(misspelt.status, 400)
      const ann = yield* server.json(MadeUser, "/api/user", { as: "token", json: { username: "ann" } })
      const asAnn = { as: "none", headers: { authorization: `Bearer ${ann.data.access_token}` } } as const
      const ofAnn = `/api/usage?user=${ann.data.id}`
      for (const asked of [{ as: "token" }, asAnn] as const)
        assert.deepStrictEqual(yield* server.json(Used, ofAnn, asked), { data: [] })
      assert.deepStrictEqual((yield* server.json(Used, "/api/usage?user=owner", { as: "token" })).data, data)
      assert.strictEqual((yield* server.call("/api/usage?user=owner", asAnn)).status, 403)
      for (const nobody of ["2", "a%00"]) {
        const path = `/api/usage?user=${nobody}`
        assert.strictEqual((yield* server.call(path, { as: "token" })).status, 404)
        assert.strictEqual((yield* server.call(path, asAnn)).status, 403)
      }
    }).pipe(Effect.scoped)
  )

  it.live("repeated and concurrent creations of a token are 409 with its id and without its key", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const creation = (name: string, key: string): CallOptions => ({
        as: "token",
        json: { name, expired_time: -1, remain_quota: 5, subnet: "" },
        headers: { "idempotency-key": key }
      })
      const create = (name: string, key: string) =>
        Effect.flatMap(server.call("/api/token/", creation(name, key)), (response) =>
          Effect.map(
            Effect.promise(() => response.text()),
            (text) => ({ status: response.status, text })
          )
        )
      const codeOf = (text: string) => Schema.decodeUnknownSync(ErrorBody)(JSON.parse(text)).error.code
      const answers = yield* Effect.all(
        Array.from({ length: 4 }, () => create("one", "a")),
        { concurrency: "unbounded" }
      )
      const made = answers.filter(({ status }) => status === 200)
      assert.lengthOf(made, 1)
      const { data } = Schema.decodeUnknownSync(MadeKey)(JSON.parse(made[0]?.text ?? ""))
      assert.match(data.key, /^sk-\w{48}$/)
      for (const { status, text } of answers.filter((answer) => answer !== made[0])) {
        assert.deepStrictEqual([status, codeOf(text)], [409, "token_already_created"])
        assert.include(text, `/api/token/${data.id}`)
        assert.notMatch(text, /sk-/)
      }
      const other = yield* create("two", "a")
      assert.deepStrictEqual([other.status, codeOf(other.text)], [422, "idempotency_key_reused"])
      assert.strictEqual((yield* create("one", "b")).status, 200)
      const { data: names } = yield* server.json(Listed, "/api/token/", { as: "token" })
      assert.lengthOf(
        names.filter(({ name }) => name === "one"),
        2
      )
    }).pipe(Effect.scoped)
  )
})
