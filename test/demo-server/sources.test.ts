/** Sources of the server: schedules, rights, credentials. More of PostgreSQL is in test/trials/sources-servers.test.ts. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { AnswerBody, type IngestReportBody } from "../../apps/demo-server/src/contract/index.ts"
import { writePdf } from "../rag/PdfWriter.ts"
import { testFolder } from "../rag/TestFolder.ts"
import { bearer, MadeKey, MadeUser, quotaOf } from "./AccountCalls.ts"
import { added, isIn, Jobs, pathsOf, source, sourcesOf, until } from "./SourceCalls.ts"
import { onStore } from "./Stores.ts"
import { type CallOptions, errorOf, startServer } from "./TestServer.ts"

onStore((store) => {
  it.live("a folder is read, charged, kept up to date, and removed with its documents", () =>
    Effect.gen(function* () {
      const { docs, remove, write } = yield* testFolder
      yield* write("docs/lock.md", "# Lock\n\nThe lock at Harlow opens at six in the morning.")
      yield* write("docs/sub/ferry.md", "# Ferry\n\nThe ferry leaves at noon.")
      yield* write("docs/broken.pdf", "no PDF")
      const api = yield* startServer({ env: { ...(yield* store), SLUICE_SOURCE_FOLDERS: docs } })
      const quota = yield* quotaOf(api)
      const { id } = yield* added(api, { address: docs, name: "handbook" })
      const first = yield* source(api, isIn("done", "failed"))
      assert.deepStrictEqual(
        [first.state, first.kind, first.report?.added, first.report?.failed.map(({ path }) => path)],
        ["done", "folder", 2, ["handbook/broken.pdf"]]
      )
      assert.isUndefined(first.nextRun)
      assert.isBelow(yield* quotaOf(api), quota)
      yield* write("docs/lock.md", "# Lock\n\nThe lock at Harlow opens at seven in the morning.")
      yield* remove("docs/sub/ferry.md")
      yield* api.call(`/sources/${id}/run`, { method: "POST" })
      const second = yield* source(api, ({ job, state }) => state === "done" && job !== first.job)
      assert.deepStrictEqual(second.changes, [
        { path: "handbook/lock.md", status: "replaced" },
        { path: "handbook/sub/ferry.md", status: "removed" }
      ])
      const { citations } = yield* api.json(AnswerBody, "/qa", {
        json: { question: "When does the lock at Harlow open?" }
      })
      assert.include(citations[0]?.quote, "at seven")
      assert.strictEqual((yield* api.call(`/sources/${id}`, { method: "DELETE" })).status, 204)
      assert.deepStrictEqual([yield* sourcesOf(api), yield* pathsOf(api)], [[], []])
    }).pipe(Effect.scoped)
  )

  it.live("a disabled key stops its source with the reason, and an enabled one starts it again", () =>
    Effect.gen(function* () {
      const { docs, write } = yield* testFolder
      yield* write("docs/a.md", "# A\n\nThe first text.")
      const api = yield* startServer({ env: { ...(yield* store), SLUICE_SOURCE_FOLDERS: docs } })
      const key = (yield* api.json(MadeKey, "/api/token/", {
        as: "token",
        json: { name: "syncing", expired_time: -1, remain_quota: 1_000_000, subnet: "" }
      })).data
      const change = (json: object) =>
        api.call("/api/token/", { as: "token", method: "PUT", json: { id: key.id, ...json } })
      const { id } = yield* added(api, { address: docs, name: "x" }, bearer(key.key))
      const session = { as: "session" } as const
      yield* source(api, isIn("done"), session)
      // A key sees what it has added.
      assert.deepStrictEqual(yield* sourcesOf(api), [])
      assert.strictEqual((yield* api.call(`/sources/${id}/run`, { method: "POST" })).status, 404)
      for (const [fault, mend] of [
        [{ documents: "read" }, { documents: "write" }],
        [{ status: 0 }, { status: 1 }]
      ] as const) {
        yield* change(fault)
        yield* write(`docs/b${Object.keys(fault)[0]}.md`, "# B\n\nAnother text.")
        const before = yield* pathsOf(api)
        yield* api.call(`/sources/${id}/run`, { ...session, method: "POST" })
        const { message, nextRun } = yield* source(api, isIn("stopped"), session)
        assert.match(message ?? "", /may not use the documents|may only read|disabled/)
        assert.isUndefined(nextRun)
        assert.deepStrictEqual(yield* pathsOf(api), before)
        yield* change(mend)
        yield* api.call(`/sources/${id}`, { ...session, method: "PUT", json: { paused: false } })
        yield* api.call(`/sources/${id}/run`, { ...session, method: "POST" })
        yield* until(pathsOf(api), ({ length }) => length === before.length + 1)
      }
      yield* api.call(`/api/token/${key.id}`, { as: "token", method: "DELETE" })
      yield* api.call(`/sources/${id}/run`, { ...session, method: "POST" })
      const { message } = yield* source(api, isIn("stopped"), session)
      assert.include(message, "was removed")
    }).pipe(Effect.scoped)
  )

  it.live("programs push records and remove them by their ids", () =>
    Effect.gen(function* () {
      const api = yield* startServer({ env: yield* store })
      const push = (json: object) =>
        Effect.flatMap(api.call("/records?collection=tickets", { json }), (response) =>
          Effect.promise(() => response.json() as Promise<IngestReportBody>)
        )
      const records = [
        {
          id: "t/1",
          title: "Lock",
          text: "The lock at Harlow opens at six.",
          url: "https://example.com/t/1",
          metadata: { team: "locks" }
        },
        { id: "t/2", passages: [{ text: "The ferry leaves at noon.", headings: ["Ferry"] }] }
      ]
      assert.deepInclude(yield* push({ records }), { added: 2, failed: [] })
      const { citations } = yield* api.json(AnswerBody, "/qa", {
        json: { question: "When does the lock at Harlow open?", collection: "tickets" }
      })
      assert.deepInclude(citations[0], { document: "t/1", url: "https://example.com/t/1" })
      const report = yield* push({ records: [{ id: "t/3" }], removed: ["t/2"] })
      assert.deepInclude(report, { removed: 1 })
      assert.strictEqual(report.failed[0]?.path, "t/3")
      assert.deepStrictEqual(yield* pathsOf(api, {}, "?collection=tickets"), ["t/1"])
    }).pipe(Effect.scoped)
  )
})

it.live("a schedule plans the next run, a pause takes it away, and a watched folder follows a save", () =>
  Effect.gen(function* () {
    const { docs, write } = yield* testFolder
    yield* write("docs/a.md", "# A\n\nThe first text.")
    const api = yield* startServer({ env: { SLUICE_SOURCE_FOLDERS: docs } })
    const { id } = yield* added(api, { address: docs, name: "x", schedule: { every: 60 } })
    const first = yield* source(api, isIn("done"))
    assert.strictEqual(first.nextRun! - first.lastRun! - 3_600_000 < 5_000, true)
    // The watcher is ready some time after it began: the file is written until it is seen.
    const saved = yield* until(
      Effect.andThen(write("docs/a.md", "# A\n\nThe second text."), sourcesOf(api)),
      ([one]) => one?.changes[0]?.status === "replaced"
    )
    assert.strictEqual(saved[0]?.job, first.job)
    // What a change could not read is shown until it can be read, and one job of the changes is kept.
    yield* write("docs/b.pdf", "no PDF")
    const { failed } = yield* source(api, ({ failed }) => failed.length > 0)
    assert.deepStrictEqual(
      failed.map(({ path }) => path),
      ["x/b.pdf"]
    )
    yield* write("docs/b.pdf", writePdf([{ marks: [{ text: "The bell rings at dusk.", x: 60, y: 700 }] }]))
    yield* source(api, ({ failed }) => failed.length === 0)
    yield* until(api.json(Jobs, "/jobs"), ({ jobs }) => jobs.length === 2)
    const put = (json: object) => api.call(`/sources/${id}`, { method: "PUT", json })
    yield* put({ schedule: { cron: "30 6 * * 1-5", zone: "Europe/Paris" } })
    const planned = new Date((yield* source(api, isIn("done"))).nextRun!)
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Paris", timeStyle: "short" })
    assert.strictEqual(clock.format(planned), "06:30")
    yield* put({ paused: true })
    const paused = yield* source(api, isIn("paused"))
    assert.deepStrictEqual(
      [paused.nextRun, paused.schedule],
      [undefined, { cron: "30 6 * * 1-5", zone: "Europe/Paris" }]
    )
    assert.strictEqual((yield* put({ schedule: { cron: "* * * * * *" } })).status, 400)
    assert.strictEqual((yield* put({ schedule: { cron: "1 1 31 2 *" } })).status, 400)
    assert.strictEqual((yield* put({ schedule: { cron: "1 1 * * *", zone: "Nowhere" } })).status, 400)
  }).pipe(Effect.scoped)
)

it.live("what may not be read is refused with advice, and credentials are never returned", () =>
  Effect.gen(function* () {
    const { docs, folder, write } = yield* testFolder
    yield* write("docs/a.md", "# A\n\nA text.")
    const api = yield* startServer({
      env: { SLUICE_SOURCE_FOLDERS: docs, SLUICE_SOURCE_CREDENTIAL_SHOP: "from:operator" }
    })
    for (const address of [
      folder,
      "/etc",
      "http://127.0.0.1:9/",
      "http://127.0.0.1:9/x.git",
      "s3://b/?endpoint=http://127.0.0.1:9"
    ]) {
      const { id } = yield* added(api, { address, name: "x" })
      const { message } = yield* source(api, isIn("failed"))
      assert.match(message ?? "", /may not be read|not publicly reachable|credential/)
      yield* api.call(`/sources/${id}`, { method: "DELETE" })
    }
    const refusal = Effect.fnUntraced(function* (json: object, options: CallOptions = {}) {
      const response = yield* api.call("/sources", { ...options, json })
      return [response.status, (yield* errorOf(response)).code]
    })
    const user = (yield* api.json(MadeUser, "/api/user", {
      as: "token",
      json: { username: "ann", quota: 1_000_000 }
    })).data
    const key = (yield* api.json(MadeKey, "/api/token/", {
      ...bearer(user.access_token),
      json: { name: "k", expired_time: -1, remain_quota: 1_000, subnet: "" }
    })).data
    const asAnn = bearer(key.key)
    const site = { address: "https://example.com/", name: "site" }
    assert.deepStrictEqual(yield* refusal({ address: docs }, asAnn), [403, "administrator_needed"])
    const variable = "SLUICE_SOURCE_CREDENTIAL_SHOP"
    assert.deepStrictEqual(yield* refusal({ ...site, credentialVariable: variable }, asAnn), [
      403,
      "administrator_needed"
    ])
    const others = { ...site, credentialVariable: "SLUICE_ADMIN_TOKEN" }
    assert.strictEqual((yield* refusal(others))[0], 400)
    assert.deepStrictEqual(yield* refusal({ address: "https://a:b@example.com/" }), [400, "invalid_value"])
    assert.deepStrictEqual(yield* refusal({ address: docs, kind: "ftp" }), [400, "invalid_value"])
    yield* added(api, { ...site, credential: "user:secret-9" })
    assert.deepStrictEqual(yield* refusal(site), [409, "already_exists"])
    const body = yield* Effect.flatMap(api.call("/sources"), (response) =>
      Effect.promise(() => response.text())
    )
    assert.include(body, '"hasCredential":true')
    assert.notInclude(body, "secret-9")
    const kept = join(api.data, "source-credentials")
    const [file = ""] = readdirSync(kept)
    assert.strictEqual(readFileSync(join(kept, file), "utf8"), "user:secret-9")
    assert.strictEqual(statSync(join(kept, file)).mode & 0o777, 0o600)
    const [one] = yield* sourcesOf(api)
    // Another user knows the id, and nothing more.
    for (const method of ["PUT", "DELETE"])
      assert.strictEqual(
        (yield* api.call(`/sources/${one!.id}`, { ...asAnn, method, ...(method === "PUT" && { json: {} }) }))
          .status,
        404
      )
    yield* api.call(`/sources/${one!.id}`, { method: "DELETE" })
    assert.deepStrictEqual(readdirSync(kept), [])
    assert.notInclude(api.printed.join("\n"), "secret-9")
  }).pipe(Effect.scoped)
)

it.live("a source that is removed while it runs leaves no document", () =>
  Effect.gen(function* () {
    const { docs, write } = yield* testFolder
    for (let n = 0; n < 800; n++) yield* write(`docs/${n}.txt`, `The toll of berth ${n} is ${n + 3} crowns.`)
    const api = yield* startServer({ env: { SLUICE_SOURCE_FOLDERS: docs } })
    const { id } = yield* added(api, { address: docs, name: "many" })
    yield* until(pathsOf(api), ({ length }) => length > 0)
    assert.strictEqual((yield* api.call(`/sources/${id}`, { method: "DELETE" })).status, 204)
    assert.deepStrictEqual([yield* pathsOf(api), yield* sourcesOf(api)], [[], []])
  }).pipe(Effect.scoped)
)
