/** Uploads and rebuilds as jobs: progress, cancel, money, permissions, and several servers. */
import { IngestStreamEvent, Job } from "../../apps/demo-server/src/contract/Documents.ts"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { makeCommitLock } from "../../apps/demo-server/src/libraries/CommitLock.ts"
import * as Sqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { writePdf } from "../rag/PdfWriter.ts"
import { quotaOf } from "./AccountCalls.ts"
import { twoServers } from "./SharedServers.ts"
import { onEachStore, onPostgres } from "./Stores.ts"
import { filesOf, startServer, temporaryFolder, type TestServer } from "./TestServer.ts"

type Server = Pick<TestServer["Service"], "call" | "json">

const ASYNC = { prefer: "respond-async" }
const Documents = Schema.Struct({ total: Schema.Int })
const Answer = Schema.Struct({ answer: Schema.String })

const files = (count: number, prefix = "") =>
  filesOf(
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `${prefix}${i}.md`,
        `# Lock ${i}\n\nThe toll of lock ${i} is ${i + 3} crowns.`
      ])
    )
  )

const submit = Effect.fnUntraced(function* (server: Server, path: string, body?: FormData) {
  const response = yield* server.call(path, { method: "POST", ...(body && { body }), headers: ASYNC })
  assert.strictEqual(response.status, 202)
  const job = Schema.decodeUnknownSync(Job)(yield* Effect.promise(() => response.json()))
  assert.strictEqual(response.headers.get("location"), `/jobs/${job.id}`)
  return job
})

const asSession = (server: Server): Server => ({
  call: (path, options) => server.call(path, { ...options, as: "session" }),
  json: (schema, path, options) => server.json(schema, path, { ...options, as: "session" })
})

/** The job once it has ended. */
const ended = (server: Server, id: string) =>
  Effect.repeat(server.json(Job, `/jobs/${id}`), {
    schedule: Schedule.spaced("50 millis"),
    until: ({ status }) => status !== "queued" && status !== "running"
  }).pipe(Effect.timeout("30 seconds"), Effect.orDie)

onEachStore((store) => {
  it.live("an upload is stored, ingested as a job, paid by its caller, and its files are deleted", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const before = yield* quotaOf(server)
      const { id } = yield* submit(server, "/documents", files(3))
      const job = yield* ended(server, id)
      assert.deepStrictEqual(
        [job.status, job.files, job.done, job.report?.added, job.error],
        ["completed", 3, 3, 3, undefined]
      )
      const { answer } = yield* server.json(Answer, "/qa", {
        json: { question: "What is the toll of lock 2?" }
      })
      assert.include(answer, "5 crowns")
      assert.isBelow(yield* quotaOf(server), before)
      assert.deepStrictEqual(readdirSync(join(server.data, "uploads")), [])
      // Nobody else sees it.
      assert.strictEqual((yield* server.call(`/jobs/${id}`, { as: "none" })).status, 401)
      assert.strictEqual((yield* server.call("/jobs/job_x")).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("a job that waits can be cancelled, and what was sent is deleted", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: { ...(yield* store), SLUICE_JOBS: "0" } })
      const { id } = yield* submit(server, "/documents", files(2))
      assert.strictEqual(readdirSync(join(server.data, "uploads")).length, 2)
      assert.strictEqual((yield* server.json(Job, `/jobs/${id}`, { method: "DELETE" })).status, "cancelled")
      assert.deepStrictEqual(readdirSync(join(server.data, "uploads")), [])
      assert.strictEqual((yield* server.json(Documents, "/documents")).total, 0)
    }).pipe(Effect.scoped)
  )

  it.live("a job of a key that was disabled meanwhile fails, and writes nothing", () =>
    Effect.gen(function* () {
      const env = yield* store
      const data = yield* temporaryFolder
      const id = yield* Effect.gen(function* () {
        const server = yield* startServer({ data, env: { ...env, SLUICE_JOBS: "0" } })
        const job = yield* submit(server, "/documents", files(1))
        const Keys = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.Int })) })
        const [key] = (yield* server.json(Keys, "/api/token/", { as: "token" })).data
        const change = { as: "token", method: "PUT", json: { id: key!.id, status: 0 } } as const
        assert.strictEqual((yield* server.call("/api/token/", change)).status, 200)
        return job.id
      }).pipe(Effect.scoped)
      const server = yield* startServer({ data, env })
      const session = asSession(server)
      const job = yield* ended(session, id)
      assert.strictEqual(job.status, "failed")
      assert.include(job.error?.message, "disabled")
      assert.strictEqual((yield* session.json(Documents, "/documents")).total, 0)
    }).pipe(Effect.scoped)
  )

  it.live("a job whose last worker was killed fails, and what was sent is deleted", () =>
    Effect.gen(function* () {
      const env: Record<string, string> = { ...(yield* store), SLUICE_JOBS: "0" }
      const data = yield* temporaryFolder
      const { id } = yield* Effect.flatMap(startServer({ data, env }), (server) =>
        submit(server, "/documents", files(1))
      ).pipe(Effect.scoped)
      // As the queue marks it when the lock of the last attempt has expired.
      yield* Effect.gen(function* () {
        const url = env["SLUICE_DATABASE_URL"]
        const layer =
          url === undefined ? Sqlite.layer(join(data, "accounts.db")) : Postgres.layer(Redacted.make(url))
        const sql = Context.get(yield* Layer.build(layer), SqlClient.SqlClient)
        yield* sql`UPDATE jobs SET status = 'running' WHERE id = ${id}`
        yield* sql`UPDATE job_queue SET state = 'failed' WHERE id = ${id}`
      }).pipe(Effect.scoped)
      const job = yield* ended(asSession(yield* startServer({ data, env })), id)
      assert.strictEqual(job.status, "failed")
      assert.include(job.error?.message, "begun 10 times")
      yield* Effect.repeat(
        Effect.sync(() => readdirSync(join(data, "uploads")).length),
        { schedule: Schedule.spaced("20 millis"), until: (left) => left === 0 }
      ).pipe(Effect.timeout("10 seconds"))
    }).pipe(Effect.scoped)
  )

  it.live("a rebuild can be a job", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      yield* server.call("/documents", { body: files(4) })
      const job = yield* ended(server, (yield* submit(server, "/rebuild")).id)
      assert.deepStrictEqual([job.kind, job.status, job.files, job.done], ["rebuild", "completed", 4, 4])
      assert.strictEqual((yield* server.json(Documents, "/documents")).total, 4)
    }).pipe(Effect.scoped)
  )
})

onPostgres((_, store) => {
  it.live("a write that is interrupted while it takes its turn does not stop the others", () =>
    Effect.gen(function* () {
      const { SLUICE_DATABASE_URL: url = "" } = yield* store
      const layer = Postgres.layer(Redacted.make(url))
      const sql = Context.get(yield* Layer.build(layer), SqlClient.SqlClient)
      const exclusive = yield* Effect.provideService(makeCommitLock, SqlClient.SqlClient, sql)
      // From before the statement is sent until after its response.
      for (let turns = 0; turns < 40; turns++) {
        const writing = yield* Effect.forkChild(exclusive("quays", Effect.never))
        for (let turn = 0; turn < turns; turn++) yield* Effect.promise(() => setImmediate())
        yield* Fiber.interrupt(writing)
        const locks = yield* sql`SELECT pid FROM pg_locks WHERE locktype = 'advisory'
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
        assert.deepStrictEqual(locks, [], `after ${turns} turns`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("an hour's maintenance of a collection runs at one of two servers, once", () =>
    Effect.gen(function* () {
      const env = yield* store
      const { first, second } = yield* twoServers(Effect.succeed(env))
      const at = "/documents?collection=quays"
      for (const server of [first, second])
        assert.strictEqual((yield* server.call(at, { body: files(1) })).status, 200)
      for (const server of [first, second, first]) yield* server.planMaintenance
      const sql = yield* Effect.map(
        Layer.build(Postgres.layer(Redacted.make(env["SLUICE_DATABASE_URL"] ?? ""))),
        Context.get(SqlClient.SqlClient)
      )
      const states = sql<{ readonly state: string; readonly attempts: number }>`
        SELECT state, attempts FROM job_queue WHERE queue_name = 'maintenance'`
      const rows = yield* Effect.repeat(states, {
        schedule: Schedule.spaced("50 millis"),
        until: (rows) => rows.every(({ state }) => state === "completed")
      }).pipe(Effect.timeout("30 seconds"))
      // `default` and `quays`
      assert.deepStrictEqual(
        rows.map(({ attempts }) => Number(attempts)),
        [1, 1]
      )
    }).pipe(Effect.scoped)
  )

  it.live("one server takes an upload, another ingests it, and both show its progress", () =>
    Effect.gen(function* () {
      const { first, second } = yield* twoServers(store, [{ SLUICE_JOBS: "0" }, {}])
      const { id } = yield* submit(first, "/documents", files(3))
      assert.strictEqual((yield* ended(first, id)).report?.added, 3)
      assert.strictEqual((yield* second.json(Job, `/jobs/${id}`)).status, "completed")
      assert.strictEqual((yield* first.json(Documents, "/documents")).total, 3)
      assert.isFalse(existsSync(join(first.data, "uploads")))
    }).pipe(Effect.scoped)
  )

  it.live("uploads to one collection at two servers at once lose nothing", () =>
    Effect.gen(function* () {
      const { first, second } = yield* twoServers(store)
      const uploads = [first, second].flatMap((server, s) =>
        Array.from({ length: 6 }, (_, n) => server.call("/documents", { body: files(2, `${s}-${n}-`) }))
      )
      for (const { status } of yield* Effect.all(uploads, { concurrency: "unbounded" }))
        assert.strictEqual(status, 200)
      assert.strictEqual((yield* second.json(Documents, "/documents")).total, 24)
    }).pipe(Effect.scoped)
  )
})

it.live("the pages of a scan are told while they are read, by events and by the job", () =>
  Effect.gen(function* () {
    const server = yield* startServer()
    const pages = 2
    const draw = (n: number) => `q 595 0 0 842 0 0 cm /I Do Q 0 g 50 50 ${20 * n + 20} 99 re f`
    const scan = Uint8Array.from(
      writePdf(Array.from({ length: pages }, (_, n) => ({ marks: [], draw: draw(n) })))
    )
    const { id } = yield* submit(server, "/documents", filesOf({ "scan.pdf": scan }))
    const running = yield* Effect.repeat(server.json(Job, `/jobs/${id}`), {
      schedule: Schedule.spaced("50 millis"),
      until: ({ reading, status }) => reading !== undefined || status === "completed"
    })
    assert.deepInclude(running.reading, { path: "scan.pdf", pages })
    const job = yield* ended(server, id)
    assert.isUndefined(job.reading)
    const seen = yield* server.events(IngestStreamEvent, "/documents", {
      method: "POST",
      body: filesOf({ "scan.pdf": scan }),
      headers: { accept: "text/event-stream" }
    })
    assert.deepStrictEqual(
      seen.flatMap((event) => (event.type === "pages" ? [event.done] : [])),
      Array.from({ length: pages + 1 }, (_, n) => n)
    )
  }).pipe(Effect.scoped)
)
