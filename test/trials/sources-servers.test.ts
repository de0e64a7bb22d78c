/** Sources of two servers on one PostgreSQL, and a run that a killed server left. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { twoServers } from "../demo-server/SharedServers.ts"
import { added, isIn, pathsOf, source, until } from "../demo-server/SourceCalls.ts"
import { onPostgres } from "../demo-server/Stores.ts"
import { startServer } from "../demo-server/TestServer.ts"
import { testFolder } from "../rag/TestFolder.ts"

onPostgres((_, store) => {
  it.live("an expired run does not block its source", () =>
    Effect.gen(function* () {
      const { docs, write } = yield* testFolder
      yield* write("docs/a.md", "# A\n\nThe first text.")
      const env = yield* store
      const api = yield* startServer({ env: { ...env, SLUICE_SOURCE_FOLDERS: docs } })
      const { id } = yield* added(api, { address: docs, name: "x" })
      const { job } = yield* source(api, isIn("done"))
      const sql = yield* Effect.map(
        Layer.build(Postgres.layer(Redacted.make(env["SLUICE_DATABASE_URL"] ?? ""))),
        Context.get(SqlClient.SqlClient)
      )
      // As a killed server leaves it, once the queue has given it up.
      yield* sql`UPDATE jobs SET status = 'running', updated_at = 0 WHERE id = ${job ?? ""}`
      yield* api.call(`/sources/${id}/run`, { method: "POST" })
      const next = yield* source(api, ({ job: now, state }) => state === "done" && now !== job)
      assert.strictEqual(next.report?.unchanged, 1)
    }).pipe(Effect.scoped)
  )

  it.live("of two servers one runs a due source, and another one may", () =>
    Effect.gen(function* () {
      const { docs, write } = yield* testFolder
      yield* write("docs/a.md", "# A\n\nThe first text.")
      const folders = { SLUICE_SOURCE_FOLDERS: docs }
      const { first, second } = yield* twoServers(store, [{ ...folders, SLUICE_JOBS: "0" }, folders])
      const { id } = yield* added(first, { address: docs, name: "x" })
      // Each look of each server finds it due until one has claimed it.
      yield* Effect.all(
        [
          first.call(`/sources/${id}/run`, { method: "POST" }),
          second.call(`/sources/${id}/run`, { method: "POST" })
        ],
        {
          concurrency: 2
        }
      )
      yield* source(second, isIn("done"))
      const Jobs = Schema.Struct({
        jobs: Schema.Array(Schema.Struct({ kind: Schema.String, status: Schema.String }))
      })
      const { jobs } = yield* until(first.json(Jobs, "/jobs"), ({ jobs }) =>
        jobs.every(({ status }) => status === "completed")
      )
      assert.isAtMost(jobs.length, 2)
      assert.deepStrictEqual(yield* pathsOf(first), ["x/a.md"])
    }).pipe(Effect.scoped)
  )
})
