/** Every vendor × operation of text, against a fake whose responses the vendor's own SDK reads. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway, RETRY_NEVER } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { ChatResponse, EmbeddingResponse, RerankResponse } from "@sluice/core/contract"
import { Effect, Layer, Stream } from "effect"
import { DIALECTS, layerVendorTransport } from "../../packages/providers/src/index.ts"
import { SCORES, vectorAt } from "./fakes/Texts.ts"
import { DOCUMENTS, QUERY, TEXT_CASES, type TextCase, TEXTS, TOP } from "./TextCases.ts"
import { startVendor, startWith, VENDOR_KEY } from "./VendorServer.ts"

/** What each operation returns from every fake. */
const EXPECTED = {
  rerank: [1, 2].map((index) => ({ index, score: SCORES[index] })),
  embeddings: TEXTS.map((_, index) => vectorAt(index)),
  chat: "good day"
}

/** The vendor's address: where its paths begin. */
const dialectOf = (vendor: string) => {
  const found = DIALECTS.find(({ id }) => id === vendor)
  assert.isDefined(found, vendor)
  return found
}

/** The gateway of a program without a server. */
const gatewayOf = ({ vendor }: TextCase, url: string) =>
  GatewayClient.layerWithoutTransport({ baseUrl: url, apiKey: apiKey(VENDOR_KEY) }).pipe(
    Layer.provide(layerVendorTransport({ dialect: dialectOf(vendor), url, apiKey: apiKey(VENDOR_KEY) }))
  )

const call = ({ model, operation }: TextCase) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    if (operation === "rerank") {
      const ranking = yield* gateway.rerank({ model, query: QUERY, documents: DOCUMENTS, topN: TOP })
      return { value: ranking.results.map(({ index, score }) => ({ index, score })), tokens: ranking.tokens }
    }
    if (operation === "embeddings") {
      const { tokens, vectors } = yield* gateway.embeddings({ model, input: TEXTS })
      return { value: vectors.map((vector) => [...vector]), tokens }
    }
    const messages = [{ role: "user" as const, content: QUERY }]
    const { promptTokens, text } = yield* gateway.chat({ model, messages })
    return { value: text, tokens: promptTokens }
  })

const title = ({ model, operation, vendor }: TextCase) => `${vendor}, ${operation}: ${model}`

for (const one of TEXT_CASES) {
  describe(`${title(one)}`, () => {
    const { sdk } = one
    if (sdk !== undefined) {
      it.live("the vendor's SDK reads the fake", () =>
        Effect.gen(function* () {
          const { url } = yield* startVendor(one.respond)
          assert.deepStrictEqual(yield* Effect.promise(() => sdk(url)), EXPECTED[one.operation])
        }).pipe(Effect.scoped)
      )
    }

    it.live("a program calls it through the dialect", () =>
      Effect.gen(function* () {
        const { requests, url } = yield* startVendor(one.respond)
        const { tokens, value } = yield* Effect.provide(call(one), gatewayOf(one, url))
        assert.deepStrictEqual(value, EXPECTED[one.operation])
        assert.strictEqual(tokens, one.tokens ?? (one.operation === "chat" ? 5 : 0))
        assert.lengthOf(requests, 1)
      }).pipe(Effect.scoped)
    )
  })
}

it("every operation of text in the registry is tested here", () => {
  const tested = TEXT_CASES.map(({ operation, vendor }) => `${vendor} ${operation}`)
  const offered = DIALECTS.filter(({ id }) => id !== "gateway").flatMap(({ id, operations }) =>
    (["rerank", "embeddings", "chat"] as const).flatMap((name) =>
      name in operations ? [`${id} ${name}`] : []
    )
  )
  assert.sameMembers([...new Set(tested)], offered)
})

it.live("a server calls all of them through their dialects", () =>
  Effect.gen(function* () {
    const upstreams: Array<object> = []
    for (const [at, one] of TEXT_CASES.entries()) {
      const { url } = yield* startVendor(one.respond)
      const { model: id, operation, vendor } = one
      const models = [{ id, operation, aliases: [`m${at}`] }]
      upstreams.push({ id: `u${at}`, dialect: vendor, url, models })
    }
    const server = yield* startWith(upstreams)
    for (const [at, { operation, ...one }] of TEXT_CASES.entries()) {
      const model = `m${at}`
      if (operation === "rerank") {
        const json = { model, query: QUERY, documents: DOCUMENTS, top_n: TOP, return_documents: true }
        const { results } = yield* server.json(RerankResponse, "/v1/rerank", { json })
        assert.deepStrictEqual(
          results.map(({ document, index, relevance_score: score }) => [index, score, document?.text]),
          EXPECTED.rerank.map(({ index, score }) => [index, score, DOCUMENTS[index]]),
          title({ operation, ...one })
        )
      } else if (operation === "embeddings") {
        const { data } = yield* server.json(EmbeddingResponse, "/v1/embeddings", {
          json: { model, input: TEXTS }
        })
        assert.deepStrictEqual(
          data.map(({ embedding }) => embedding),
          EXPECTED.embeddings,
          title({ operation, ...one })
        )
      } else {
        const messages = [{ role: "user", content: QUERY }]
        const { choices } = yield* server.json(ChatResponse, "/v1/chat/completions", {
          json: { model, messages }
        })
        assert.strictEqual(choices[0]?.message.content, EXPECTED.chat, title({ operation, ...one }))
      }
    }
  }).pipe(Effect.scoped)
)

describe("a vendor", () => {
  const find = (vendor: string, operation: string) => {
    const found = TEXT_CASES.find((one) => one.vendor === vendor && one.operation === operation)
    assert.isDefined(found)
    return found
  }

  it.live.each([
    ["cohere", { query: "search_query", document: "search_document" }, "input_type", "output_dimension"],
    ["voyage", { query: "query", document: "document" }, "input_type", "output_dimension"],
    ["jina", { query: "retrieval.query", document: "retrieval.passage" }, "task", "dimensions"]
  ] as const)(
    "%s is told what the vectors are for, and their dimension",
    ([vendor, words, field, dimension]) =>
      Effect.gen(function* () {
        const one = find(vendor, "embeddings")
        const { requests, url } = yield* startVendor(one.respond)
        for (const type of ["query", "document"] as const) {
          yield* Gateway.use((gateway) =>
            gateway.embeddings({
              model: one.model,
              input: TEXTS,
              extra: { input_type: type, dimensions: 256 }
            })
          ).pipe(Effect.provide(gatewayOf(one, url)))
          assert.strictEqual(requests.at(-1)?.body[field], words[type])
          assert.strictEqual(requests.at(-1)?.body[dimension], 256)
        }
      }).pipe(Effect.scoped)
  )

  it.live("a request to Google has the vectors' purpose and dimension", () =>
    Effect.gen(function* () {
      const one = find("google", "embeddings")
      const { requests, url } = yield* startVendor(one.respond)
      const extra = { input_type: "query", dimensions: 256 }
      yield* Gateway.use((gateway) => gateway.embeddings({ model: one.model, input: TEXTS, extra })).pipe(
        Effect.provide(gatewayOf(one, url))
      )
      const asked = { taskType: "RETRIEVAL_QUERY", outputDimensionality: 256 }
      const content = (text: string) => ({ parts: [{ text }] })
      assert.deepStrictEqual(
        requests.at(-1)?.body["requests"],
        TEXTS.map((text) => ({ model: `models/${one.model}`, content: content(text), ...asked }))
      )
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["cohere", "rerank"],
    ["voyage", "rerank"],
    ["jina", "embeddings"],
    ["jina", "rerank"],
    ["tei", "embeddings"],
    ["tei", "rerank"],
    ["dashscope", "embeddings"],
    ["dashscope", "rerank"],
    ["siliconflow", "rerank"]
  ] as const)("%s refuses in its own form, and the reason arrives: %s", ([vendor, operation]) =>
    Effect.gen(function* () {
      const one = find(vendor, operation)
      const { url } = yield* startVendor((received) => one.respond({ ...received, body: { task: "none" } }))
      const { reason } = yield* Effect.flip(Effect.provide(call(one), gatewayOf(one, url)))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.match(reason.message, /documents|tokens|task|encoding_format/)
    }).pipe(Effect.scoped)
  )

  it.live.each(
    (
      [
        ["a web page", "<html><title>Sign in</title></html>", "InvalidResponse", /web page/],
        ["an error with status 200", { error: { message: "no quota" } }, "ServerFailure", /no quota/],
        ["an object without a result", {}, "InvalidResponse", /./]
      ] as const
    ).flatMap(([what, body, tag, message]) =>
      TEXT_CASES.filter(({ vendor }) => ["anthropic", "google", "cohere", "tei"].includes(vendor)).map(
        (one) => ({ what, body, tag, message, one, name: title(one) })
      )
    )
  )("sends $what, which is no empty result: $name", ({ body, message, one, tag }) =>
    Effect.gen(function* () {
      const { url } = yield* startVendor(() => [200, body])
      const options = GatewayClient.layerWithoutTransport({
        baseUrl: url,
        apiKey: apiKey(VENDOR_KEY),
        retry: RETRY_NEVER
      }).pipe(
        Layer.provide(
          layerVendorTransport({ dialect: dialectOf(one.vendor), url, apiKey: apiKey(VENDOR_KEY) })
        )
      )
      const { reason } = yield* Effect.flip(Effect.provide(call(one), options))
      assert.match(reason.message, message)
      assert.strictEqual(reason._tag, tag)
    }).pipe(Effect.scoped)
  )

  it.live("streams a chat through a compatible endpoint", () =>
    Effect.gen(function* () {
      const one = find("cohere", "chat")
      const { url } = yield* startVendor(one.respond)
      const parts = yield* Gateway.use((gateway) =>
        Stream.runCollect(
          gateway.chatStream({ model: one.model, messages: [{ role: "user", content: QUERY }] })
        )
      ).pipe(Effect.provide(gatewayOf(one, url)))
      assert.strictEqual(parts.map((part) => (part.type === "text" ? part.text : "")).join(""), "good day")
    }).pipe(Effect.scoped)
  )
})
