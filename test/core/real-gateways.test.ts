/** What gateways in use send beside the interface. `docs/reference/gateways.md` names them. */
import { assert, layer } from "@effect/vitest"
import { Account, apiKey, Gateway, type GatewayError, quota } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { encodeVector } from "@sluice/core/contract"
import core from "../../packages/core/package.json" with { type: "json" }
import { Effect, Stream } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { withActualType } from "../../packages/core/src/client/chat/EventStream.ts"
import {
  ask,
  behaving,
  chat,
  chatStream,
  Clients,
  embedTwo,
  KEY,
  once,
  reasonOf,
  rerankThree
} from "./Clients.ts"
import { type Behaviour, embed, json, LoopbackGateway, refuse, sends, sendsText } from "./LoopbackGateway.ts"

const tokens = Effect.flatMap(Account, (account) => Stream.runCollect(account.tokens.list))
const tagOf = <A, R>(call: Effect.Effect<A, GatewayError, R>) =>
  Effect.map(reasonOf(call), ({ _tag }) => _tag)

/** The formats of the embedding requests so far. */
const formats = Effect.map(LoopbackGateway, ({ seen }) => seen.map(({ body }) => body.encoding_format))

const floatsOnly =
  (body: unknown, status = 400): Behaviour =>
  ({ body: { encoding_format, input } }, response) =>
    encoding_format === "base64"
      ? json(response, body, status)
      : json(response, { data: input.map((text, index) => ({ index, embedding: [...embed(text)] })) })

layer(Clients)("embeddings", (it) => {
  const embedWith = (model: string) =>
    Gateway.use((gateway) => gateway.embeddings({ model, input: ["a", "b"] }))

  it.effect("a refused `base64` is requested once as `float`, and remembered for URL and model", () =>
    Effect.gen(function* () {
      const refusal = { object: "error", message: "base64 encoding is not currently supported", code: 400 }
      const calls = Effect.gen(function* () {
        const { vectors } = yield* embedWith("floats")
        assert.deepStrictEqual([...(vectors[1] ?? [])], [...embed("b")])
        yield* embedWith("floats")
        const { url } = yield* LoopbackGateway
        const other = GatewayClient.layer({ baseUrl: url, apiKey: apiKey(KEY), ...once })
        yield* Effect.provide(embedWith("floats"), other)
        return yield* formats
      })
      assert.deepStrictEqual(yield* behaving(floatsOnly(refusal), calls), [
        "base64",
        "float",
        "float",
        "float"
      ])
    })
  )

  it.effect("a refusal that names another field is not repeated, nor one of both forms again", () =>
    Effect.gen(function* () {
      const input = { error: { message: "too long", param: "input" } }
      const alone = Effect.flip(Gateway.use((gateway) => gateway.embeddings({ model: "n", input: ["a"] })))
      assert.deepStrictEqual(yield* behaving(sends(input, 400), Effect.andThen(alone, formats)), ["base64"])
      const both = Effect.andThen(alone, Effect.andThen(alone, formats))
      assert.deepStrictEqual(yield* behaving(sends({ error: "no" }, 400), both), [
        "base64",
        "float",
        "base64"
      ])
    })
  )

  it.effect("the option `encodingFormat` requests `float` at once", () =>
    Effect.gen(function* () {
      const { url } = yield* LoopbackGateway
      const embeddings = { encodingFormat: "float" } as const
      const client = GatewayClient.layer({ baseUrl: url, apiKey: apiKey(KEY), ...once, embeddings })
      const calls = Effect.andThen(Effect.provide(embedTwo, client), formats)
      assert.deepStrictEqual(yield* behaving(floatsOnly({}), calls), ["float"])
    })
  )

  const a = encodeVector(Float32Array.of(1, 2))
  const b = [3, 4]
  const lists: ReadonlyArray<readonly [name: string, data: ReadonlyArray<unknown>]> = [
    ["without any index", [{ embedding: a }, { embedding: b }]],
    ["with an omitted 0", [{ index: 1, embedding: b }, { embedding: a }]],
    [
      "with the index 0 everywhere",
      [
        { index: 0, embedding: a },
        { index: 0, embedding: b }
      ]
    ],
    [
      "with null and textual indexes",
      [
        { index: null, embedding: a },
        { index: "1", embedding: b }
      ]
    ]
  ]
  for (const [name, data] of lists) {
    it.effect(`vectors ${name} are in order`, () =>
      Effect.gen(function* () {
        const { vectors } = yield* behaving(sends({ data, usage: { total_tokens: "2.5" } }), embedTwo)
        assert.deepStrictEqual(vectors, [Float32Array.of(1, 2), Float32Array.of(3, 4)])
      })
    )
  }

  it.effect("vectors without an index are refused if their number is wrong", () =>
    Effect.gen(function* () {
      for (const data of [
        [{ embedding: a }],
        [{ embedding: a }, { embedding: b }, { embedding: b }],
        [
          { index: 1, embedding: a },
          { index: 1, embedding: b }
        ]
      ]) {
        assert.strictEqual(yield* behaving(sends({ data }), tagOf(embedTwo)), "InvalidResponse")
      }
    })
  )
})

layer(Clients)("lists and numbers", (it) => {
  it.effect("null lists and empty names are empty lists of models", () =>
    Effect.gen(function* () {
      const account = yield* Account
      const all = Effect.all([account.models, account.availableModels])
      for (const data of [null, { "43": null }, [""], { "1": null, "2": [""] }]) {
        assert.deepStrictEqual(yield* behaving(sends({ success: true, message: "", data }), all), [[], []])
      }
      const some = { "1": ["a", ""], "43": null, "2": ["b", "a"] }
      assert.deepStrictEqual(yield* behaving(sends({ data: some }), account.models), [
        { id: "a" },
        { id: "b" }
      ])
      const { models } = yield* Gateway
      assert.deepStrictEqual(yield* behaving(sends({ object: "list", data: null }), models), [])
    })
  )

  it.effect("numbers of tokens and users may be text, and -1 is never", () =>
    Effect.gen(function* () {
      const token = { id: "7", name: "t", status: "1", remain_quota: "500", used_quota: "3" }
      const data = [
        { ...token, expired_time: "-1" },
        { ...token, id: 8, expired_time: "1900000000" }
      ]
      const [never, at] = yield* behaving(sends({ data }), tokens)
      assert.deepInclude(never, { id: 7, enabled: true, remainQuota: quota(500), expires: { _tag: "Never" } })
      assert.strictEqual(at?.expires._tag, "At")
      const user = Effect.flatMap(Account, (account) => account.user)
      const { quota: balance } = yield* behaving(sends({ data: { username: "u", quota: "-12" } }), user)
      assert.strictEqual(balance, quota(-12))
      const read = Effect.flatMap(Account, (account) => account.tokens.get(7))
      assert.deepInclude(yield* behaving(sends({ data: data[0] }), read), { remainQuota: quota(500) })
    })
  )

  it.effect("a ranking keeps its scores, whatever its documents are", () =>
    Effect.gen(function* () {
      const documents = ["b", {}, { text: null }, { text: 4 }, null, 7, ["c"]]
      for (const document of documents) {
        const results = [0, 1, 2].map((index) => ({ index, relevance_score: 1 - index / 10, document }))
        const ranked = yield* behaving(sends({ results, usage: "none" }), rerankThree())
        const text = document === "b" ? { document: "b" } : {}
        assert.deepStrictEqual(ranked.results[2], { index: 2, score: 0.8, ...text })
      }
    })
  )
})

layer(Clients)("chat", (it) => {
  const usage = { prompt_tokens: 12.4, completion_tokens: "3", total_tokens: "15.4" }

  it.effect("content in parts is joined, and usage may be fractional or text", () =>
    Effect.gen(function* () {
      const content = [{ type: "text", text: "Hel" }, { type: "thinking", thinking: "…" }, { text: "lo" }]
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: 0 }]
      const answer = yield* behaving(sends({ choices, usage }), chat)
      assert.deepInclude(answer, { text: "Hello", promptTokens: 13, completionTokens: 3, totalTokens: 16 })
      assert.isUndefined(answer.finishReason)
      const bare = [{ message: { content: "a" }, finish_reason: "stop" }]
      assert.deepInclude(yield* behaving(sends({ choices: bare, usage: "12" }), chat), { promptTokens: 0 })
    })
  )

  it.effect("a refusal in a field of its own is the text", () =>
    Effect.gen(function* () {
      const refusal = "I can't help with that."
      const choices = [{ index: 0, message: { content: null, refusal }, finish_reason: "stop" }]
      assert.deepInclude(yield* behaving(sends({ choices }), chat), { text: refusal, finishReason: "stop" })
    })
  )

  it.effect("an error beside the choices, or in one, fails the call", () =>
    Effect.gen(function* () {
      const error = { code: 502, message: "no instances" }
      const choice = { index: 0, message: { content: "" }, finish_reason: "error" }
      for (const body of [{ choices: [{ ...choice, error }] }, { choices: [choice], error }]) {
        assert.strictEqual(yield* behaving(sends(body), tagOf(chat)), "ServerFailure")
      }
      const chunk = JSON.stringify({ choices: [{ delta: { content: "" }, finish_reason: "error", error }] })
      const streamed = sendsText("text/event-stream", `data: ${chunk}\n\ndata: [DONE]\n\n`)
      assert.strictEqual(yield* behaving(streamed, tagOf(chatStream)), "ServerFailure")
      const fine = { choices: [{ ...choice, error: null }], error: { code: 0, message: "" } }
      assert.strictEqual((yield* behaving(sends(fine), chat)).finishReason, "error")
    })
  )

  const pieces = [
    {},
    { choices: [{ delta: { content: [{ type: "text", text: "Hel" }] }, finish_reason: 0 }] },
    { choices: [{ delta: { content: "lo" }, finish_reason: null }], usage: "" },
    { choices: [], usage }
  ]
  const sse = [...pieces.map((piece) => JSON.stringify(piece)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`)
    .join("")

  it.effect("a stream is read under any content type, with empty events", () =>
    Effect.gen(function* () {
      const types = [
        "text/event-stream",
        "text/plain; charset=utf-8",
        "application/json",
        "application/octet-stream"
      ]
      for (const type of types) {
        const parts = yield* behaving(sendsText(type, `\n: hi\n\n${sse}`), chatStream)
        const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
        assert.strictEqual(text, "Hello", type)
        assert.deepInclude(parts.at(-1), { type: "end", promptTokens: 13, completionTokens: 3 })
      }
    })
  )

  it.effect("a stream under another content type may be cut anywhere", () =>
    Effect.gen(function* () {
      const chunks = ["\n", "d", "at", "a: {}\n\n"].map((text) => new TextEncoder().encode(text))
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const chunk = chunks.shift()
          return chunk === undefined ? controller.close() : controller.enqueue(chunk)
        }
      })
      const web = new Response(body, { headers: { "content-type": "text/plain" } })
      const response = HttpClientResponse.fromWeb(HttpClientRequest.get("http://gateway.example"), web)
      const actual = yield* withActualType(response)
      assert.strictEqual(actual.headers["content-type"], "text/event-stream")
      assert.strictEqual(yield* actual.text, "\ndata: {}\n\n")
    })
  )

  it.effect("a whole answer is read as a stream under any content type", () =>
    Effect.gen(function* () {
      const choices = [{ message: { content: "whole" }, finish_reason: "stop" }]
      for (const type of ["application/json", "text/plain", "text/html"]) {
        const parts = yield* behaving(sendsText(type, JSON.stringify({ choices })), chatStream)
        assert.deepInclude(parts[0], { type: "text", text: "whole" }, type)
      }
    })
  )
})

layer(Clients)("requests", (it) => {
  it.effect("have a user agent, and the ids that gateways give them are kept", () =>
    Effect.gen(function* () {
      for (const name of [
        "X-Oneapi-Request-Id",
        "X-New-Api-Request-Id",
        "apim-request-id",
        "x-trace-id",
        "CF-RAY"
      ]) {
        const behaviour: Behaviour = (_, response) => {
          response.writeHead(400, { [name]: "r-9" })
          response.end("{}")
        }
        const agents = Effect.map(LoopbackGateway, ({ seen }) =>
          seen.map(({ headers }) => headers["user-agent"])
        )
        const [error, sent] = yield* behaving(behaviour, Effect.all([Effect.flip(chat), agents]))
        assert.deepStrictEqual([error.requestId, sent], ["r-9", [`sluice/${core.version}`]], name)
      }
      assert.strictEqual((yield* behaving(refuse(400, {}), Effect.flip(chat))).requestId, "req-7")
    })
  )

  it.effect("a key of one word is no secret", () =>
    Effect.gen(function* () {
      const { url } = yield* LoopbackGateway
      for (const word of ["ollama", "none", "k", "local-model-key"]) {
        const client = GatewayClient.layer({ baseUrl: url, apiKey: apiKey(word), ...once })
        const error = yield* behaving(
          refuse(400, { error: { message: `No model ${word}-7b` } }),
          Effect.provide(Effect.flip(Gateway.use((gateway) => gateway.chat(ask))), client)
        )
        assert.include(error.message, `No model ${word}-7b`)
      }
    })
  )
})
