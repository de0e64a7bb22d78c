/** Uploads and rebuilds as jobs. More on PostgreSQL is in test/trials/jobs-servers.test.ts. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Job } from "../../apps/demo-server/src/contract/Documents.ts"
import { Documents, ended, files, jobsOn, submit } from "./JobCalls.ts"
import { twoServers } from "./SharedServers.ts"
import { onPostgres, onSqlite } from "./Stores.ts"

onSqlite(jobsOn)

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
