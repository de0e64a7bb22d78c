/** Administrators get local models over HTTP, while the server runs. */
import { assert, describe, it } from "@effect/vitest"
import { Local } from "@sluice/transformers"
import { Effect, Schedule, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { AuditEntry, LocalModels, ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { errorOf, failedStart, startServer, temporaryFolder } from "../demo-server/TestServer.ts"
import { toyModels } from "../transformers/ToyModels.ts"

const PATH = "/api/local-models"
const Listed = Schema.Struct({ data: LocalModels })

const start = Effect.gen(function* () {
  const toy = yield* toyModels
  const server = yield* startServer({ env: toy.environment })
  const list = Effect.map(server.json(Listed, PATH, { as: "session" }), ({ data }) => data)
  const download = (set: string) => server.call(`${PATH}/download`, { as: "session", json: { set } })
  const ended = Effect.repeat(list, {
    schedule: Schedule.spaced("20 millis"),
    until: ({ download }) => download?.state !== "running"
  })
  const use = (set: string | null) => server.call(PATH, { as: "session", method: "PUT", json: { set } })
  return {
    ...toy,
    server,
    list,
    download,
    ended,
    use,
    file: join(server.data, "connections/sluice.config.json")
  }
})

describe("local models", () => {
  it.live("are downloaded one set at a time, and logged", () =>
    Effect.gen(function* () {
      const { download, ended, hub, list, server } = yield* start
      assert.isUndefined((yield* list).download)
      hub.fault = () => true
      assert.strictEqual((yield* download("toy")).status, 200)
      const second = yield* download("half")
      assert.strictEqual(second.status, 409)
      assert.strictEqual((yield* errorOf(second)).message, "toy is being downloaded")
      const stopped = yield* server.call(`${PATH}/download`, { as: "session", method: "DELETE" })
      assert.strictEqual(stopped.status, 200)
      assert.strictEqual((yield* list).download?.state, "cancelled")
      hub.fault = () => false
      assert.strictEqual((yield* download("toy")).status, 200)
      const { download: done, sets } = yield* ended
      assert.strictEqual(done?.state, "done")
      assert.strictEqual(done?.done, done?.total)
      assert.deepStrictEqual(
        sets.filter(({ pulled }) => pulled).map(({ name }) => name),
        ["toy", "half", "pair"]
      )
      const audit = Schema.Struct({ data: Schema.Array(AuditEntry) })
      const [entry] = (yield* server.json(audit, "/api/audit", { as: "session" })).data
      assert.deepInclude(entry, { action: "local_models.download", subject: "toy" })
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be used change nothing", () =>
    Effect.gen(function* () {
      const { file, list, server, use } = yield* start
      const absent = yield* use("toy")
      assert.strictEqual(absent.status, 400)
      const { message } = yield* errorOf(absent)
      assert.include(message, Local.missingRuntime() ?? "npx @sluice/demo-server models pull toy")
      const unknown = yield* errorOf(yield* use("nothing"))
      assert.strictEqual(
        unknown.message,
        "There is no set nothing. Sets: small, better, answers, toy, half, pair, writer"
      )
      assert.isUndefined((yield* list).used)
      assert.isUndefined(yield* Effect.promise(() => readFile(file, "utf8").catch(() => undefined)))
      assert.strictEqual((yield* server.json(ServerStatus, "/status")).state, "ready")
    }).pipe(Effect.scoped)
  )

  it.live("are for administrators", () =>
    Effect.gen(function* () {
      const { server } = yield* start
      const user = Schema.Struct({ data: Schema.Struct({ access_token: Schema.String }) })
      const created = yield* server.json(user, "/api/user", { as: "token", json: { username: "ann" } })
      const headers = { authorization: `Bearer ${created.data.access_token}` }
      const set = { set: "toy" }
      const calls = [
        server.call(PATH, { as: "none", headers }),
        server.call(`${PATH}/servers`, { as: "none", headers }),
        server.call(`${PATH}/download`, { as: "none", headers, json: set }),
        server.call(`${PATH}/download`, { as: "none", headers, method: "DELETE" }),
        server.call(PATH, { as: "none", headers, method: "PUT", json: set })
      ]
      for (const call of calls) assert.strictEqual((yield* call).status, 403)
      assert.strictEqual((yield* server.call(PATH)).status, 401)
    }).pipe(Effect.scoped)
  )

  it.live("a wrong SLUICE_LOCAL_SERVERS stops the start", () =>
    Effect.gen(function* () {
      const { code, printed } = yield* failedStart(yield* temporaryFolder, {
        SLUICE_LOCAL_SERVERS: "olama=1"
      })
      assert.strictEqual(code, 1)
      assert.include(printed, "SLUICE_LOCAL_SERVERS: olama=1 is not NAME=PORT. Names: ollama, lmstudio")
    }).pipe(Effect.scoped)
  )
})
