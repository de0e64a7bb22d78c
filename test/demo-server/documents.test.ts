/** Documents over HTTP: upload, replace, read, remove, invalid files, and safe originals. */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  DocumentInfoSchema,
  DocumentText,
  IngestStreamEvent,
  IngestReportBody,
  PageContent,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { column, writePdf } from "../rag/PdfWriter.ts"
import { errorOf, filesOf, startServer, testServer, TestServer } from "./TestServer.ts"

const tides = "# Tides\n\nThe tide in the harbour rises four metres at spring tide.\n"
const boats = "# Boats\n\nBoats leave two hours before high water.\n"

const upload = (files: Parameters<typeof filesOf>[0]) => ({ body: filesOf(files) })
const List = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })

layer(testServer(), { excludeTestServices: true })("documents", (it) => {
  it.effect("documents of a folder are added, unchanged, replaced, read and removed", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const folder = { "sea/tides.md": tides, "sea/boats.md": boats }
      assert.deepInclude(yield* json(IngestReportBody, "/documents", upload(folder)), {
        added: 2,
        failed: []
      })
      assert.deepInclude(yield* json(IngestReportBody, "/documents", upload(folder)), {
        added: 0,
        unchanged: 2
      })
      const changed = { ...folder, "sea/boats.md": `${boats}\nNone sails in fog.\n` }
      assert.deepInclude(yield* json(IngestReportBody, "/documents", upload(changed)), {
        replaced: 1,
        unchanged: 1
      })

      const { documents } = yield* json(List, "/documents")
      const id = documents.find(({ path }) => path === "sea/boats.md")?.id
      const read = yield* json(DocumentText, `/documents/${id}`)
      assert.strictEqual(read.text, changed["sea/boats.md"])

      assert.strictEqual((yield* call(`/documents/${id}`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* call(`/documents/${id}`, { method: "DELETE" })).status, 404)
      assert.strictEqual((yield* call(`/documents/${id}`)).status, 404)
      assert.strictEqual((yield* json(List, "/documents")).documents.length, documents.length - 1)
    })
  )

  it.effect("invalid files are reported by name and do not affect the others", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const report = yield* json(
        IngestReportBody,
        "/documents",
        upload({
          "bad/empty.md": "",
          "bad/picture.txt": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1]),
          "bad/broken.pdf": "%PDF-1.7 and no more",
          "bad/program.exe": "MZ",
          "bad/good.md": tides
        })
      )
      assert.strictEqual(report.added, 1)
      assert.deepStrictEqual(report.failed.map(({ path }) => path).toSorted(), [
        "bad/broken.pdf",
        "bad/empty.md",
        "bad/picture.txt",
        "bad/program.exe"
      ])
      for (const { path, reason, message } of report.failed) {
        assert.match(reason, /^[a-z_]+$/)
        assert.include(message, path)
      }
    })
  )

  it.effect("a replaced PDF is parsed anew, including its pages", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      for (const said of ["The ferry leaves at nine.", "The ferry leaves at ten."]) {
        const pdf = Uint8Array.from(writePdf([{ marks: column(72, 700, [said]) }]))
        yield* json(IngestReportBody, "/documents", upload({ "ferry.pdf": pdf }))
        const { documents } = yield* json(List, "/documents")
        const path = `/documents/${documents.find((each) => each.path === "ferry.pdf")?.id}`
        for (let time = 0; time < 2; time++) {
          assert.include((yield* json(DocumentText, path)).text, said)
          assert.include((yield* json(PageContent, `${path}/pages/1`)).text, said)
        }
      }
    })
  )

  it.effect("progress comes as events, with the report last", () =>
    Effect.gen(function* () {
      const { events } = yield* TestServer
      const files = upload({ "a/one.md": tides, "a/two.exe": "MZ" })
      const seen = yield* events(IngestStreamEvent, "/documents", files)
      const documents = seen.filter((event) => event.type === "document")
      assert.deepStrictEqual(documents.map(({ path, status }) => [path, status]).toSorted(), [
        ["a/one.md", "added"],
        ["a/two.exe", "failed"]
      ])
      const last = seen.at(-1)
      assert.isTrue(last?.type === "done" && last.report.added === 1 && last.report.failed.length === 1)
    })
  )

  it.effect("a path cannot leave the library", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      yield* json(
        IngestReportBody,
        "/documents",
        upload({ "../../up/../etc/x.md": tides, "C:\\Users\\me\\notes.md": boats })
      )
      const paths = (yield* json(List, "/documents")).documents.map(({ path }) => path)
      assert.includeMembers(paths, ["up/etc/x.md", "Users/me/notes.md"])
    })
  )

  it.effect("a file above the size limit is 413 alone, and reported among others and in a stream", () =>
    Effect.gen(function* () {
      const { call, events, json } = yield* TestServer
      // Written by hand: building a FormData of this size takes longer than the request.
      const part = (path: string, text: string) =>
        `--many\r\ncontent-disposition: form-data; name="files"; filename="${path}"\r\n\r\n${text}\r\n`
      const headers = { "content-type": "multipart/form-data; boundary=many" }
      const big = part("big.txt", "a".repeat(64 * 1024 * 1024 + 1))
      const sent = (...parts: ReadonlyArray<string>) => ({ body: `${parts.join("")}--many--\r\n`, headers })
      const alone = yield* call("/documents", sent(big))
      assert.strictEqual(alone.status, 413)
      const among = yield* json(IngestReportBody, "/documents", sent(big, part("big/small.md", tides)))
      assert.strictEqual(among.added, 1)
      assert.deepStrictEqual(
        among.failed.map(({ path, reason }) => [path, reason]),
        [["big.txt", "too_large"]]
      )
      const seen = yield* events(IngestStreamEvent, "/documents", sent(big))
      const failed = seen.find(({ type }) => type === "document")
      assert.include(failed, { path: "big.txt", status: "failed" })
    })
  )

  it.effect("an interrupted upload keeps complete files and drops the incomplete one", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const part = (path: string, text: string) =>
        `--cut\r\ncontent-disposition: form-data; name="files"; filename="${path}"\r\n\r\n${text}`
      const response = yield* call("/documents", {
        body: `${part("cut/whole.md", tides)}\r\n${part("cut/half.md", boats.slice(0, 20))}`,
        headers: { "content-type": "multipart/form-data; boundary=cut" }
      })
      assert.strictEqual(response.status, 422)
      const paths = (yield* json(List, "/documents")).documents.map(({ path }) => path)
      assert.include(paths, "cut/whole.md")
      assert.notInclude(paths, "cut/half.md")
    })
  )

  it.effect("an upload without files, or of another type, has its own status", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      assert.strictEqual((yield* call("/documents", { body: new FormData() })).status, 400)
      const form = new FormData()
      form.append("name", "value")
      assert.strictEqual((yield* call("/documents", { body: form })).status, 422)
      assert.strictEqual((yield* call("/documents", { json: {} })).status, 415)
      const noBoundary = { body: "abc", headers: { "content-type": "multipart/form-data" } }
      assert.strictEqual((yield* call("/documents", noBoundary)).status, 422)
    })
  )

  it.effect("an original is returned unchanged, with headers that forbid its scripts", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const html =
        "<!doctype html><title>Tide</title><script>alert(1)</script><p>The tide rises four metres.</p>"
      yield* json(IngestReportBody, "/documents", upload({ 'web/"päge;\r\n.html': html }))
      const { documents } = yield* json(List, "/documents")
      const id = documents.find(({ path }) => path.startsWith("web/"))?.id
      const response = yield* call(`/documents/${id}/file`)
      assert.strictEqual(yield* Effect.promise(() => response.text()), html)
      const header = (name: string) => response.headers.get(name) ?? ""
      assert.match(header("content-security-policy"), /^sandbox; default-src 'none'/)
      assert.strictEqual(header("x-content-type-options"), "nosniff")
      assert.match(header("content-disposition"), /^inline; filename="[^"]*"; filename\*=UTF-8''[\w%.-]+$/)
      assert.strictEqual(response.headers.get("set-cookie"), null)
    })
  )

  it.effect("many concurrent uploads are complete", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { json } = yield* startServer()
        const files = Object.fromEntries(
          Array.from({ length: 300 }, (_, n) => [
            `many/${n}.md`,
            `# Note ${n}\n\nNote number ${n} of three hundred.\n`
          ])
        )
        const report = yield* json(IngestReportBody, "/documents", upload(files))
        assert.deepInclude(report, { added: 300, failed: [] })
        assert.strictEqual((yield* json(ServerStatus, "/status")).documents, 300)
      })
    )
  )

  it.effect("files beyond the user's storage are 413, until documents are removed", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { call, json } = yield* startServer({ env: { SLUICE_STORAGE_MB: "1" } })
        const padded = `${tides}${" ".repeat(600_000)}\n`
        assert.strictEqual((yield* call("/documents", upload({ "a.md": padded }))).status, 200)
        const { storage } = yield* json(ServerStatus, "/status")
        assert.strictEqual(storage?.limit, 1024 * 1024)
        assert.isAbove(storage?.used ?? 0, 600_000)
        for (const collection of ["default", "other"]) {
          const refused = yield* call(`/documents?collection=${collection}`, upload({ "b.md": padded }))
          assert.strictEqual(refused.status, 413)
          const error = yield* errorOf(refused)
          assert.strictEqual(error.code, "storage_full")
          assert.include(error.message, "of your 1 MiB are used")
        }
        const mixed = yield* json(IngestReportBody, "/documents", upload({ "c.md": padded, "d.md": boats }))
        assert.deepInclude(mixed, { added: 1 })
        assert.deepInclude(mixed.failed[0], { path: "c.md", reason: "storage_full" })
        const { documents } = yield* json(List, "/documents")
        const first = documents.find(({ path }) => path === "a.md")
        yield* call(`/documents/${first?.id}`, { method: "DELETE" })
        // Neither has seen the other's file in the library when it begins.
        const both = yield* Effect.all(
          [call("/documents", upload({ "b.md": padded })), call("/documents", upload({ "e.md": padded }))],
          { concurrency: 2 }
        )
        assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [200, 413])
        // Replaced documents count once.
        const again = both[0]?.status === 200 ? "b.md" : "e.md"
        yield* call(`/documents`, upload({ [again]: tides }))
        assert.isBelow((yield* json(ServerStatus, "/status")).storage?.used ?? 0, 100_000)
        assert.strictEqual((yield* call("/documents", upload({ "f.md": padded }))).status, 200)
      })
    )
  )
})

it.effect("files that are removed at once are 413 after three times the user's storage, for a day", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const { call } = yield* startServer({ env: { SLUICE_STORAGE_MB: "1" } })
      const statuses: Array<number> = []
      const path = "/documents?collection=other"
      const store = (name: string) => call(path, upload({ [name]: `${tides}${" ".repeat(900_000)}\n` }))
      for (const name of ["a.md", "b.md", "c.md"]) {
        statuses.push((yield* store(name)).status)
        yield* call("/collections/other", { method: "DELETE" })
      }
      assert.deepStrictEqual(statuses, [200, 200, 200])
      const refused = yield* store("d.md")
      assert.strictEqual(refused.status, 413)
      const { code, message } = yield* errorOf(refused)
      assert.strictEqual(code, "storage_full")
      assert.match(message, /0 MiB of your 1 MiB are used, and removed ones are kept for a day\. Wait/)
      yield* TestClock.adjust("26 hours")
      assert.strictEqual((yield* store("e.md")).status, 200)
    })
  )
)
