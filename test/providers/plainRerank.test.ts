/** `docs/start/connect.md`, "Another vendor's rerank". */
import { assert, it } from "@effect/vitest"
import { RerankResponse } from "@sluice/core/contract"
import { Effect } from "effect"
import { startVendor, startWith } from "./VendorServer.ts"

it.live("a vendor without a dialect reranks in Cohere's form, by configuration", () =>
  Effect.gen(function* () {
    const vendor = yield* startVendor(() => {
      const document = { text: "a weir" }
      const results = [{ index: 1, relevance_score: 0.9, document }]
      return [200, { model: "their-reranker", object: "list", usage: { total_tokens: 9 }, results }]
    })
    const models = [{ id: "their-reranker", operation: "rerank" }]
    const server = yield* startWith([
      { id: "plain", dialect: "gateway", url: vendor.url, models: [{ ...models[0], aliases: ["m0"] }] },
      {
        id: "elsewhere",
        dialect: "gateway",
        url: vendor.url,
        paths: { rerank: "/api/v1/reranks" },
        models: [{ ...models[0], aliases: ["m1"] }]
      }
    ])
    for (const model of ["m0", "m1"]) {
      const json = { model, query: "water", documents: ["a lock", "a weir"], top_n: 1 }
      const { results } = yield* server.json(RerankResponse, "/v1/rerank", { json })
      assert.deepInclude(results[0], { index: 1, relevance_score: 0.9 })
    }
    assert.deepStrictEqual(
      vendor.requests.map(({ path }) => path),
      ["/v1/rerank", "/api/v1/reranks"]
    )
  }).pipe(Effect.scoped)
)
