/** Calls for tasks use the circuit of their provider. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { errorOf, startServer } from "./TestServer.ts"
import { json, startUpstream } from "./Upstream.ts"

it.live("failed calls for a task open its provider's circuit", () =>
  Effect.gen(function* () {
    const upstream = yield* startUpstream((response, { method, path }) => {
      if (!path.startsWith("/v1/videos")) return json(response, {}, 404)
      if (method === "POST") return json(response, { id: "v1", status: "in_progress" })
      return json(response, { error: { message: "down" } }, 500)
    })
    const { call } = yield* startServer({ env: upstream.env })
    yield* call("/v1/videos", { json: { model: "v", prompt: "p" } })
    const polled = () =>
      upstream.requests.filter(({ method, path }) => method === "GET" && path === "/v1/videos/v1")
    const statuses = yield* Effect.forEach([1, 2, 3, 4, 5], () =>
      Effect.map(call("/v1/videos/v1"), ({ status }) => status)
    )
    assert.isTrue(statuses.every((status) => status >= 500))
    assert.lengthOf(polled(), 5)
    const response = yield* call("/v1/videos/v1")
    const error = yield* errorOf(response)
    assert.strictEqual(response.status, 503)
    assert.include(error.message, "not called for now")
    assert.isAtLeast(Number(response.headers.get("retry-after")), 1)
    assert.lengthOf(polled(), 5)
  }).pipe(Effect.scoped)
)
