/** Jobs on PostgreSQL, the turns of several servers, and the pages of a scan. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { setImmediate } from "node:timers/promises"
import { IngestStreamEvent, Job } from "../../apps/demo-server/src/contract/Documents.ts"
import { makeCommitLock } from "../../apps/demo-server/src/libraries/CommitLock.ts"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { ended, files, submit } from "../demo-server/JobCalls.ts"
import { twoServers } from "../demo-server/SharedServers.ts"
import { onPostgres } from "../demo-server/Stores.ts"
import { filesOf, startServer } from "../demo-server/TestServer.ts"
import { writePdf } from "../rag/PdfWriter.ts"

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
})

it.live("events and the job report the pages of a scan while they are read", () =>
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
