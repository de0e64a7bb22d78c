/** `estimate` against a server: what it says is what the server reserves. */
import { assert, describe, it, layer } from "@effect/vitest"
import {
  Account,
  apiKey,
  Gateway,
  type GatewayError,
  type ImageCall,
  quota,
  systemAccessToken,
  type VideoCall
} from "@sluice/core"
import { AccountClient, GatewayClient, RETRY_NEVER } from "@sluice/core/client"
import { type EstimatedCall, estimate, PriceTable } from "@sluice/core/prices"
import { Effect, Redacted, Schema, Stream, Struct } from "effect"
import { readFile } from "node:fs/promises"
import { testServer, TestServer } from "./TestServer.ts"

const shipped = Effect.promise(() =>
  readFile(new URL("../../apps/demo-server/prices.json", import.meta.url), "utf8")
).pipe(Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(PriceTable))))

const long = "Wer ein Boot längs der Kaimauer festmacht, zahlt. \u{1f6a3} ".repeat(2000)
const schema = { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } }
const picture = (detail?: "low" | "high") =>
  ({ type: "image_url", image_url: { url: "https://images.example/1.png", detail } }) as const

const chat = (fields: Partial<Extract<EstimatedCall, { operation: "chat" }>>): EstimatedCall => ({
  operation: "chat",
  model: "sluice-extractive",
  messages: [{ role: "user", content: long }],
  ...fields
})

const calls: Readonly<Record<string, EstimatedCall>> = {
  embeddings: { operation: "embeddings", model: "sluice-lexical-1024", input: [long, "a", long] },
  rerank: { operation: "rerank", model: "sluice-lexical-rerank", query: "q", documents: [long, long] },
  "a chat": chat({ maxTokens: 300, temperature: 0.5 }),
  "a chat without a limit": chat({}),
  "a chat with an unlimited limit": chat({ maxTokens: 5_000_000 }),
  "a chat with other fields": chat({ maxTokens: 9, extra: { response_format: schema, stop: [long] } }),
  "a chat with images": chat({
    model: "sluice-ocr",
    maxTokens: 2000,
    messages: [{ role: "user", content: [{ type: "text", text: "What?" }, picture("low"), picture()] }]
  }),
  "an image": { operation: "images", model: "sluice-image-i1", prompt: "a lock", n: 3 },
  "a video": { operation: "videos", model: "sluice-video-v-a", group: "V-A", prompt: "a lock", seconds: "8" },
  "a video without seconds": { operation: "videos", model: "sluice-video-v-a", prompt: "a lock" }
}

/** Makes a call. */
const make = (call: EstimatedCall): Effect.Effect<unknown, GatewayError, Gateway> =>
  Effect.flatMap(Gateway, (gateway): Effect.Effect<unknown, GatewayError> => {
    switch (call.operation) {
      case "embeddings":
        return gateway.embeddings(call)
      case "rerank":
        return gateway.rerank(call)
      case "chat":
        return gateway.chat(call)
      case "images":
        return gateway.images.create(Struct.omit(call, ["operation"]) as ImageCall)
      case "videos":
        return gateway.videos.create(call as VideoCall)
    }
  })

layer(testServer(), { excludeTestServices: true })("an estimate", (it) => {
  /** Clients with a key that has one unit: it affords no call. */
  const poor = Effect.gen(function* () {
    const { secrets, url } = yield* TestServer
    const account = AccountClient.layer({ baseUrl: url, accessToken: systemAccessToken(secrets.accessToken) })
    const create = Account.use(({ tokens }) => tokens.create({ name: "poor", remainQuota: quota(1) }))
    const { key } = yield* Effect.provide(create, account)
    return GatewayClient.layer({ baseUrl: url, apiKey: apiKey(Redacted.value(key)), retry: RETRY_NEVER })
  })

  for (const [name, call] of Object.entries(calls)) {
    it.effect(`of ${name} is what the server reserves`, () =>
      Effect.gen(function* () {
        const { units } = estimate(call, yield* shipped)
        const error = yield* Effect.flip(Effect.provide(make(call), yield* poor))
        const message = error.reason._tag === "PartialFailure" ? error.reason.first.message : error.message
        assert.match(message, new RegExp(`this call reserves ${units} units`))
      })
    )
  }

  it.effect("of a streamed chat is the same", () =>
    Effect.gen(function* () {
      const call = { model: "sluice-extractive", messages: [{ role: "user", content: long }] } as const
      const { units } = estimate({ operation: "chat", ...call }, yield* shipped)
      const stream = Stream.unwrap(Gateway.useSync((gateway) => gateway.chatStream(call)))
      const error = yield* Effect.flip(Effect.provide(Stream.runDrain(stream), yield* poor))
      assert.match(error.message, new RegExp(`this call reserves ${units} units`))
    })
  )
})

describe("an estimate", () => {
  const prices: PriceTable = {
    defaults: { embeddings: { inputPer1000Tokens: 1 }, images: { perImage: 5 } },
    models: { own: { inputPer1000Tokens: 2 }, painter: { perImage: 7, variants: { "2k high": 9, high: 8 } } }
  }

  it("rounds up once for each request of the client", () => {
    const input = Array.from({ length: 97 }, () => "ab")
    const of = (model: string) => estimate({ operation: "embeddings", model, input }, prices)
    assert.deepStrictEqual([of("other").units, of("own").units], [2, 2])
    assert.strictEqual(of("own").usage.inputTokens, 194)
  })

  it("of a call that makes no request is nothing", () => {
    const rerank = { operation: "rerank", model: "own", query: "q" } as const
    for (const call of [
      { ...rerank, documents: [] },
      { ...rerank, documents: ["a"], topN: 0 },
      { operation: "embeddings", model: "own", input: [] }
    ] as const)
      assert.strictEqual(estimate(call, prices).units, 0)
    assert.strictEqual(estimate({ ...rerank, documents: ["a"] }, prices).units, 1)
  })

  it("of a rerank query has the price of its searches", () => {
    const search = { models: { ranker: { inputPer1000Tokens: 500, perSearch: 3 } } }
    const documents = Array.from({ length: 101 }, () => "ab")
    const call = { operation: "rerank", model: "ranker", query: "four", documents } as const
    assert.strictEqual(estimate(call, search).units, quota(103 + 6))
  })

  it("of a size and a quality has their price", () => {
    const image = { operation: "images", model: "painter", prompt: "p", n: 2 } as const
    const units = [
      estimate(image, prices),
      estimate({ ...image, quality: "high" }, prices),
      estimate({ ...image, quality: "high", size: "2K" }, prices),
      estimate({ ...image, model: "constructor" }, prices)
    ].map(({ units }) => units)
    assert.deepStrictEqual(units, [quota(14), quota(16), quota(18), quota(10)])
  })
})
