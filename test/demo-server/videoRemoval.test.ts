/** Deleting a video at a gateway that cannot delete videos. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startPaidServer, codeOf, costs, post } from "./PaidServer.ts"
import { json } from "./Upstream.ts"

const film = { model: "animator", prompt: "a lock", seconds: "8" }

describe("a gateway that cannot delete videos", () => {
  for (const refusal of [400, 404, 405, 409, 501]) {
    it.live(`with ${refusal}: a running task is not deleted, an ended one is`, () =>
      Effect.gen(function* () {
        let status = "in_progress"
        const { server } = yield* startPaidServer((response, { method }) =>
          method === "DELETE"
            ? json(response, { error: { message: "Invalid URL (DELETE /v1/videos)" } }, refusal)
            : json(response, { id: "film", status })
        )
        const ask = (method: string) => post(server, "/v1/videos/film", undefined, { method })
        yield* costs(server, post(server, "/v1/videos", film), 80)
        const kept = yield* costs(server, ask("DELETE"), 0)
        assert.deepStrictEqual([kept.status, codeOf(kept)], [409, "video_not_removable"])
        assert.strictEqual((yield* ask("GET")).status, 200)
        status = "completed"
        yield* ask("GET")
        assert.strictEqual((yield* costs(server, ask("DELETE"), 0)).status, 200)
        assert.strictEqual((yield* ask("GET")).status, 404)
      }).pipe(Effect.scoped)
    )
  }
})
