/** Administrators connect vendors over HTTP, while the server runs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { readdir, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import {
  AnswerBody,
  AuditEntry,
  Connections,
  ConnectionTrial,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { errorOf, filesOf, startServer } from "../demo-server/TestServer.ts"
import { OPENAI_KEY, SECOND_KEY, startFakeOpenAi, startWithKey } from "../connect/FakeOpenAi.ts"

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

  it.live("of a vendor can have a second one beside it, with its own name, key and address", () =>
    Effect.gen(function* () {
      const { file, json, server } = yield* start
      const second = yield* startWithKey(SECOND_KEY)
      const save = (json: object) => server.call(PATH, { as: "session", method: "PUT", json })
      assert.strictEqual((yield* save({ ...json, library })).status, 200)
      const other = { vendor: "openai", id: "second", url: second.url, key: SECOND_KEY }
      assert.strictEqual((yield* save(other)).status, 200)
      const { data } = yield* server.json(dataOf(Connections), PATH, { as: "session" })
      assert.deepStrictEqual(data.connections, [
        { id: "openai", vendor: "openai", url: json.url },
        { id: "second", vendor: "openai", url: second.url }
      ])
      const keys = JSON.parse(yield* Effect.promise(() => readFile(file, "utf8"))) as {
        readonly upstreams: ReadonlyArray<{ readonly apiKey: object }>
      }
      assert.deepStrictEqual(
        keys.upstreams.map(({ apiKey }) => apiKey),
        [{ file: "openai.key" }, { file: "second.key" }]
      )

      // The second one has the library's models too.
      const removed = yield* server.json(dataOf(Connections), `${PATH}/openai`, {
        as: "session",
        method: "DELETE"
      })
      assert.deepStrictEqual(removed.data.library, library)
      const before = second.requests.length
      const messages = [{ role: "user", content: "hi" }]
      const answer = yield* server.call("/v1/chat/completions", { json: { model: "gpt-4o-mini", messages } })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(second.requests.length, before + 1)
      yield* server.call(`${PATH}/second`, { as: "session", method: "DELETE" })
      assert.isTrue((yield* server.json(ServerStatus, "/status")).demo)
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

  it.live("has a name that is no path, and must exist to be removed", () =>
    Effect.gen(function* () {
      const { json, server } = yield* start
      const outside = join(server.data, "x.key")
      yield* Effect.promise(() => writeFile(outside, "other"))
      const remove = (id: string) =>
        server.call(`${PATH}/${encodeURIComponent(id)}`, { as: "session", method: "DELETE" })
      assert.strictEqual((yield* remove("../x")).status, 400)
      assert.strictEqual((yield* remove("unknown")).status, 404)
      for (const id of ["../x", "...", "a/b"]) {
        const refused = yield* server.call(PATH, { as: "session", method: "PUT", json: { ...json, id } })
        assert.strictEqual(refused.status, 400, id)
      }
      assert.strictEqual(yield* Effect.promise(() => readFile(outside, "utf8")), "other")
      const folder = join(server.data, "connections")
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(folder).catch(() => [])), [])
      for (const id of ["a:b", "a_b"]) {
        yield* server.json(dataOf(Connections), PATH, { as: "session", method: "PUT", json: { ...json, id } })
      }
      assert.strictEqual((yield* remove("a:b")).status, 200)
      const names = yield* Effect.promise(() => readdir(folder))
      assert.deepStrictEqual(names.toSorted(), ["a_b.key", "sluice.config.json"])
    }).pipe(Effect.scoped)
  )

  it.live("is tried with the models that its entry names, and keeps them with its dialect", () =>
    Effect.gen(function* () {
      const { file, json, openAi, server } = yield* start
      const models = [{ id: "gpt-4o-mini", operation: "chat" }] as const
      const put = (more: object) =>
        server.json(dataOf(Connections), PATH, { as: "session", method: "PUT", json: { ...json, ...more } })
      const savedModels = Effect.map(
        Effect.promise(() => readFile(file, "utf8")),
        (text) => JSON.parse(text).upstreams[0].models
      )
      yield* put({ models })
      const before = openAi.requests.length
      const { data } = yield* server.json(dataOf(ConnectionTrial), `${PATH}/try`, { as: "session", json })
      assert.deepStrictEqual(data.models, models)
      assert.deepStrictEqual(
        openAi.requests.slice(before).map(({ path }) => path),
        ["/v1/chat/completions"]
      )
      yield* put({})
      assert.deepStrictEqual(yield* savedModels, models)
      yield* put({ id: "openai", vendor: "mistral" })
      assert.isUndefined(yield* savedModels)
    }).pipe(Effect.scoped)
  )

  it.live("that is saved at the same time as others is not lost", () =>
    Effect.gen(function* () {
      const { json, server } = yield* start
      const ids = ["a", "b", "c", "d", "e", "f"]
      const save = (id: string) => server.call(PATH, { as: "session", method: "PUT", json: { ...json, id } })
      const saved = yield* Effect.forEach(ids, save, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        saved.map(({ status }) => status),
        ids.map(() => 200)
      )
      const { data } = yield* server.json(dataOf(Connections), PATH, { as: "session" })
      assert.sameMembers(
        data.connections.map(({ id }) => id),
        ids
      )
    }).pipe(Effect.scoped)
  )

  it.live("that is removed leaves the library the models that others serve too", () =>
    Effect.gen(function* () {
      const { json, server } = yield* start
      const put = (more: object) =>
        server.json(dataOf(Connections), PATH, { as: "session", method: "PUT", json: { ...json, ...more } })
      yield* put({ models: [{ id: "gpt-4o-mini", operation: "chat" }] })
      yield* put({ id: "second", library })
      const remove = (id: string) =>
        server.json(dataOf(Connections), `${PATH}/${id}`, { as: "session", method: "DELETE" })
      assert.deepStrictEqual((yield* remove("second")).data.library, {
        chat: "gpt-4o-mini",
        vision: "gpt-4o-mini"
      })
      assert.deepStrictEqual((yield* remove("openai")).data.library, {})
    }).pipe(Effect.scoped)
  )

  it.live("with another embedding model leaves the old index in use until the rebuild", () =>
    Effect.gen(function* () {
      const { json, server } = yield* start
      const upload = (name: string, text: string) =>
        server.call("/documents", { body: filesOf({ [name]: text }) })
      const ask = server.json(AnswerBody, "/qa", { json: { question: "Where does the heron wait?" } })
      yield* upload("birds.md", "# Birds\n\nThe heron waits at the weir.")
      yield* server.call(PATH, { as: "session", method: "PUT", json: { ...json, library } })
      assert.include((yield* ask).answer, "The heron waits at the weir.")
      // What is written until then is not lost.
      assert.strictEqual((yield* upload("boats.md", "# Boats\n\nBoats leave at high water.")).status, 200)
      const before = yield* server.json(ServerStatus, "/status", { as: "session" })
      assert.deepInclude(before, {
        state: "rebuild-needed",
        documents: 2,
        message: "The previous models answer until the library is rebuilt."
      })
      const rebuilt = yield* server.call("/rebuild", { method: "POST" })
      yield* Effect.promise(() => rebuilt.text())
      const after = yield* server.json(ServerStatus, "/status", { as: "session" })
      assert.deepInclude(after, { state: "ready", documents: 2 })
      assert.strictEqual((yield* ask).answer, "It waits at the weir. [1]")
    }).pipe(Effect.scoped)
  )

  it.live("keeps its secrets at its address and dialect", () =>
    Effect.gen(function* () {
      const { file, json, openAi, server } = yield* start
      const put = (json: object) => server.call(PATH, { as: "session", method: "PUT", json })
      assert.strictEqual((yield* put(json)).status, 200)
      const saved = JSON.parse(yield* Effect.promise(() => readFile(file, "utf8")))
      const secrets = { headers: { "x-secret": "header-0123456789" }, query: { token: "query-0123456789" } }
      saved.upstreams[0] = { ...saved.upstreams[0], ...secrets }
      yield* Effect.promise(() => writeFile(file, JSON.stringify(saved)))
      // The list may depend on them.
      yield* Effect.repeat(
        Effect.sync(() => openAi.requests.some(({ headers }) => "x-secret" in headers)),
        { schedule: Schedule.spaced("20 millis"), until: (isListed) => isListed }
      )
      const requestsOf = Effect.fnUntraced(function* (json: object) {
        const before = openAi.requests.length
        yield* server.call(`${PATH}/try`, { as: "session", json })
        return openAi.requests.slice(before)
      })
      assert.strictEqual((yield* requestsOf(json))[0]?.headers["x-secret"], "header-0123456789")
      // A vendor may repeat a header.
      const wrong = yield* server.call(`${PATH}/try`, { as: "session", json: { ...json, key: "sk-wrong" } })
      const { message } = yield* errorOf(wrong)
      assert.include(message, "sk-wrong")
      assert.include(message, "<redacted>")
      assert.notInclude(message, "header-0123")
      const named = { ...json, key: "sk-wrong", models: [{ id: "gpt-4o-mini", operation: "chat" }] }
      const { data } = yield* server.json(dataOf(ConnectionTrial), `${PATH}/try`, {
        as: "session",
        json: named
      })
      assert.include(data.tries[0]?.message, "Bearer sk-wrong <redacted>")
      // The key of a variable goes to no address that was saved for another vendor.
      const { key: _, ...unkeyed } = json
      assert.lengthOf(yield* requestsOf({ ...unkeyed, id: "openai", vendor: "mistral" }), 0)
      const other = { ...json, url: openAi.url.replace("127.0.0.1", "localhost") }
      const sent = yield* requestsOf(other)
      assert.isNotEmpty(sent)
      for (const { headers } of sent) assert.notProperty(headers, "x-secret")
      assert.strictEqual((yield* put(other)).status, 200)
      const text = yield* Effect.promise(() => readFile(file, "utf8"))
      for (const secret of ["header-0123456789", "query-0123456789"]) assert.notInclude(text, secret)
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
