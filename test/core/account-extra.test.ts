/** Fields of a response that the interface does not define reach the caller. */
import { assert, describe, it, layer } from "@effect/vitest"
import {
  ChatChunk,
  ChatResponse,
  EmbeddingResponse,
  extraOf,
  ModelsResponse,
  openStruct,
  RerankResponse
} from "@sluice/core/contract"
import { Gateway } from "@sluice/core"
import { Effect, Schema } from "effect"
import { behaving, chat, chatStream, Clients, embedTwo, rerankThree } from "./Clients.ts"
import { events, json } from "./LoopbackGateway.ts"
import { jsonRoundTrip } from "./jsonRoundTrip.ts"

const answering = <A, E, R>(body: unknown, call: Effect.Effect<A, E, R>) =>
  behaving((_, response) => json(response, body), call)

const vector = (index: number, more: object = {}) => ({ index, embedding: [1, 2], ...more })

layer(Clients)("fields beyond the interface", (it) => {
  it.effect("are in the `extra` of a rerank response", () =>
    Effect.gen(function* () {
      const results = [0, 1, 2].map((index) => ({ index, relevance_score: 0.5 }))
      const body = { results: [{ ...results[0], why: "near" }, results[1], results[2]], region: "eu" }
      const { extra } = yield* answering(body, rerankThree())
      assert.deepStrictEqual(extra, { region: "eu", results: [{ why: "near" }, {}, {}] })
      assert.notProperty(yield* answering({ results }, rerankThree()), "extra")
    })
  )

  it.effect("are in the `extra` of embeddings, one entry per request that has any", () =>
    Effect.gen(function* () {
      const body = { data: [vector(0), vector(1, { truncated: true })], usage: { cost: 0.5 } }
      const { extra } = yield* answering(body, embedTwo)
      assert.deepStrictEqual(extra, [{ data: [{}, { truncated: true }], usage: { cost: 0.5 } }])
      assert.notProperty(yield* answering({ data: [vector(0), vector(1)] }, embedTwo), "extra")
      const many = Gateway.use((gateway) => gateway.embeddings({ model: "e", input: ["a", "b", "c", "d"] }))
      const all = yield* behaving(({ body: { input } }, response, nth) => {
        json(response, { data: input.map((_, i) => vector(i)), shard: nth })
      }, many)
      assert.deepStrictEqual(all.extra?.map(({ shard }) => shard).toSorted(), [0, 1])
    })
  )

  it.effect("are in the `extra` of a chat response, at any depth", () =>
    Effect.gen(function* () {
      const message = { role: "assistant", content: "4", reasoning_content: "2 + 2" }
      const body = { choices: [{ message, logprobs: null }], system_fingerprint: "fp", usage: { a: [1] } }
      const { extra } = yield* answering(body, chat)
      assert.deepStrictEqual(extra, {
        system_fingerprint: "fp",
        choices: [{ logprobs: null, message: { reasoning_content: "2 + 2" } }],
        usage: { a: [1] }
      })
    })
  )

  it.effect("are in the `extra` of chat events, with their text", () =>
    Effect.gen(function* () {
      const chunk = (delta: object, more: object = {}) => ({
        id: "c-1",
        object: "chat.completion.chunk",
        created: 1.5,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: null }],
        ...more
      })
      const list = [
        chunk({ role: "assistant", reasoning_content: "hm" }),
        chunk({ content: "4" }, { system_fingerprint: "fp" }),
        chunk({ content: "!" }),
        { choices: [], usage: { prompt_tokens: 2, completion_tokens: 3, cost: 1 } },
        "[DONE]"
      ]
      const parts = yield* behaving((_, response) => events(response, list), chatStream)
      assert.deepStrictEqual(parts, [
        { type: "text", text: "", extra: { choices: [{ delta: { reasoning_content: "hm" } }] } },
        { type: "text", text: "4", extra: { system_fingerprint: "fp" } },
        { type: "text", text: "!" },
        { type: "text", text: "", extra: { usage: { cost: 1 } } },
        { type: "end", id: "c-1", model: "m", promptTokens: 2, completionTokens: 3 }
      ])
    })
  )

  it.effect("are in the `extra` of models", () =>
    Effect.gen(function* () {
      const models = yield* answering({ data: [{ id: "m", price: 2 }] }, (yield* Gateway).models)
      assert.deepStrictEqual(models, [{ id: "m", extra: { price: 2 } }])
    })
  )
})

layer(Clients)("id, model, meta, time and token counts", (it) => {
  it.effect("are returned if the gateway states them", () =>
    Effect.gen(function* () {
      const meta = { api_version: { version: "2" }, billed_units: { search_units: 1 } }
      const results = [0, 1, 2].map((index) => ({ index, relevance_score: 0.5 }))
      const ranked = yield* answering({ id: "r-1", model: "r-2026", results, meta }, rerankThree())
      assert.deepInclude(ranked, { id: "r-1", model: "r-2026", meta })

      const many = Gateway.use((gateway) => gateway.embeddings({ model: "e", input: ["a", "b", "c", "d"] }))
      const embedded = yield* behaving(
        ({ body: { input } }, response) =>
          json(response, { data: input.map((_, i) => vector(i)), model: "e-2026" }),
        many
      )
      assert.strictEqual(embedded.model, "e-2026")

      const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 9 }
      const told = { id: "c-1", model: "c-2026", created: 1_760_000_000 }
      const whole = { ...told, choices: [{ message: { content: "4" }, finish_reason: "stop" }], usage }
      const end = { ...told, finishReason: "stop", promptTokens: 2, completionTokens: 3, totalTokens: 9 }
      assert.deepStrictEqual(yield* answering(whole, chat), { text: "4", ...end })
      const list = [
        { ...told, choices: [{ delta: { content: "4" }, finish_reason: "stop" }], usage },
        "[DONE]"
      ]
      const parts = yield* behaving((_, response) => events(response, list), chatStream)
      assert.deepStrictEqual(parts, [
        { type: "text", text: "4" },
        { type: "end", ...end }
      ])
    })
  )

  it.effect("are absent if the gateway omits them or sends another type", () =>
    Effect.gen(function* () {
      const end = { promptTokens: 0, completionTokens: 0 }
      const plain = { choices: [{ message: { content: "4" } }] }
      assert.deepStrictEqual(yield* answering({ ...plain, id: "", model: null }, chat), { text: "4", ...end })
      const odd = { id: 7, model: {}, created: "now", choices: [{ delta: { content: "4" } }] }
      const parts = yield* behaving((_, response) => events(response, [odd, "[DONE]"]), chatStream)
      assert.deepStrictEqual(parts.at(-1), { type: "end", ...end })
    })
  )
})

describe("response types", () => {
  const Known = { id: Schema.String, model: Schema.String, other: Schema.Json }
  const usage = Schema.Struct({ total_tokens: Schema.Int, other: Schema.Json })
  const round = (schema: Schema.Codec<unknown, unknown>, wire: unknown) => {
    const sent = jsonRoundTrip(wire)
    const codec = Schema.toCodecJson(schema)
    const got = Schema.encodeUnknownSync(codec)(Schema.decodeUnknownSync(codec)(sent))
    assert.deepStrictEqual(jsonRoundTrip(got), sent)
  }

  it.prop(
    "encode as they were decoded, with undeclared fields",
    [Schema.Struct(Known), usage, Schema.Int, Schema.Finite, Schema.String],
    ([known, usage, index, score, text]) => {
      const { other } = known
      const message = { role: "assistant", content: text, other }
      round(RerankResponse, {
        ...known,
        usage,
        results: [{ index, relevance_score: score, document: { text, other }, other }]
      })
      round(EmbeddingResponse, {
        other,
        usage,
        data: [
          { index, embedding: text, other },
          { index, embedding: [score] }
        ]
      })
      round(ChatResponse, { ...known, usage, choices: [{ index, message, finish_reason: text, other }] })
      round(ChatChunk, { ...known, choices: [{ delta: { content: text, other }, other }] })
      round(ModelsResponse, { other, data: [{ id: "m", other }] })
    }
  )
})

describe("an open struct", () => {
  const Thing = openStruct({ id: Schema.Int, inner: Schema.optionalKey(openStruct({ a: Schema.String })) })

  it.prop(
    "encodes what it decoded, including fields named `extra` or `__proto__`",
    [Schema.Record(Schema.String, Schema.Json), Schema.Int],
    ([others, id]) => {
      const { inner: _, ...rest } = others
      const wire = jsonRoundTrip({ ...rest, ["__proto__"]: { a: 1 }, extra: "x", id })
      const read = Schema.decodeUnknownSync(Thing)(wire)
      assert.deepStrictEqual(Object.keys(extraOf(read) ?? {}).includes("extra"), true)
      assert.strictEqual(JSON.stringify(sorted(Schema.encodeSync(Thing)(read))), JSON.stringify(sorted(wire)))
      assert.strictEqual(Object.getPrototypeOf(read), Object.prototype)
    }
  )

  it("validates its declared fields", () => {
    assert.throws(() => Schema.decodeUnknownSync(Thing)({ id: "1", x: 2 }), /id/)
    assert.throws(() => Schema.decodeUnknownSync(Thing)({ id: 1, inner: { b: 2 } }), /inner/)
  })
})

const sorted = (fields: object) =>
  Object.fromEntries(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)))
