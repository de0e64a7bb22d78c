/** The library uses the models that the providers' file names, and embedded models for the rest. */
import { assert, it } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import * as Embedded from "@sluice/embedded"
import { LlamaReader } from "@sluice/transformers"
import { Effect, Layer, Schema } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { ServerStatus } from "../../apps/demo-server/src/contract/Status.ts"
import { loopback } from "./Loopback.ts"
import { filesOf, startServer, temporaryFolder } from "./TestServer.ts"
import { json, startUpstream } from "./Upstream.ts"

const Status = Schema.Struct({
  provider: Schema.String,
  models: Schema.Struct({ embedding: Schema.String, rerank: Schema.String, chat: Schema.String })
})
const Listed = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
const ReceivedRequest = Schema.fromJsonString(
  Schema.Struct({ model: Schema.String, input: Schema.Array(Schema.String) })
)

/** Vectors that separate texts with a heron from others. */
const embedding = (text: string) => (/heron/i.test(text) ? [1, 0] : [0, 1])

it.live("the library uses the models of the providers' file", () =>
  Effect.gen(function* () {
    const upstream = yield* startUpstream((response, { body }) => {
      const { input, model } = Schema.decodeUnknownSync(ReceivedRequest)(body)
      const data = input.map((text, index) => ({ index, object: "embedding", embedding: embedding(text) }))
      json(response, { object: "list", model, data, usage: { prompt_tokens: 7, total_tokens: 7 } })
    })
    const file = join(yield* temporaryFolder, "sluice.config.json")
    const models = [
      {
        id: "large",
        operation: "embeddings",
        aliases: ["embed"],
        prefixes: { query: "query: ", passage: "passage: " },
        batch: 1
      },
      { id: "talk", operation: "chat" }
    ]
    const upstreams = [
      { id: "east", url: upstream.env["SLUICE_GATEWAY_URL"], apiKey: { env: "EAST" }, models }
    ]
    const start = (library: object) =>
      Effect.andThen(
        Effect.promise(() => writeFile(file, JSON.stringify({ upstreams, embedded: true, library }))),
        startServer({ env: { SLUICE_CONFIG: file, EAST: "sk-east" } })
      )
    const { call, json: read, printed } = yield* start({ embedding: "embed" })
    const status = yield* read(Status, "/status")
    assert.deepStrictEqual(
      [status.provider, status.models.embedding, status.models.rerank],
      ["gateway", "large", "sluice-lexical-rerank"]
    )
    assert.include(printed.join("\n"), `${file}: large`)

    const files = filesOf({ "birds.md": "# Birds\n\nA heron waits at the weir.\n\nA boat passes the lock." })
    assert.strictEqual((yield* call("/documents", { body: files })).status, 200)
    const answer = yield* call("/qa", { json: { question: "Where does the heron wait?" } })
    assert.include(yield* Effect.promise(() => answer.text()), "A heron waits at the weir.")
    const texts = upstream.requests.flatMap(
      ({ body }) => Schema.decodeUnknownSync(ReceivedRequest)(body).input
    )
    assert.isTrue(texts.some((text) => /^passage: .*A heron waits/s.test(text)))
    assert.include(texts, "query: Where does the heron wait?")
    const sizes = upstream.requests.map(
      ({ body }) => Schema.decodeUnknownSync(ReceivedRequest)(body).input.length
    )
    assert.strictEqual(Math.max(...sizes), 1)

    // The embedded models are served under their own names only.
    const listed = yield* read(Listed, "/v1/models")
    const names = listed.data.map(({ id }) => id)
    assert.includeMembers(names, ["large", "talk", "sluice-lexical-1024", "sluice-extractive"])
    assert.strictEqual(listed.data.filter(({ id }) => id === "large").length, 1)
    const own = yield* call("/v1/embeddings", { json: { model: "sluice-lexical-1024", input: "heron" } })
    assert.strictEqual(own.status, 200)
    const before = upstream.requests.length
    for (let i = 0; i < 8; i++) yield* call("/v1/embeddings", { json: { model: "large", input: ["heron"] } })
    assert.strictEqual(upstream.requests.length, before + 8)

    // The library's models are embedded, but calls of other models cost real money.
    const { json: readOther } = yield* start({})
    const other = yield* readOther(ServerStatus, "/status")
    assert.deepStrictEqual([other.provider, other.demo], ["embedded", false])

    const why = yield* Effect.flip(Effect.scoped(start({ embedding: "talk" })))
    assert.include(String(why), "`library.embedding` to be a model of an upstream for embeddings")
  }).pipe(Effect.scoped)
)

it.live("values of configured headers and queries are removed from errors of the library's models", () =>
  Effect.gen(function* () {
    const secrets = ["header-0123456789abcdef", "query-0123456789abcdef"]
    const [header = "", query = ""] = secrets
    const { url } = yield* loopback(({ headers, path, response }) => {
      const error = { message: `no ${String(headers["x-secret"])} at ${path}`, code: "bad" }
      response.writeHead(422, { "content-type": "application/json" })
      response.end(JSON.stringify({ error }))
    })
    const file = join(yield* temporaryFolder, "sluice.config.json")
    const east = {
      id: "east",
      url,
      apiKey: { env: "EAST" },
      headers: { "x-secret": header },
      query: { token: query },
      models: [{ id: "large", operation: "embeddings" }]
    }
    const config = { upstreams: [east], embedded: true, library: { embedding: "large" } }
    yield* Effect.promise(() => writeFile(file, JSON.stringify(config)))
    const { call, printed } = yield* startServer({ env: { SLUICE_CONFIG: file, EAST: "sk-east" } })
    const refused = yield* call("/documents", { body: filesOf({ "birds.md": "# Birds\n\nA heron." }) })
    const text = yield* Effect.promise(() => refused.text())
    assert.include(text, "no <redacted> at ")
    for (const secret of secrets) assert.notInclude(text + printed.join("\n"), secret.slice(0, 10))
  }).pipe(Effect.scoped)
)

it.live("a local model that cannot be loaded is the server's fault, with advice", () =>
  Effect.gen(function* () {
    const file = join(yield* temporaryFolder, "removed.gguf")
    const models = Layer.merge(Embedded.layer, LlamaReader.layer({ model: file }))
    const server = yield* startServer({ models })
    yield* server.call("/documents", {
      body: filesOf({ "birds.md": "# Birds\n\nA heron waits at the weir." })
    })
    const question = "Where does the heron wait?"
    const chat = { model: "sluice", messages: [{ role: "user", content: question }] }
    for (const [path, json] of [
      ["/qa", { question }],
      ["/v1/chat/completions", chat]
    ] as const) {
      const response = yield* server.call(path, { json })
      assert.strictEqual(response.status, 503)
      const { error } = Schema.decodeUnknownSync(ErrorBody)(yield* Effect.promise(() => response.json()))
      assert.strictEqual(error.type, "server_error")
      assert.match(error.message, /removed\.gguf cannot be loaded: ENOENT/)
    }
  }).pipe(Effect.scoped)
)
