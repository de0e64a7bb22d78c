/** An existing library with another embedding model: the server starts, reports it, and rebuilds on request. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder } from "@sluice/core"
import { ErrorBody } from "@sluice/core/contract"
import * as Embedded from "@sluice/embedded"
import { Effect, Layer } from "effect"
import {
  AnswerBody,
  IngestStreamEvent,
  IngestReportBody,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { filesOf, startServer, temporaryFolder } from "./TestServer.ts"

/** The same model under another name, which the library treats as another model. */
const renamed = Layer.effect(
  Embedder,
  Effect.map(Embedder, (embedder) =>
    Embedder.of({ ...embedder, model: { ...embedder.model, id: "another-embedder" } })
  )
).pipe(Layer.provideMerge(Embedded.layer))

const question = "When does the last ferry to the island leave?"

describe("another embedding model", () => {
  it.live("is a 409 until a rebuild, and no document is lost", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { json } = yield* startServer({ data })
          const body = filesOf({
            "ferry.md": "# Ferry\n\nThe last ferry to the island leaves at nine in the evening.\n"
          })
          assert.strictEqual((yield* json(IngestReportBody, "/documents", { body })).added, 1)
        })
      )
      const server = yield* startServer({ data, models: renamed })
      const before = yield* server.json(ServerStatus, "/status")
      assert.strictEqual(before.state, "rebuild-needed")
      assert.include(before.message, "another-embedder")
      assert.include(before.message, "`POST /rebuild`")
      // Only the library is unavailable, not the server.
      const ready = yield* server.call("/readyz", { as: "none" })
      assert.strictEqual(ready.status, 200)
      assert.include(yield* Effect.promise(() => ready.text()), "need `POST /rebuild`")
      for (const accept of ["application/json", "text/event-stream"]) {
        const refused = yield* server.call("/qa", { as: "session", json: { question }, headers: { accept } })
        assert.strictEqual(refused.status, 409)
      }
      const { error } = yield* server.json(ErrorBody, "/qa", { as: "session", json: { question } })
      assert.strictEqual(error.code, "manifest_mismatch")
      assert.include(error.message, "`POST /rebuild`")

      const events = yield* server.events(IngestStreamEvent, "/rebuild", { as: "session", method: "POST" })
      assert.strictEqual(events.at(-1)?.type, "done")
      const after = yield* server.json(ServerStatus, "/status")
      assert.strictEqual(after.state, "ready")
      const answer = yield* server.json(AnswerBody, "/qa", { as: "session", json: { question } })
      assert.include(answer.answer, "nine in the evening")
    }).pipe(Effect.scoped)
  )
})
