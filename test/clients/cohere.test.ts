/** The `cohere-ai` package, unchanged, against the server: rerank in both versions, and the package's typed errors. */
import { assert, layer } from "@effect/vitest"
import { Cohere, CohereClient, CohereClientV2, CohereError } from "cohere-ai"
import { Effect } from "effect"
import { testServer } from "../demo-server/TestServer.ts"
import { keyOfElsewhere, limitedServer, type Target, thrown, tooMuch, using } from "./Clients.ts"

const options = { maxRetries: 0 }
const v1 = ({ apiKey, url }: Target) => new CohereClient({ environment: url, token: apiKey })
const v2 = ({ apiKey, url }: Target) => new CohereClientV2({ environment: url, token: apiKey })

const request = {
  model: "sluice-lexical-rerank",
  query: "When does the last ferry leave?",
  documents: ["Boats are moored here.", "The last ferry leaves at nine.", "The museum opens at ten."]
}

layer(testServer(), { excludeTestServices: true })("cohere-ai", (it) => {
  it.effect("v1 rerank: takes documents as texts and objects and returns their texts", () =>
    using(v1)(async (client) => {
      const bare = await client.rerank(request, options)
      assert.lengthOf(bare.results, 3)
      assert.strictEqual(bare.results[0]?.index, 1)
      assert.isUndefined(bare.results[0]?.document)
      assert.isNotEmpty(bare.id)
      assert.strictEqual(bare.meta?.apiVersion?.version, "1")
      const scores = bare.results.map(({ relevanceScore }) => relevanceScore)
      assert.deepStrictEqual(
        scores,
        scores.toSorted((a, b) => b - a)
      )

      const whole = await client.rerank(
        {
          ...request,
          documents: request.documents.map((text) => ({ text })),
          topN: 2,
          returnDocuments: true
        },
        options
      )
      assert.lengthOf(whole.results, 2)
      assert.strictEqual(whole.results[0]?.document?.text, request.documents[1])
      assert.strictEqual(whole.results[0]?.relevanceScore, bare.results[0]?.relevanceScore)
    })
  )

  it.effect("v2 rerank: returns the same results", () =>
    Effect.gen(function* () {
      const first = yield* using(v1)((client) => client.rerank({ ...request, topN: 1 }, options))
      const second = yield* using(v2)((client) => client.rerank({ ...request, topN: 1 }, options))
      assert.deepStrictEqual(second.results, first.results)
      const nested = yield* using(v1)((client) => client.v2.rerank({ ...request, topN: 1 }, options))
      assert.deepStrictEqual(nested.results, first.results)
    })
  )

  it.effect("throws its typed errors with status and message", () =>
    Effect.gen(function* () {
      const failing = (change: object, apiKey?: string) =>
        Effect.gen(function* () {
          const errors = [
            yield* using(v1)((client) => thrown(client.rerank({ ...request, ...change }, options)), apiKey),
            yield* using(v2)((client) => thrown(client.rerank({ ...request, ...change }, options)), apiKey)
          ]
          for (const error of errors) {
            assert.instanceOf(error, CohereError)
            assert.match(error.message, /\S/)
            assert.match(error.rawResponse?.headers.get("x-request-id") ?? "", /^req_/)
          }
          return errors
        })
      for (const error of yield* failing({ documents: [] })) assert.instanceOf(error, Cohere.BadRequestError)
      for (const error of yield* failing({ query: "" })) assert.instanceOf(error, Cohere.BadRequestError)
      for (const error of yield* failing({ model: "none" })) {
        assert.instanceOf(error, Cohere.NotFoundError)
        assert.propertyVal(error.body, "message", "There is no model `none`. Use sluice-lexical-rerank")
      }
      for (const error of yield* failing({}, "sk-unknown")) assert.instanceOf(error, Cohere.UnauthorizedError)
      for (const error of yield* failing({}, yield* keyOfElsewhere)) {
        assert.instanceOf(error, Cohere.ForbiddenError)
      }

      const busy = v2(yield* limitedServer)
      const limited = yield* Effect.promise(() => tooMuch(() => busy.rerank(request, options)))
      assert.instanceOf(limited, Cohere.TooManyRequestsError)
      assert.isAtLeast(Number(limited.rawResponse?.headers.get("retry-after")), 1)
    }).pipe(Effect.scoped)
  )
})
