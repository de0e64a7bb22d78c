/** Two servers with one PostgreSQL and one object store: one makes the video of another that has ended. */
import { Video } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { outOfBalance } from "../demo-server/Equation.ts"
import { sharedStore } from "../demo-server/SharedServers.ts"
import { onPostgres } from "../demo-server/Stores.ts"
import { startServer } from "../demo-server/TestServer.ts"
import { png, RED } from "../laws/Pictures.ts"

onPostgres((_, store) => {
  it.live("a video of a server that has ended is made, charged once and served by another", () =>
    Effect.gen(function* () {
      const env = yield* sharedStore(store)
      const picture = { input_reference: makeDataUri("image/png", png(RED)), size: "640x360" }
      const long = { model: "sluice-video-from-image", prompt: "a barge", seconds: "2", ...picture }
      const running = yield* Scope.make()
      const server = yield* Scope.provide(startServer({ env }), running)
      const authorization = `Bearer ${server.secrets.apiKey}`
      const videos = yield* Effect.forEach([1, 2], () => server.json(Video, "/v1/videos", { json: long }))
      yield* Scope.close(running, Exit.void)
      const second = yield* startServer({ env })
      for (const { id } of videos) {
        const at = `/v1/videos/${id}`
        const options = { as: "none", headers: { authorization } } as const
        const { status } = yield* Effect.repeat(second.json(Video, at, options), {
          schedule: Schedule.spaced("100 millis"),
          until: ({ status }) => status === "completed" || status === "failed"
        }).pipe(Effect.timeout("60 seconds"))
        assert.strictEqual(status, "completed")
        assert.strictEqual((yield* second.call(`${at}/content`, options)).status, 200)
      }
      const sql = Context.get(
        yield* Layer.build(Postgres.layer(Redacted.make(env["SLUICE_DATABASE_URL"] ?? ""))),
        SqlClient.SqlClient
      )
      const open = yield* sql`SELECT id FROM charges WHERE operation = 'videos' AND state <> 'settled'`
      assert.deepStrictEqual(open, [])
      assert.deepStrictEqual(yield* Effect.provideService(outOfBalance, SqlClient.SqlClient, sql), [])
    }).pipe(Effect.scoped)
  )
})
