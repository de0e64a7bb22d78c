/** The samples that a server adds at its first start, or not. `trials/starter-questions.test.ts` asks them. */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { startServer } from "./TestServer.ts"
import { json as jsonOf, startUpstream } from "./Upstream.ts"

it.live("starts with an empty library if SLUICE_SAMPLES is false", () =>
  Effect.gen(function* () {
    const { json } = yield* startServer({ samples: true, env: { SLUICE_SAMPLES: "false" } })
    const { documents, questions, state } = yield* json(ServerStatus, "/status")
    assert.deepStrictEqual([documents, [...questions], state], [0, [], "ready"])
  }).pipe(Effect.scoped)
)

it.live("logs why the samples could not be added", () =>
  Effect.gen(function* () {
    const refusing = yield* startUpstream((response) =>
      jsonOf(response, { error: { message: "no such key" } }, 401)
    )
    const { printed } = yield* startServer({ samples: true, env: refusing.env })
    const said = yield* Effect.repeat(
      Effect.sync(() => printed.join("").match(/The samples could not be added: .*/)?.[0] ?? ""),
      { until: (line) => line !== "", schedule: Schedule.spaced("20 millis") }
    )
    assert.match(said, /[^.]\. The server tries again at its next start/)
  }).pipe(Effect.scoped)
)
