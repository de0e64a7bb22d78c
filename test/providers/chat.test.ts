/** Native chat of Anthropic and Google: streams, images, usage and stop reasons. */
import { assert, describe, it } from "@effect/vitest"
import { ChatChunk, ChatResponse } from "@sluice/core/contract"
import { Effect } from "effect"
import { PNG } from "../../packages/core/src/conformance/checks/Chat.ts"
import { errorOf } from "../demo-server/TestServer.ts"
import { claude, gemini, TEXT_CASES } from "./TextCases.ts"
import { type Respond, startVendor, startWith } from "./VendorServer.ts"

const CHAT = "/v1/chat/completions"
const user = (content: unknown) => [{ role: "user", content }]

const start = (vendor: string, respond?: Respond) =>
  Effect.gen(function* () {
    const one = TEXT_CASES.find((one) => one.vendor === vendor && one.operation === "chat")
    assert.isDefined(one)
    const fake = yield* startVendor(respond ?? one.respond)
    const models = [{ id: one.model, operation: "chat", aliases: ["mine"] }]
    const server = yield* startWith([{ dialect: vendor, url: fake.url, models }])
    return { ...server, requests: fake.requests, vendorUrl: fake.url, model: one.model }
  })

/** The data of each event, with the end. */
const dataOf = (text: string) =>
  text.split("\n\n").flatMap((event) => (event.startsWith("data: ") ? [event.slice("data: ".length)] : []))

describe.each(["anthropic", "google"])("%s", (vendor) => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  const cached = { prompt_tokens_details: { cached_tokens: 2 } }

  it.live("answers with its usage, and the caller's name of the model", () =>
    Effect.gen(function* () {
      const server = yield* start(vendor)
      const answer = yield* server.json(ChatResponse, CHAT, {
        json: { model: "mine", messages: user("hello") }
      })
      assert.strictEqual(answer.model, "mine")
      assert.strictEqual(answer.choices[0]?.finish_reason, "stop")
      assert.deepInclude(answer.usage, usage)
      assert.deepInclude(answer.usage?.extra, cached)
    }).pipe(Effect.scoped)
  )

  it.live("streams, with the usage if it is asked for, and ends with [DONE]", () =>
    Effect.gen(function* () {
      const server = yield* start(vendor)
      const json = { model: "mine", messages: user("hello"), stream: true }
      const asked = { ...json, stream_options: { include_usage: true } }
      const chunks = yield* server.events(ChatChunk, CHAT, { json: asked })
      assert.strictEqual(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), "good day")
      assert.deepInclude(chunks.at(-1)?.usage, usage)
      assert.deepStrictEqual(
        chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason }) => finish_reason ?? [])),
        ["stop"]
      )
      assert.isTrue(chunks.every(({ model }) => model === "mine"))
      const plain = yield* server.call(CHAT, { json })
      const data = dataOf(yield* Effect.promise(() => plain.text()))
      assert.strictEqual(data.at(-1), "[DONE]")
      assert.isFalse(data.some((event) => event.includes('"usage"')))
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["at length", "length"],
    ["forbidden", "content_filter"]
  ] as const)("says why it stopped: %s", ([content, reason]) =>
    Effect.gen(function* () {
      const server = yield* start(vendor)
      const json = { model: "mine", messages: user(content) }
      const answer = yield* server.json(ChatResponse, CHAT, { json })
      assert.strictEqual(answer.choices[0]?.finish_reason, reason)
      const chunks = yield* server.events(ChatChunk, CHAT, { json: { ...json, stream: true } })
      assert.strictEqual(chunks.flatMap(({ choices }) => choices).at(-1)?.finish_reason, reason)
    }).pipe(Effect.scoped)
  )

  it.live("gets instructions apart, earlier answers, stops, and images as they are", () =>
    Effect.gen(function* () {
      const server = yield* start(vendor)
      const messages = [
        { role: "system", content: "Be brief" },
        ...user("hello"),
        { role: "assistant", content: "good day" },
        ...user([
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: PNG } }
        ])
      ]
      const schema = { type: "object", properties: {} }
      const response_format = { type: "json_schema", json_schema: { name: "s", schema } }
      const json = { model: "mine", messages, max_tokens: 9, temperature: 1.5, stop: "END", response_format }
      yield* server.json(ChatResponse, CHAT, { json })
      const data = PNG.slice(PNG.indexOf(",") + 1)
      const { body } = server.requests.at(-1) ?? {}
      assert.deepStrictEqual(
        body,
        vendor === "anthropic"
          ? {
              model: server.model,
              max_tokens: 9,
              system: "Be brief",
              stop_sequences: ["END"],
              output_config: { format: { type: "json_schema", schema } },
              messages: [
                { role: "user", content: [{ type: "text", text: "hello" }] },
                { role: "assistant", content: [{ type: "text", text: "good day" }] },
                {
                  role: "user",
                  content: [
                    { type: "text", text: "look" },
                    { type: "image", source: { type: "base64", media_type: "image/png", data } }
                  ]
                }
              ]
            }
          : {
              systemInstruction: { parts: [{ text: "Be brief" }] },
              generationConfig: {
                maxOutputTokens: 9,
                temperature: 1.5,
                stopSequences: ["END"],
                responseMimeType: "application/json",
                responseJsonSchema: schema
              },
              contents: [
                { role: "user", parts: [{ text: "hello" }] },
                { role: "model", parts: [{ text: "good day" }] },
                { role: "user", parts: [{ text: "look" }, { inlineData: { mimeType: "image/png", data } }] }
              ]
            }
      )
    }).pipe(Effect.scoped)
  )
})

describe("the SDK of", () => {
  it.live("Anthropic reads the fake's stream and its models", () =>
    Effect.gen(function* () {
      const { model, vendorUrl } = yield* start("anthropic")
      const stream = claude(vendorUrl).messages.stream({
        model,
        max_tokens: 9,
        messages: [{ role: "user", content: "hi" }]
      })
      const message = yield* Effect.promise(() => stream.finalMessage())
      assert.deepInclude(message.content[0], { type: "text", text: "good day" })
      assert.strictEqual(message.usage.output_tokens, 2)
      const models = yield* Effect.promise(() => claude(vendorUrl).models.list())
      assert.strictEqual(models.data[0]?.id, model)
    }).pipe(Effect.scoped)
  )

  it.live("Google reads the fake's stream", () =>
    Effect.gen(function* () {
      const { model, vendorUrl } = yield* start("google")
      const text = yield* Effect.promise(async () => {
        let text = ""
        for await (const part of await gemini(vendorUrl).models.generateContentStream({
          model,
          contents: "hi"
        })) {
          text += part.text
        }
        return text
      })
      assert.strictEqual(text, "good day")
    }).pipe(Effect.scoped)
  )
})

it.live("Anthropic: an image's address is passed on, and a limit is always sent", () =>
  Effect.gen(function* () {
    const server = yield* start("anthropic")
    const url = "https://example.com/cat.png"
    const messages = user([{ type: "image_url", image_url: { url } }])
    yield* server.json(ChatResponse, CHAT, { json: { model: "mine", messages } })
    const { body } = server.requests.at(-1) ?? {}
    assert.deepStrictEqual(body?.["messages"], [
      { role: "user", content: [{ type: "image", source: { type: "url", url } }] }
    ])
    assert.isNumber(body?.["max_tokens"])
  }).pipe(Effect.scoped)
)

it.live("Anthropic: an account without credit is ours, and an overload in a stream is an error", () =>
  Effect.gen(function* () {
    const server = yield* start("anthropic")
    const poor = yield* server.call(CHAT, { json: { model: "mine", messages: user("no credit") } })
    assert.strictEqual(poor.status, 502)
    assert.include((yield* errorOf(poor)).message, "balance of this server's")
    const broken = yield* server.call(CHAT, {
      json: { model: "mine", messages: user("overload"), stream: true }
    })
    const data = dataOf(yield* Effect.promise(() => broken.text()))
    assert.include(data.at(-1), "Overloaded")
    assert.notInclude(data, "[DONE]")
  }).pipe(Effect.scoped)
)

it.live("Google: a blocked prompt is an empty answer, and a cut stream does not end with [DONE]", () =>
  Effect.gen(function* () {
    const server = yield* start("google")
    const json = { model: "mine", messages: user("blocked") }
    const answer = yield* server.json(ChatResponse, CHAT, { json })
    assert.strictEqual(answer.choices[0]?.finish_reason, "content_filter")
    const chunks = yield* server.events(ChatChunk, CHAT, { json: { ...json, stream: true } })
    assert.strictEqual(chunks[0]?.choices[0]?.finish_reason, "content_filter")
    const cut = yield* server.call(CHAT, { json: { model: "mine", messages: user("cut"), stream: true } })
    assert.notInclude(yield* Effect.promise(() => cut.text()), "[DONE]")
  }).pipe(Effect.scoped)
)
