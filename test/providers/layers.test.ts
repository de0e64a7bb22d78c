/** Layers of vendors for programs, without a server. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Embedder, Gateway, Reader, Reranker, Vision } from "@sluice/core"
import { ConfigProvider, Effect, Layer, Redacted, Stream } from "effect"
import { PNG } from "../../packages/core/src/conformance/checks/Chat.ts"
import { DIALECTS, Providers } from "../../packages/providers/src/index.ts"
import { startLuma } from "./fakes/luma.ts"
import { DOCUMENTS, QUERY, TEXT_CASES } from "./TextCases.ts"
import { startVendor, VENDOR_KEY } from "./VendorServer.ts"

const key = apiKey(VENDOR_KEY)

const fakeOf = (vendor: string) => {
  const found = TEXT_CASES.find((one) => one.vendor === vendor)
  assert.isDefined(found)
  return startVendor(found.respond)
}

const env = (variables: Record<string, string>) =>
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))

describe("Providers", () => {
  it.live("mixes vendors, with each one's key, batches and purposes", () =>
    Effect.gen(function* () {
      const ollama = yield* fakeOf("ollama")
      const cohere = yield* fakeOf("cohere")
      const models = Layer.mergeAll(
        Providers.ollama.embedder({ model: "nomic-embed-text", url: `${ollama.url}/v1` }),
        Providers.cohere.reranker({ model: "rerank-v3.5", url: cohere.url })
      ).pipe(env({ CO_API_KEY: VENDOR_KEY }))
      yield* Effect.gen(function* () {
        const { vectors } = yield* Embedder.use(({ embed }) => embed(["a", "b"], "query"))
        assert.lengthOf(vectors, 2)
        const { results } = yield* Reranker.use(({ rerank }) =>
          rerank(
            QUERY,
            DOCUMENTS.map((text) => ({ text })),
            { topN: 1 }
          )
        )
        assert.deepStrictEqual(
          results.map(({ index }) => index),
          [1]
        )
      }).pipe(Effect.provide(models))
      assert.deepStrictEqual(ollama.requests[0]?.body["input"], ["search_query: a", "search_query: b"])
      assert.strictEqual(cohere.requests[0]?.headers.authorization, `Bearer ${VENDOR_KEY}`)
    }).pipe(Effect.scoped)
  )

  it.live("leave headers and queries out of errors", () =>
    Effect.gen(function* () {
      const secret = "query-0123456789abcdef"
      const { url } = yield* startVendor(({ path }) => [400, { message: `no documents at ${path}` }])
      const reranker = Providers.cohere.reranker({ model: "m", url, apiKey: key, query: { token: secret } })
      const { message } = yield* Effect.flip(
        Effect.provide(
          Reranker.use(({ rerank }) => rerank(QUERY, [{ text: "a" }])),
          reranker
        )
      )
      assert.include(message, "no documents at /v2/rerank?token=<redacted>")
    }).pipe(Effect.scoped)
  )

  it.live("sends the program's headers with each request of a task", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* startLuma
      const headers = { "x-team": "water", "x-pass": Redacted.make("pass-0123456789") }
      const apiKeyOfLuma = apiKey("luma-0123456789abcdef")
      const layer = Providers.luma.gateway({ url: `${url}/dream-machine/v1`, apiKey: apiKeyOfLuma, headers })
      yield* Gateway.use(({ images }) =>
        Effect.gen(function* () {
          const { id } = yield* images.create({ model: "photon-1", prompt: "a lock" })
          assert.isDefined(id)
          yield* images.get(id)
        })
      ).pipe(Effect.provide(layer))
      assert.deepStrictEqual(
        requests.map(({ headers, method }) => [method, headers["x-team"], headers["x-pass"]]),
        ["POST", "GET"].map((method) => [method, "water", "pass-0123456789"])
      )
    }).pipe(Effect.scoped)
  )

  it.live("splits texts as the model wants, and says what they are for", () =>
    Effect.gen(function* () {
      const dashscope = yield* fakeOf("dashscope")
      const voyage = yield* fakeOf("voyage")
      const embed = Embedder.use(({ embed }) =>
        embed(
          Array.from({ length: 25 }, (_, at) => `t${at}`),
          "passage"
        )
      )
      const options = { apiKey: key }
      yield* Effect.provide(
        embed,
        Providers.dashscope.embedder({ ...options, model: "text-embedding-v4", url: dashscope.url })
      )
      const sizes = dashscope.requests.map(({ body }) => [body["input"]].flat().length)
      assert.deepStrictEqual(sizes.toSorted(), [10, 10, 5])
      yield* Effect.provide(
        embed,
        Providers.voyage.embedder({ ...options, model: "voyage-3.5", url: voyage.url })
      )
      assert.deepInclude(voyage.requests[0]?.body, { input_type: "document" })
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["anthropic", Providers.anthropic],
    ["google", Providers.google]
  ] as const)("%s reads passages and looks at images", ([vendor, { reader, vision }]) =>
    Effect.gen(function* () {
      const { requests, url } = yield* fakeOf(vendor)
      const model = vendor === "google" ? "gemini-2.5-flash" : "claude-opus-4-5"
      const options = { model, url, apiKey: key }
      const models = Layer.merge(reader(options), vision(options))
      yield* Effect.gen(function* () {
        yield* Reader.use(({ read }) =>
          Effect.exit(Stream.runDrain(read(QUERY, [{ title: "Water", text: "It is high at the weir." }])))
        )
        assert.include(JSON.stringify(requests[0]?.body), "It is high at the weir.")
        const image = Buffer.from(PNG.slice(PNG.indexOf(",") + 1), "base64")
        const { text } = yield* Vision.use(({ look }) => look("What is it?", [image]))
        assert.strictEqual(text, "good day")
        assert.include(JSON.stringify(requests.at(-1)?.body), image.toString("base64"))
      }).pipe(Effect.provide(models))
    }).pipe(Effect.scoped)
  )

  it.live("a missing key is an error that names its variable", () =>
    Effect.gen(function* () {
      const layer = Providers.cohere.reranker({ model: "rerank-v3.5" }).pipe(env({}))
      const error = yield* Effect.flip(Layer.build(layer))
      assert.include(error.message, "Cohere needs a key: set CO_API_KEY, or pass `apiKey`")
    }).pipe(Effect.scoped)
  )

  it("has each vendor of the registry, with the layers that it has models for", () => {
    const vendors = new Map<string, object>(Object.entries(Providers))
    assert.sameMembers(
      [...vendors.keys()],
      DIALECTS.map(({ id }) => id)
    )
    const OPERATIONS = { embedder: "embeddings", reranker: "rerank", reader: "chat", vision: "chat" } as const
    for (const { id, operations } of DIALECTS) {
      const layers = Object.keys(OPERATIONS).filter((name) => OPERATIONS[name as "reader"] in operations)
      const offered = Object.keys(vendors.get(id) ?? {}).filter((name) => name !== "gateway")
      assert.sameMembers(offered, layers, id)
    }
  })
})
