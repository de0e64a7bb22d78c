/** The checker accuses no gateway that is right: what cannot be said of it is left out, with how to say it. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey } from "@sluice/core"
import { Effect } from "effect"
import { brokenGateways } from "../conformance/brokenGateways.ts"
import { check, everything, having } from "../conformance/Checking.ts"
import { MODELS, refuse, referenceGateway } from "../conformance/ReferenceGateway.ts"
import { serveGateway } from "../conformance/serveGateway.ts"
import { rightGateways } from "../conformance/rightGateways.ts"

describe("a correct gateway", () => {
  it.live.each(rightGateways)("passes every rule: it $does", ({ gateway, models, skips }) =>
    Effect.gen(function* () {
      const { url } = yield* serveGateway(gateway)
      const report = yield* check(url, { ...everything, models })
      assert.deepStrictEqual(having(report, "fails"), [])
      const left = new Map<string, string>(
        report.calls.flatMap(({ call, rules }) =>
          rules.map(({ detail = "", rule, verdict }) => [`${call} ${rule}`, `${verdict}: ${detail}`] as const)
        )
      )
      for (const [rule, says] of Object.entries(skips)) {
        const found = left.get(rule) ?? ""
        assert.match(found, /^skipped: /)
        assert.match(found.slice("skipped: ".length), says)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a refused key", () => {
  it.live("fails the check without a report", () =>
    Effect.gen(function* () {
      const { url } = yield* serveGateway()
      const error = yield* Effect.flip(check(url, { apiKey: apiKey("sk-of-another-gateway") }))
      assert.strictEqual(error.reason._tag, "Unauthorized")
      assert.include(error.message, "refuses the API key")
    }).pipe(Effect.scoped)
  )
})

describe("a guessed model", () => {
  const refusing = (status: number) => ({
    ...referenceGateway,
    calls: { ...referenceGateway.calls, "POST /v1/embeddings": () => refuse(status, "No") }
  })
  const answers = "POST /v1/embeddings answers"

  it.live("does not excuse a 5xx or a refused credential; a named model excuses nothing", () =>
    Effect.gen(function* () {
      for (const status of [401, 500]) {
        const { url } = yield* serveGateway(refusing(status))
        assert.include(having(yield* check(url, {}), "fails"), answers)
      }
      const { url } = yield* serveGateway(refusing(400))
      assert.include(having(yield* check(url, {}), "skipped"), answers)
      assert.include(having(yield* check(url, { models: MODELS }), "fails"), answers)
    }).pipe(Effect.scoped)
  )

  it.live("does not excuse a wrong response", () =>
    Effect.gen(function* () {
      const worded = brokenGateways.find(({ breaks }) => breaks === "POST /v1/embeddings order")
      const { url } = yield* serveGateway(worded?.gateway)
      assert.deepStrictEqual(having(yield* check(url, {}), "fails"), ["POST /v1/embeddings order"])
    }).pipe(Effect.scoped)
  )
})
