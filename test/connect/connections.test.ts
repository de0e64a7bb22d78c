/** Administrators connect vendors over HTTP, while the server runs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import {
  AnswerBody,
  AuditEntry,
  Connections,
  ConnectionTrial,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { errorOf, filesOf, startServer } from "../demo-server/TestServer.ts"
import { OPENAI_KEY, startFakeOpenAi } from "./FakeOpenAi.ts"

const PATH = "/api/connections"

const dataOf = <S extends Schema.Top>(data: S) => Schema.Struct({ data })

const start = Effect.gen(function* () {
  const openAi = yield* startFakeOpenAi
  const server = yield* startServer({ env: { MISTRAL_API_KEY: OPENAI_KEY } })
  const json = { vendor: "openai", url: openAi.url, key: OPENAI_KEY }
  return { json, openAi, server, file: join(server.data, "connections/sluice.config.json") }
})

const library = { embedding: "text-embedding-3-small", chat: "gpt-4o-mini", vision: "gpt-4o-mini" }

describe("a connection", () => {
  it.live("is tried with one call of each kind, and nothing is saved", () =>
    Effect.gen(function* () {
      const { file, json, server } = yield* start
      const { data } = yield* server.json(dataOf(ConnectionTrial), `${PATH}/try`, { as: "session", json })
      assert.deepStrictEqual(data.tries, [
        { operation: "embeddings", model: "text-embedding-3-small", ok: true },
        { operation: "chat", model: "gpt-4o-mini", ok: true }
      ])
      assert.deepStrictEqual(data.library, library)
      assert.deepInclude(data.models, { id: "gpt-image-1", operation: "images" })
      assert.isUndefined(yield* Effect.promise(() => stat(file).catch(() => undefined)))
    }).pipe(Effect.scoped)
  )

  it.live("that is saved answers at once, from a key in a private file, and is in the audit log", () =>
    Effect.gen(function* () {
      const { file, json, openAi, server } = yield* start
      const saved = yield* server.json(dataOf(Connections), PATH, {
        as: "session",
        method: "PUT",
        json: { ...json, library }
      })
      assert.deepStrictEqual(saved.data.connections, [{ id: "openai", vendor: "openai", url: openAi.url }])
      const status = yield* server.json(ServerStatus, "/status")
      assert.deepInclude(status, { demo: false, provider: "gateway" })
      assert.strictEqual(status.models.chat, "gpt-4o-mini")
      assert.strictEqual(status.state, "rebuild-needed")
      const rebuilt = yield* server.call("/rebuild", { method: "POST" })
      yield* Effect.promise(() => rebuilt.text())
      const birds = filesOf({ "birds.md": "# Birds\n\nThe heron waits at the weir." })
      assert.strictEqual((yield* server.call("/documents", { body: birds })).status, 200)
      const answer = yield* server.json(AnswerBody, "/qa", {
        json: { question: "Where does the heron wait?" }
      })
      assert.strictEqual(answer.answer, "It waits at the weir. [1]")

      const keyFile = join(server.data, "connections/openai.key")
      assert.strictEqual((yield* Effect.promise(() => stat(keyFile))).mode & 0o777, 0o600)
      assert.notInclude(yield* Effect.promise(() => readFile(file, "utf8")), OPENAI_KEY)
      const audit = dataOf(Schema.Array(AuditEntry))
      const [entry] = (yield* server.json(audit, "/api/audit", { as: "session" })).data
      assert.deepInclude(entry, { action: "connection.save", subject: "openai" })
      const listed = yield* server.call(PATH, { as: "session" })
      const shown =
        (yield* Effect.promise(() => listed.text())) + JSON.stringify(entry) + server.printed.join("\n")
      assert.notInclude(shown, OPENAI_KEY)

      // The saved key goes to the same address only.
      const { key: _, ...again } = json
      const retried = yield* server.call(`${PATH}/try`, { as: "session", json: again })
      assert.strictEqual(retried.status, 200)
      const before = openAi.requests.length
      const other = { ...again, url: openAi.url.replace("127.0.0.1", "localhost") }
      const stolen = yield* server.call(`${PATH}/try`, { as: "session", json: other })
      assert.deepInclude(yield* errorOf(stolen), { code: "connection_failed", param: "key" })
      const ofVariable = { vendor: "mistral", url: openAi.url }
      assert.strictEqual((yield* server.call(`${PATH}/try`, { as: "session", json: ofVariable })).status, 400)
      assert.lengthOf(openAi.requests, before)

      const removed = yield* server.json(dataOf(Connections), `${PATH}/openai`, {
        as: "session",
        method: "DELETE"
      })
      assert.deepStrictEqual(removed.data.connections, [])
      assert.isTrue((yield* server.json(ServerStatus, "/status")).demo)
      assert.isUndefined(yield* Effect.promise(() => stat(keyFile).catch(() => undefined)))
    }).pipe(Effect.scoped)
  )

  it.live("that the server cannot use is not saved, and the reason does not show the key", () =>
    Effect.gen(function* () {
      const { file, json, server } = yield* start
      const key = "sk-wrong-0123456789abcdef"
      const refused = yield* server.call(PATH, { as: "session", method: "PUT", json: { ...json, key } })
      assert.strictEqual(refused.status, 400)
      const { code, message } = yield* errorOf(refused)
      assert.strictEqual(code, "connection_failed")
      assert.include(message, "Incorrect API key provided")
      assert.notInclude(message, key)
      const missing = { ...json, library: { chat: "gpt-9" } }
      const unknown = yield* server.call(PATH, { as: "session", method: "PUT", json: missing })
      assert.include((yield* errorOf(unknown)).message, "`library.chat` to be a model of an upstream")
      for (const one of [file, join(server.data, "connections/openai.key")]) {
        assert.isUndefined(yield* Effect.promise(() => stat(one).catch(() => undefined)))
      }
      assert.isTrue((yield* server.json(ServerStatus, "/status")).demo)
    }).pipe(Effect.scoped)
  )

  it.live("is for administrators", () =>
    Effect.gen(function* () {
      const { json, server } = yield* start
      const created = yield* server.json(
        dataOf(Schema.Struct({ access_token: Schema.String })),
        "/api/user",
        { as: "token", json: { username: "ann" } }
      )
      const headers = { authorization: `Bearer ${created.data.access_token}` }
      const calls = [
        server.call(PATH, { as: "none", headers }),
        server.call(`${PATH}/try`, { as: "none", headers, json }),
        server.call(PATH, { as: "none", headers, method: "PUT", json }),
        server.call(`${PATH}/openai`, { as: "none", headers, method: "DELETE" })
      ]
      for (const call of calls) assert.strictEqual((yield* call).status, 403)
      assert.strictEqual((yield* server.call(PATH)).status, 401)
    }).pipe(Effect.scoped)
  )

  it.live("is not possible with SLUICE_GATEWAY_URL, which is said", () =>
    Effect.gen(function* () {
      const { openAi, json } = yield* start
      const env = { SLUICE_GATEWAY_URL: openAi.url, SLUICE_API_KEY: OPENAI_KEY, SLUICE_EMBEDDING_MODEL: "e" }
      const server = yield* startServer({ env })
      const { data } = yield* server.json(dataOf(Connections), PATH, { as: "session" })
      assert.include(data.problem, "SLUICE_GATEWAY_URL configures the models")
      assert.strictEqual((yield* server.call(PATH, { as: "session", method: "PUT", json })).status, 400)
    }).pipe(Effect.scoped)
  )
})
