/** Health checks: `/healthz` and `/readyz`. */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { mkdir, readdir, rename, rmdir } from "node:fs/promises"
import { join } from "node:path"
import { startPostgres, withoutPostgres } from "./Postgres.ts"
import { filesOf, startServer, testServer, TestServer } from "./TestServer.ts"

const Readiness = Schema.Struct({
  status: Schema.Literals(["ready", "not_ready"]),
  checks: Schema.Record(Schema.String, Schema.String)
})

const upstream = {
  SLUICE_GATEWAY_URL: "http://127.0.0.1:9",
  SLUICE_API_KEY: "canary-upstream-key",
  SLUICE_EMBEDDING_MODEL: "e",
  SLUICE_RERANK_MODEL: "r",
  SLUICE_CHAT_MODEL: "c"
}

layer(testServer(), { excludeTestServices: true })("a healthy server", (it) => {
  it.effect("is alive and ready, without a credential", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      assert.strictEqual((yield* call("/healthz", { as: "none" })).status, 200)
      assert.strictEqual((yield* call("/readyz", { as: "none" })).status, 200)
      assert.deepStrictEqual(yield* json(Readiness, "/readyz", { as: "none" }), {
        status: "ready",
        checks: { database: "ok", library: "ok", disk: "ok", providers: "ok", server: "ok" }
      })
    })
  )

  it.effect("is not ready while its data folder cannot be written, and leaves no file there", () =>
    Effect.gen(function* () {
      const { call, data, json } = yield* TestServer
      const inTheWay = join(data, "room.new")
      /** The disk is checked once a second. */
      const becomes = (status: number) =>
        Effect.repeat(call("/readyz", { as: "none" }), {
          until: (answer) => answer.status === status,
          schedule: Schedule.spaced("100 millis")
        })
      yield* Effect.promise(() => mkdir(inTheWay))
      yield* becomes(503)
      const { checks } = yield* json(Readiness, "/readyz", { as: "none" })
      assert.match(checks["disk"] ?? "", /cannot be written/)
      yield* Effect.promise(() => rmdir(inTheWay))
      yield* becomes(200)
      assert.notInclude(yield* Effect.promise(() => readdir(data)), "room.new")
    })
  )

  // Counting takes long where there are many passages, and a balancer would remove every server.
  it.effect("is ready once its library is open, without reading it", () =>
    Effect.gen(function* () {
      const { call, data } = yield* TestServer
      yield* call("/documents", { body: filesOf({ "heron.md": "# Heron\n\nA heron waits.\n" }) })
      const library = join(data, "library")
      const [from, to] = [library, `${library}-away`]
      yield* Effect.promise(() => rename(from, to))
      assert.strictEqual((yield* call("/documents")).status, 500)
      assert.strictEqual((yield* call("/readyz", { as: "none" })).status, 200)
      yield* Effect.promise(() => rename(to, from))
      assert.strictEqual((yield* call("/documents")).status, 200)
    })
  )
})

layer(testServer({ env: upstream }), { excludeTestServices: true })("a server without its gateway", (it) => {
  it.effect("is alive and not ready, and gives the reason without the gateway's address or key", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      assert.strictEqual((yield* call("/healthz", { as: "none" })).status, 200)
      const response = yield* call("/readyz", { as: "none" })
      assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "5"])
      const text = yield* Effect.promise(() => response.text())
      const { checks, status } = Schema.decodeUnknownSync(Schema.fromJsonString(Readiness))(text)
      assert.strictEqual(status, "not_ready")
      assert.deepStrictEqual(
        [checks["library"], checks["database"]],
        ["the library is not open: unavailable", "ok"]
      )
      for (const secret of ["canary", "127.0.0.1"]) assert.notInclude(text, secret)
    })
  )
})

// Skipped: if no PostgreSQL is installed. The name of the test has the reason.
it.live.skipIf(withoutPostgres !== undefined)(
  `a server without its database is not ready, and ready again when it is back${withoutPostgres === undefined ? "" : ` (skipped: ${withoutPostgres})`}`,
  () =>
    Effect.gen(function* () {
      const postgres = yield* startPostgres
      const { call } = yield* startServer({ env: { SLUICE_DATABASE_URL: yield* postgres.database } })
      const ask = Effect.flatMap(call("/readyz", { as: "none" }), (response) =>
        Effect.promise(async () => Schema.decodeUnknownSync(Readiness)(await response.json()))
      )
      assert.strictEqual((yield* ask).status, "ready")
      yield* postgres.stop
      assert.strictEqual((yield* call("/healthz", { as: "none" })).status, 200)
      const { checks, status } = yield* ask
      assert.deepStrictEqual([status, checks["database"]], ["not_ready", "the database does not respond"])
      yield* postgres.start
      yield* Effect.repeat(ask, {
        schedule: Schedule.spaced("50 millis"),
        until: ({ status }) => status === "ready"
      })
    }).pipe(Effect.scoped)
)
