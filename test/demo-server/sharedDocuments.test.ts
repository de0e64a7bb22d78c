/** Two servers with one PostgreSQL and one object store: documents, collections and media files are the same at each. */
import { ImageResponse } from "@sluice/core/contract"
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { twoServers } from "./SharedServers.ts"
import { onPostgres } from "./Stores.ts"
import { failedStart, startServer, temporaryFolder } from "./TestServer.ts"

const Documents = Schema.Struct({
  documents: Schema.Array(Schema.Struct({ id: Schema.String, path: Schema.String })),
  total: Schema.Int
})
const Answer = Schema.Struct({ answer: Schema.String })

const formOf = (path: string, text: string) => {
  const form = new FormData()
  form.append("files", new Blob([text]), path)
  return form
}

onPostgres((_, store) => {
  const pair = twoServers(store)
  /** A collection opens its table again once a second. */
  const soon = Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 50 })

  it.live("a document is answered from, changed and removed at any of two servers", () =>
    Effect.gen(function* () {
      const { first, second } = yield* pair
      const heron = "# Heron\n\nThe heron waits at the northern lock."
      assert.strictEqual((yield* first.call("/documents", { body: formOf("heron.md", heron) })).status, 200)
      const question = { method: "POST", json: { question: "Where does the heron wait?" } }
      assert.include((yield* second.json(Answer, "/qa", question)).answer, "northern")
      const changed = heron.replace("northern", "southern")
      assert.strictEqual(
        (yield* second.call("/documents", { body: formOf("heron.md", changed) })).status,
        200
      )
      assert.include((yield* first.json(Answer, "/qa", question)).answer, "southern")
      const [document] = (yield* second.json(Documents, "/documents")).documents
      assert.strictEqual((yield* first.call(`/documents/${document!.id}`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* second.json(Documents, "/documents")).total, 0)
      assert.strictEqual((yield* second.call(`/documents/${document!.id}/file`)).status, 404)
      // Nothing of a document is on a server's disk.
      for (const { data } of [first, second])
        for (const name of ["library", "libraries", "media/files", "in-use.db"])
          assert.isFalse(existsSync(join(data, name)), name)
    }).pipe(Effect.scoped)
  )

  it.live("a collection removed or made at one server is removed or there at the other", () =>
    Effect.gen(function* () {
      const { first, second } = yield* pair
      const at = "/documents?collection=harbour"
      yield* first.call(at, { body: formOf("a.md", "# Quay\n\nThe quay is long.") })
      assert.strictEqual((yield* second.json(Documents, at)).total, 1)
      assert.strictEqual((yield* second.call("/collections/harbour", { method: "DELETE" })).status, 204)
      const gone = Effect.filterOrFail(first.call(at), ({ status }) => status === 404)
      assert.strictEqual((yield* soon(gone)).status, 404)
      yield* second.call(at, { body: formOf("b.md", "# Pier\n\nThe pier is short.") })
      const there = Effect.filterOrFail(first.call(at), ({ status }) => status === 200)
      yield* soon(there)
      assert.deepStrictEqual(
        (yield* first.json(Documents, at)).documents.map(({ path }) => path),
        ["b.md"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("a picture that one server made is served by the other", () =>
    Effect.gen(function* () {
      const { first, second } = yield* pair
      const { data = [] } = yield* first.json(ImageResponse, "/v1/images/generations", {
        json: { model: "sluice-image-i2", prompt: "a lock", size: "64x48", response_format: "url" }
      })
      const { pathname } = new URL(data[0]?.url ?? "")
      const [own, others] = [yield* first.call(pathname), yield* second.call(pathname)]
      assert.strictEqual(own.status, 200)
      assert.strictEqual(others.status, 200)
      assert.deepStrictEqual(
        Buffer.from(yield* Effect.promise(() => others.arrayBuffer())),
        Buffer.from(yield* Effect.promise(() => own.arrayBuffer()))
      )
    }).pipe(Effect.scoped)
  )
})

it.live("SLUICE_DOCUMENTS is a folder or a known store", () =>
  Effect.gen(function* () {
    const [data, documents] = [yield* temporaryFolder, yield* temporaryFolder]
    const { code, printed } = yield* failedStart(data, { SLUICE_DOCUMENTS: "ftp://host/x" })
    assert.strictEqual(code, 1)
    assert.include(printed, "SLUICE_DOCUMENTS must be a folder, or an address that begins with s3://")
    const server = yield* startServer({ data, env: { SLUICE_DOCUMENTS: documents } })
    yield* server.call("/documents", { body: formOf("a.md", "# Quay\n\nThe quay is long.") })
    assert.isTrue(existsSync(join(documents, "library", "collections.lance")))
    assert.isFalse(existsSync(join(data, "library")))
  }).pipe(Effect.scoped)
)
