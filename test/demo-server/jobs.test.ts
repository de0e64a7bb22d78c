/** Uploads and rebuilds as jobs. More of PostgreSQL is in test/trials/jobs-servers.test.ts. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { Job } from "../../apps/demo-server/src/contract/Documents.ts"
import * as Sqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { quotaOf } from "./AccountCalls.ts"
import { asSession, Documents, ended, files, submit } from "./JobCalls.ts"
import { twoServers } from "./SharedServers.ts"
import { onPostgres, onStore } from "./Stores.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

const Answer = Schema.Struct({ answer: Schema.String })

/** Changes the tables of a server that has stopped. */
const changeJobs = <A, E>(
  data: string,
  { SLUICE_DATABASE_URL: url }: Readonly<Record<string, string>>,
  change: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const layer =
      url === undefined ? Sqlite.layer(join(data, "accounts.db")) : Postgres.layer(Redacted.make(url))
    yield* change(Context.get(yield* Layer.build(layer), SqlClient.SqlClient))
  }).pipe(Effect.scoped)

onStore((store) => {
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
      yield* changeJobs(data, env, (sql) =>
        Effect.all([
          sql`UPDATE jobs SET status = 'running' WHERE id = ${id}`,
          sql`UPDATE job_queue SET state = 'failed' WHERE id = ${id}`
        ])
      )
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

  it.live("a rebuild that continues after a stop does not count its files twice", () =>
    Effect.gen(function* () {
      const env = { ...(yield* store), SLUICE_JOBS: "0" }
      const data = yield* temporaryFolder
      const { id } = yield* Effect.gen(function* () {
        const server = yield* startServer({ data, env })
        yield* server.call("/documents", { body: files(4) })
        return yield* submit(server, "/rebuild")
      }).pipe(Effect.scoped)
      // As a server leaves it that is stopped in the middle.
      const progress = JSON.stringify({ files: 4, done: 2, passages: 2 })
      yield* changeJobs(
        data,
        env,
        (sql) => sql`UPDATE jobs SET status = 'running', progress = ${progress} WHERE id = ${id}`
      )
      const server = yield* startServer({ data, env: { ...env, SLUICE_JOBS: "1" } })
      const job = yield* ended(asSession(server), id)
      assert.deepStrictEqual([job.status, job.files, job.done], ["completed", 4, 4])
    }).pipe(Effect.scoped)
  )
})

onPostgres((_, store) => {
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
