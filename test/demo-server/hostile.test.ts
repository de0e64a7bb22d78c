/** Hostile requests: each gets a status that explains it, and none is logged as an internal error. */
import { assert, it, layer } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Fiber, Schema, Stream } from "effect"
import { Multipart } from "effect/http"
import { TestClock } from "effect/testing"
import { gzipSync } from "node:zlib"
import { IngestReportBody } from "../../apps/demo-server/src/contract/index.ts"
import { uploadedFiles } from "../../apps/demo-server/src/documents/Upload.ts"
import { MAX_CHARACTERS } from "../../apps/demo-server/src/embedded/Chat.ts"
import { zip } from "../rag/ZipWriter.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

const bodyOf = (response: Response) =>
  Effect.promise(async () => Schema.decodeUnknownSync(ErrorBody)(await response.json()))

layer(testServer(), { excludeTestServices: true })("a hostile caller", (it) => {
  it.effect("paths longer than a file name are 404 and are not logged", () =>
    Effect.gen(function* () {
      const { call, printed } = yield* TestServer
      const before = printed.length
      const long = "x".repeat(10_000)
      for (const path of [`/${"x".repeat(300)}`, `/files/${long}`])
        assert.strictEqual((yield* call(path, { as: "none" })).status, 404)
      const document = `/documents/${long}`
      for (const path of [document, `${document}/file`, `${document}/figures`, `${document}/pages/1`])
        assert.strictEqual((yield* call(path)).status, 404)
      assert.strictEqual((yield* call(`/collections/${long}`, { method: "DELETE" })).status, 400)
      assert.strictEqual(
        (yield* call(`/api/user/${long}/token`, { as: "token", method: "POST" })).status,
        404
      )
      assert.strictEqual((yield* call(`/?q=${"x".repeat(300)}`, { as: "none" })).status, 200)
      assert.strictEqual(printed.length, before)
    })
  )

  it.effect("compressed bodies are rejected", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const body = gzipSync(JSON.stringify({ question: "Is it read?" })).toString("latin1")
      for (const type of ["application/json", "multipart/form-data; boundary=b"]) {
        const headers = { "content-type": type, "content-encoding": "gzip" }
        const response = yield* call(type === "application/json" ? "/qa" : "/documents", { body, headers })
        assert.strictEqual(response.status, 415)
        assert.strictEqual((yield* bodyOf(response)).error.code, "unsupported_content_encoding")
        assert.strictEqual(response.headers.get("accept-encoding"), "identity")
      }
    })
  )

  it.effect("`__proto__` in a body has no effect", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const headers = { "content-type": "application/json" }
      const rank = (body: string) => call("/v1/rerank", { body, headers })
      const asked = `"query":"lock","documents":["lock","gate","quay"]`
      const whole = yield* rank(`{"__proto__":{"top_n":1},"model":"sluice-lexical-rerank",${asked}}`)
      const { results } = Schema.decodeUnknownSync(Schema.Struct({ results: Schema.Array(Schema.Unknown) }))(
        yield* Effect.promise(() => whole.json())
      )
      assert.lengthOf(results, 3)
      for (const name of ["__proto__", "constructor", "prototype"]) {
        const refused = yield* rank(`{"${name}":{"model":"sluice-lexical-rerank"},${asked}}`)
        assert.strictEqual(refused.status, 400)
        assert.strictEqual((yield* bodyOf(refused)).error.param, "model")
      }
    })
  )

  it.effect("a wrong method is told apart from a wrong path", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const path of ["/", "/docs", "/healthz", "/openapi.json"]) {
        const response = yield* call(path, { method: "PUT" })
        assert.deepStrictEqual([response.status, response.headers.get("allow")], [405, "GET"])
      }
    })
  )

  it.effect("errors under /api have its envelope and a correct status", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const response = yield* call("/api/models", { as: "key" })
      const body = yield* bodyOf(response)
      assert.strictEqual(response.status, 401)
      assert.strictEqual(body.success, false)
      assert.strictEqual(body.message, body.error.message)
    })
  )

  it.effect("a path of thousands of characters is reported, and the other file is added", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const files = filesOf({ [`${"n".repeat(5000)}.md`]: "# N\n\nText.", "beside.md": "# B\n\nText." })
      const { added, failed } = yield* json(IngestReportBody, "/documents", { body: files })
      assert.strictEqual(added, 1)
      assert.deepStrictEqual(
        failed.map(({ reason }) => reason),
        ["malformed"]
      )
      assert.isBelow(failed[0]?.message.length ?? Infinity, 200)
    })
  )

  it.effect(
    "a file beyond a limit is reported by the limit's name, and the rest of the upload is added",
    () =>
      Effect.gen(function* () {
        const { json } = yield* TestServer
        const files = filesOf({
          "pictures.html": '<img src="a.png" alt="b">'.repeat(16_000),
          "among.md": "# Among\n\nText."
        })
        const { added, failed } = yield* json(IngestReportBody, "/documents", { body: files })
        assert.strictEqual(added, 1)
        assert.match(failed[0]?.message ?? "", /^pictures\.html: the file has 16000 passages; the limit/)
      })
  )

  it.effect("an archive of too many files is reported with its limit, and the other file is added", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const body = new FormData()
      const archive = Buffer.from(zip([{ name: "a.txt", content: "a" }]))
      // The number of files in the record at its end.
      for (const fromEnd of [14, 12]) archive.writeUInt16LE(10_001, archive.length - fromEnd)
      body.append("files", new Blob([archive]), "many.zip")
      body.append("files", new Blob(["# Weir\n\nThe weir beside the archive is open."]), "beside-many.md")
      const { added, failed } = yield* json(IngestReportBody, "/documents", { body })
      assert.strictEqual(added, 1)
      const [{ message, path, reason } = assert.fail("it was not reported")] = failed
      assert.deepStrictEqual([path, reason], ["many.zip", "too_large"])
      assert.include(message, "10001 parts; the limit is 10000")
    })
  )

  it.effect("a query or question that is too long for the models of the process is rejected", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const long = "how much does ".repeat(1000)
      const messages = (count: number, content: string) =>
        Array.from({ length: count }, () => ({ role: "user", content }))
      for (const [path, json] of [
        ["/v1/rerank", { model: "sluice-lexical-rerank", query: long, documents: ["a"] }],
        ["/v1/chat/completions", { model: "sluice-extractive", messages: messages(1, long) }],
        ["/v1/chat/completions", { model: "sluice-extractive", messages: messages(5_000, "a") }]
      ] as const) {
        const response = yield* call(path, { json })
        assert.strictEqual(response.status, 400)
        assert.strictEqual((yield* bodyOf(response)).error.code, "context_length_exceeded")
      }
    })
  )

  it.effect("a conversation that would block the server is rejected at once", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const content = "\n ".repeat(MAX_CHARACTERS / 2 + 1)
      const response = yield* call("/v1/chat/completions", {
        json: { model: "sluice-extractive", messages: [{ role: "user", content }] }
      })
      assert.strictEqual(response.status, 400)
      assert.strictEqual((yield* bodyOf(response)).error.code, "context_length_exceeded")
    })
  )

  it.effect(
    "a conversation of empty lines is answered",
    () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const content = `The gate is open.${"\n".repeat(MAX_CHARACTERS - 100)}Is the gate open?`
        const response = yield* call("/v1/chat/completions", {
          json: { model: "sluice-extractive", messages: [{ role: "user", content }] }
        })
        assert.strictEqual(response.status, 200)
        assert.include(yield* Effect.promise(() => response.text()), "The gate is open.")
      }),
    // Parsing every line took ten seconds.
    5_000
  )
})

it.effect("a stalled upload times out", () =>
  Effect.gen(function* () {
    const part = (name: string) =>
      `--b\r\ncontent-disposition: form-data; name="f"; filename="${name}"\r\n\r\n# ${name}\r\n`
    const parts = Stream.make(new TextEncoder().encode(`${part("whole.md")}${part("half.md")}`)).pipe(
      Stream.concat(Stream.never),
      Stream.pipeThroughChannel(Multipart.makeChannel({ "content-type": "multipart/form-data; boundary=b" }))
    )
    const seen: Array<string> = []
    const reading = yield* uploadedFiles(parts, () => {}, {
      limit: Infinity,
      used: () => 0,
      left: () => Infinity,
      take: () => true
    }).pipe(
      Stream.runForEach(({ path }) => Effect.sync(() => seen.push(path))),
      Effect.flip,
      Effect.forkChild
    )
    while (reading.pollUnsafe() === undefined) yield* TestClock.adjust("10 seconds")
    const error = yield* Fiber.join(reading)
    assert.strictEqual(error.reason, "Malformed")
    assert.match(error.message, /sent nothing for 30 seconds.*send the rest again/)
    assert.deepStrictEqual(seen, ["whole.md"])
  })
)
