/** Rate limits of a key and of a user's keys, in addition to the server's. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { insufficientQuota, rateLimited } from "../../apps/demo-server/src/billing/BillingFailures.ts"
import { limitsOf } from "../../apps/demo-server/src/accounts/KeyLimits.ts"
import { bearer, MadeUser } from "./AccountCalls.ts"
import { errorOf, startServer } from "./TestServer.ts"

const limited = { requests_per_minute: Schema.Int, tokens_per_minute: Schema.Int }
const Key = Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String, ...limited }) })
const User = Schema.Struct({ data: Schema.Struct({ id: Schema.String, ...limited }) })

const fields = { name: "k", expired_time: -1, remain_quota: 50_000, subnet: "" }
const embedding = { model: "sluice-lexical-1024", input: "a lock" }

it("a refusal counts one thing in the singular", () => {
  assert.match(insufficientQuota("user", 1).message, /this call reserves 1 unit\. /)
  const state = { admitted: false, requests: 1, tokens: 1, resetMs: 1, requestsPerMinute: undefined }
  assert.match(rateLimited({ ...state, tokensPerMinute: 2 }, 5).message, /2 tokens per minute\. 1 is left/)
  const once = { ...state, requestsPerMinute: 1, tokensPerMinute: undefined }
  assert.match(rateLimited(once, 5).message, /to 1 request per minute\./)
})

describe("the effective limits", () => {
  const none = {
    requests_per_minute: null,
    tokens_per_minute: null,
    user_requests_per_minute: null,
    user_tokens_per_minute: null
  }
  const server = { requestsPerMinute: 10, tokensPerMinute: undefined }
  for (const [what, said, expected] of [
    ["the server's, where nothing is said", {}, [10, undefined]],
    ["the key's, where it is lower", { requests_per_minute: 3, tokens_per_minute: 5 }, [3, 5]],
    ["not the key's, where it is higher", { requests_per_minute: 30 }, [10, undefined]],
    ["the user's in place of the server's", { user_requests_per_minute: 20 }, [20, undefined]],
    [
      "the lower of the key's and the user's",
      { user_requests_per_minute: 20, requests_per_minute: 15 },
      [15, undefined]
    ]
  ] as const) {
    it(`are ${what}`, () => {
      const { requestsPerMinute, tokensPerMinute } = limitsOf({ ...none, ...said }, server)
      assert.deepStrictEqual([requestsPerMinute, tokensPerMinute], [...expected])
    })
  }
  it("are the server's for calls without a key", () =>
    assert.strictEqual(limitsOf(undefined, server), server))
})

it.live("can be set by the key's user and by administrators, and are enforced", () =>
  Effect.gen(function* () {
    const { call, json } = yield* startServer({ env: { SLUICE_REQUESTS_PER_MINUTE: "100" } })
    const told = (key: string) =>
      Effect.map(call("/v1/embeddings", { ...bearer(key), json: embedding }), ({ headers, status }) => [
        status,
        headers.get("x-ratelimit-limit-requests"),
        headers.get("x-ratelimit-limit-tokens")
      ])
    const own = { requests_per_minute: 50, tokens_per_minute: 5 }
    const { data: made } = yield* json(Key, "/api/token/", { as: "token", json: { ...fields, ...own } })
    assert.deepInclude(made, own)
    assert.deepStrictEqual(yield* told(made.key), [200, "50", "5"])
    // Six characters may be six tokens. At most one minute ends in between.
    const more = yield* Effect.forEach([1, 2, 3], () => told(made.key))
    assert.include(
      more.map(([status]) => status),
      429
    )

    const refused = yield* call("/v1/embeddings", { ...bearer(made.key), json: embedding }).pipe(
      Effect.repeat({ until: ({ status }) => status === 429 })
    )
    const error = yield* errorOf(refused)
    const left = refused.headers.get("x-ratelimit-remaining-tokens")
    assert.include(
      error.message,
      `limited to 5 tokens per minute. ${left} are left and this call reserves ${embedding.input.length}.`
    )

    const change = (path: string, json: unknown) => call(path, { as: "token", method: "PUT", json })
    assert.strictEqual((yield* change("/api/token/", { id: made.id, tokens_per_minute: 0 })).status, 200)
    const kept = yield* json(Key, `/api/token/${made.id}`, { as: "token" })
    assert.deepInclude(kept.data, { requests_per_minute: 50, tokens_per_minute: 0 })
    assert.deepStrictEqual(yield* told(made.key), [200, "50", null])

    const asked = { as: "token", json: { username: "ann", quota: 1000, requests_per_minute: 500 } } as const
    const ann = (yield* json(MadeUser, "/api/user", asked)).data
    const hers = yield* json(Key, "/api/token/", { ...bearer(ann.access_token), json: fields })
    assert.deepStrictEqual(yield* told(hers.data.key), [200, "500", null])
    const options = { as: "token", method: "PUT", json: { id: ann.id, requests_per_minute: 0 } } as const
    const { data: changed } = yield* json(User, "/api/user", options)
    assert.deepInclude(changed, { requests_per_minute: 0, tokens_per_minute: 0 })
    assert.deepStrictEqual(yield* told(hers.data.key), [200, "100", null])

    for (const wrong of [-1, 1.5, "5", 1e15]) {
      const response = yield* change("/api/token/", { id: made.id, requests_per_minute: wrong })
      const error = yield* errorOf(response)
      assert.deepStrictEqual([response.status, error.param], [400, "requests_per_minute"], String(wrong))
    }
  }).pipe(Effect.scoped)
)
