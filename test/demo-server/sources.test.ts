/** Sources of the server: schedules, rights, credentials. On PostgreSQL: test/trials/sources-servers.test.ts. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { writePdf } from "../rag/PdfWriter.ts"
import { testFolder } from "../rag/TestFolder.ts"
import { bearer, MadeKey, MadeUser } from "./AccountCalls.ts"
import { added, isIn, Jobs, pathsOf, source, sourcesOf, sourcesOn, until } from "./SourceCalls.ts"
import { onSqlite } from "./Stores.ts"
import { type CallOptions, errorOf, startServer } from "./TestServer.ts"

onSqlite(sourcesOn)

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
    const { jobs } = yield* api.json(Jobs, "/jobs")
    assert.strictEqual(jobs.length, 2)
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
