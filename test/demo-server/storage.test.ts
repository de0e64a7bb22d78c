/** What a user may send and store: parts, passages of parsed files, and the day's limit after a restart. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_UPLOAD_PARTS } from "../../apps/demo-server/src/contract/Documents.ts"
import { IngestReportBody, ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { ended, submit } from "./JobCalls.ts"
import { errorOf, filesOf, startServer, temporaryFolder } from "./TestServer.ts"

const env = { SLUICE_STORAGE_MB: "1" }
const upload = (files: Parameters<typeof filesOf>[0]) => ({ body: filesOf(files) })

/** A short file with 80 passages, which take 8 KiB each. */
const sections = (name: string) =>
  Array.from({ length: 80 }, (_, n) => `# ${name} ${n}\n\nHarbour ${n} has a pier of its own.\n`).join("\n")

it.live("a file whose passages exceed the storage fails, of an upload, a job and records", () =>
  Effect.gen(function* () {
    const server = yield* startServer({ env })
    const { call, json } = server
    const two = upload({ "a.md": sections("a"), "b.md": sections("b") })
    const report = yield* json(IngestReportBody, "/documents", two)
    assert.strictEqual(report.added, 1)
    assert.strictEqual(report.failed[0]?.reason, "too_large")
    assert.match(report.failed[0]?.message ?? "", /^[ab]\.md does not fit: \d MiB of your 1 MiB are used\./)
    assert.strictEqual((yield* call("/documents", upload({ "c.md": sections("c") }))).status, 413)

    const { id } = yield* submit(server, "/documents", filesOf({ "d.md": sections("d") }))
    assert.strictEqual((yield* ended(server, id)).report?.failed[0]?.reason, "too_large")

    const passages = Array.from({ length: 80 }, (_, n) => ({ text: `Pier ${n}` }))
    const pushed = yield* json(IngestReportBody, "/records", { json: { records: [{ id: "e", passages }] } })
    assert.strictEqual(pushed.failed[0]?.reason, "too_large")

    assert.isBelow((yield* json(ServerStatus, "/status")).storage?.used ?? Infinity, 1024 * 1024)
    // What replaces a document counts with what it adds.
    const stored = report.failed[0]?.path === "a.md" ? "b.md" : "a.md"
    const replaced = yield* json(IngestReportBody, "/documents", upload({ [stored]: sections("new") }))
    assert.deepInclude(replaced, { replaced: 1, failed: [] })
  }).pipe(Effect.scoped)
)

it.live("what was stored today counts after a restart too", () =>
  Effect.gen(function* () {
    const data = yield* temporaryFolder
    const storeAndRemove = (name: string) =>
      Effect.gen(function* () {
        const { call } = yield* startServer({ data, env })
        const file = {
          ...upload({ [name]: `# Tides\n\nThe tide rises.${" ".repeat(900_000)}\n` }),
          as: "session" as const
        }
        const { status } = yield* call("/documents?collection=other", file)
        yield* call("/collections/other", { method: "DELETE", as: "session" })
        return status
      }).pipe(Effect.scoped)
    const statuses = yield* Effect.forEach(["a.md", "b.md", "c.md", "d.md"], storeAndRemove)
    assert.deepStrictEqual(statuses, [200, 200, 200, 413])
  }).pipe(Effect.scoped)
)

it.live(`an upload of more than ${MAX_UPLOAD_PARTS} files and fields is 413`, () =>
  Effect.gen(function* () {
    const { call } = yield* startServer()
    const body = new FormData()
    for (let n = 0; n < MAX_UPLOAD_PARTS; n++) body.append("metadata", "{}")
    body.append("files", new Blob(["The tide rises."]), "a.md")
    const refused = yield* call("/documents", { body })
    assert.strictEqual(refused.status, 413)
    assert.include((yield* errorOf(refused)).message, `more than ${MAX_UPLOAD_PARTS} files and fields`)
  }).pipe(Effect.scoped)
)

it.live("a job lists the first hundred files that failed", () =>
  Effect.gen(function* () {
    const server = yield* startServer()
    const names = Array.from({ length: 150 }, (_, n) => [`${n}.unknown`, "-"])
    const { id } = yield* submit(server, "/documents", filesOf(Object.fromEntries(names)))
    const { failed = [], unlisted } = (yield* ended(server, id)).report ?? {}
    assert.strictEqual(failed.length, 100)
    assert.strictEqual(unlisted, 50)
  }).pipe(Effect.scoped)
)
