/** The counted usage of chats: tools, reasoning, refusals, several choices, empty responses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  startPaidServer,
  chat,
  CHAT_INPUT,
  codeOf,
  costs,
  events,
  piece,
  post,
  type Server
} from "./PaidServer.ts"
import { json } from "./Upstream.ts"

const CHAT = "/v1/chat/completions"
const streamed = { ...chat, stream: true }
const words = "one two three four five"
const called = (args: string) => ({ tool_calls: [{ index: 0, function: { name: "tide", arguments: args } }] })
const completion = (message: object, usage?: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message } }],
  ...(usage && { usage })
})
/** Headers of a new key with this quota. */
const keyWithQuota = (server: Server, quota: number) =>
  Effect.map(
    server.json(Schema.Struct({ data: Schema.Struct({ key: Schema.String }) }), "/api/token/", {
      as: "token",
      json: { name: "small", expired_time: -1, remain_quota: quota, subnet: "" }
    }),
    ({ data }) => ({ authorization: `Bearer ${data.key}` })
  )
const delta = (delta: object) => ({ choices: [{ index: 0, delta }] })

describe("a response without usage", () => {
  it.live("is counted in all fields with text, whole or streamed", () =>
    Effect.gen(function* () {
      let answer: unknown
      let pieces: ReadonlyArray<unknown> = []
      const { server } = yield* startPaidServer((response, { body }) => {
        if (!body.includes('"stream":true')) return json(response, answer)
        events(response, ...pieces)
        response.end("data: [DONE]\n\n")
      })
      for (const [message, tokens] of [
        [{ content: words }, 5],
        [called(words), 6],
        [{ function_call: { name: "tide", arguments: words } }, 6],
        [{ reasoning_content: words, content: "six" }, 6],
        [{ refusal: words }, 5],
        [{ content: [{ type: "text", text: words }] }, 5]
      ] as const) {
        answer = completion(message)
        yield* costs(server, post(server, CHAT, chat), CHAT_INPUT + tokens)
        pieces = [delta({ role: "assistant", content: null }), delta(message)]
        yield* costs(server, post(server, CHAT, streamed), CHAT_INPUT + tokens)
      }
      // One event may have several lines of data.
      pieces = [JSON.stringify(piece(words), null, 1).replaceAll("\n", "\ndata: ")]
      yield* costs(server, post(server, CHAT, streamed), CHAT_INPUT + 5)
      answer = completion({ content: words }, { prompt_tokens: CHAT_INPUT, completion_tokens: 0 })
      yield* costs(server, post(server, CHAT, chat), CHAT_INPUT + 5)
    }).pipe(Effect.scoped)
  )

  it.live("is refunded if the stream is empty", () =>
    Effect.gen(function* () {
      let pieces: ReadonlyArray<unknown> = []
      const { server } = yield* startPaidServer((response) => {
        events(response, ...pieces)
        response.end()
      })
      yield* costs(server, post(server, CHAT, streamed), 0)
      pieces = ["[DONE]"]
      yield* costs(server, post(server, CHAT, streamed), 0)
    }).pipe(Effect.scoped)
  )
})

describe("a chat request", () => {
  it.live("reserves and counts tools, schemas and names in addition to its texts", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) =>
        json(response, completion({ content: "six" }))
      )
      const headers = yield* keyWithQuota(server, 1500)
      const description = "word ".repeat(400)
      for (const more of [
        { tools: [{ type: "function", function: { name: "tide", description } }] },
        { response_format: { type: "json_schema", json_schema: { name: "x", description } } },
        { messages: [{ role: "user", name: description, content: "one two three" }] }
      ]) {
        const short = yield* post(server, CHAT, { ...chat, ...more }, { as: "none", headers })
        assert.deepStrictEqual([short.status, codeOf(short)], [403, "insufficient_quota"])
      }
      assert.isEmpty(requests())
      const tools = [{ type: "function", function: { name: "tide", description } }]
      const counted = Math.ceil(JSON.stringify({ tools }).length / 4)
      yield* costs(server, post(server, CHAT, { ...chat, tools }), CHAT_INPUT + 1 + counted)
      // Escapes make the body longer, but not the text.
      const spaced = JSON.stringify(chat, null, 40).replaceAll("o", "\\u006f")
      const whole = post(server, CHAT, undefined, {
        body: spaced,
        headers: { "content-type": "application/json" }
      })
      yield* costs(server, whole, CHAT_INPUT + 1)
    }).pipe(Effect.scoped)
  )

  it.live("reserves for each of `n` choices, and an invalid `n` is rejected", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) =>
        json(response, completion({ content: "six" }))
      )
      const headers = yield* keyWithQuota(server, 150)
      const ask = (n: unknown) => post(server, CHAT, { ...chat, n }, { as: "none", headers })
      assert.strictEqual((yield* ask(2)).status, 200)
      assert.strictEqual((yield* ask(3)).status, 403)
      const asking = requests().length
      for (const n of [0, -1, 1.5, "2", 129, true]) {
        const refused = yield* ask(n)
        assert.strictEqual(refused.status, 400)
        assert.include(refused.text, '"param":"n"')
      }
      assert.strictEqual(requests().length, asking)
      assert.strictEqual((yield* ask(null)).status, 200)
    }).pipe(Effect.scoped)
  )
})

it.live("the token limit keeps its name, and of two different limits the lower one is sent for both", () =>
  Effect.gen(function* () {
    const { requests, server } = yield* startPaidServer((response) =>
      json(response, completion({ content: words }))
    )
    const { max_tokens: _, ...unlimited } = chat
    const written = '{ "max_completion_tokens":5, "big":12345678901234567890, '
    const body = JSON.stringify(unlimited).replace("{", written)
    const headers = { "content-type": "application/json" }
    for (const stream of ["", ' "stream": false, "stream_options": null,']) {
      const sent = body.replace("{", `{${stream}`)
      assert.strictEqual((yield* server.call(CHAT, { body: sent, headers })).status, 200)
      assert.strictEqual(requests().at(-1)?.body, sent)
    }
    for (const limits of [
      { max_tokens: 7, max_completion_tokens: 1_000_000 },
      { max_tokens: 1_000_000, max_completion_tokens: 7 }
    ]) {
      yield* post(server, CHAT, { ...unlimited, ...limits })
      const sent: unknown = JSON.parse(requests().at(-1)?.body ?? "")
      assert.deepStrictEqual(sent, { ...unlimited, max_tokens: 7, max_completion_tokens: 7 })
    }
  }).pipe(Effect.scoped)
)
