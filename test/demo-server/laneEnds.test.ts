/** Calls of the lane that end before their answer, and the same calls on the other way. */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Schedule } from "effect"
import { answer, chat, grown, LANED, metricsOf, OTHER_WAY, startInFront } from "./LaneServer.ts"
import { post } from "./PaidServer.ts"
import { json } from "./Upstream.ts"

it.live("a caller who goes away pays for the question, once, and the upstream is told", () =>
  Effect.gen(function* () {
    const { behaviour, charges, server } = yield* startInFront
    // Of a provider that has answered once.
    yield* post(server, "/v1/chat/completions", chat)
    let left = 0
    const before = yield* metricsOf(server)
    for (const headers of [{}, OTHER_WAY]) {
      const had = left
      const asked = yield* Deferred.make<void>()
      behaviour.now = (response) => {
        response.once("close", () => left++)
        Deferred.doneUnsafe(asked, Effect.void)
      }
      yield* Effect.race(server.call("/v1/chat/completions", { json: chat, headers }), Deferred.await(asked))
      yield* Effect.repeat(
        Effect.sync(() => left),
        { until: (now) => now > had, schedule: Schedule.spaced("5 millis") }
      )
      assert.strictEqual(left, had + 1)
    }
    const counted = grown(before, yield* metricsOf(server))
    assert.deepStrictEqual(
      Object.entries(counted)
        .filter(([name]) => /^sluice_client_calls.*interrupted/.test(name))
        .map(([, count]) => count),
      [2]
    )
    const [, lane, other, ...more] = yield* charges
    assert.isEmpty(more)
    assert.strictEqual(lane?.["state"], "settled")
    assert.strictEqual(lane?.["cost"], 11)
    assert.deepStrictEqual(lane, other)
    assert.lengthOf(
      server.printed.filter((line) => line.includes("status=499")),
      2
    )
  }).pipe(Effect.scoped)
)

it.live("an upstream that does not answer in time is left, told of and not paid for", () =>
  Effect.gen(function* () {
    const { behaviour, charges, server } = yield* startInFront
    let left = 0
    const seen: Array<object> = []
    for (const headers of [{}, OTHER_WAY]) {
      behaviour.now = (response) => json(response, answer(undefined))
      yield* post(server, "/v1/chat/completions", chat)
      behaviour.now = (response) => void response.once("close", () => left++)
      const before = yield* metricsOf(server)
      const late = { ...chat, model: "late" }
      const { status, text } = yield* post(server, "/v1/chat/completions", late, { headers })
      const { [LANED]: _, ...counted } = grown(before, yield* metricsOf(server))
      seen.push({ status, text, counted })
    }
    assert.deepStrictEqual(seen[0], seen[1])
    assert.include(JSON.stringify(seen[0]), "TimedOut")
    assert.strictEqual(left, 2)
    const states = (yield* charges).map(({ state }) => state)
    assert.deepStrictEqual(states, ["settled", "refunded", "settled", "refunded"])
  }).pipe(Effect.scoped)
)
