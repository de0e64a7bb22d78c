/** The `openai` package, unchanged, against the server: embeddings, chat, models, and the package's typed errors. */
import { assert, layer } from "@effect/vitest"
import { makeDataUri } from "@sluice/core/media"
import { Effect } from "effect"
import OpenAI, {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError
} from "openai"
import { testServer, TestServer } from "../demo-server/TestServer.ts"
import { png, RED } from "../laws/Pictures.ts"
import {
  keyOfElsewhere,
  keyOfOneModel,
  keyWithoutQuota,
  limitedServer,
  type Target,
  thrown,
  tooMuch,
  using
} from "./Clients.ts"

const openai = ({ apiKey, url }: Target) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })
const call = using(openai)

const embedder = "sluice-lexical-1024"
const texts = ["A lock lifts boats.", "水闸把船升高。", "🚣‍♀️"]
const question = {
  model: "sluice-extractive",
  messages: [
    { role: "system" as const, content: "The last ferry leaves at nine. The museum is closed on Mondays." },
    { role: "user" as const, content: "When does the last ferry leave?" }
  ]
}

layer(testServer(), { excludeTestServices: true })("openai", (it) => {
  it.effect("embeddings: base64 and floats give the same vectors for one text or many", () =>
    call(async (client) => {
      const usual = await client.embeddings.create({ model: embedder, input: texts })
      const floats = await client.embeddings.create({
        model: embedder,
        input: texts,
        encoding_format: "float"
      })
      assert.deepStrictEqual(
        usual.data.map(({ index }) => index),
        [0, 1, 2]
      )
      for (const [at, { embedding }] of usual.data.entries()) {
        assert.lengthOf(embedding, 1024)
        assert.deepStrictEqual(
          Array.from(embedding, Math.fround),
          Array.from(floats.data[at]?.embedding ?? [], Math.fround)
        )
      }
      assert.strictEqual(usual.object, "list")
      assert.strictEqual(usual.model, embedder)
      assert.isAbove(usual.usage.prompt_tokens, 0)
      const one = await client.embeddings.create({ model: embedder, input: texts[0] ?? "" })
      assert.deepStrictEqual(one.data[0]?.embedding, usual.data[0]?.embedding)
    })
  )

  it.effect("embeddings: accepts only the model's dimension", () =>
    call(async (client) => {
      const { data } = await client.embeddings.create({ model: embedder, input: "a", dimensions: 1024 })
      assert.lengthOf(data[0]?.embedding ?? [], 1024)
      const error = await thrown(client.embeddings.create({ model: embedder, input: "a", dimensions: 256 }))
      assert.instanceOf(error, BadRequestError)
      assert.strictEqual(error.param, "dimensions")
      assert.include(error.message, "1024")
    })
  )

  it.effect("chat: returns a completion with usage", () =>
    call(async (client) => {
      const answer = await client.chat.completions.create(question)
      assert.strictEqual(answer.object, "chat.completion")
      assert.include(answer.choices[0]?.message.content, "nine")
      assert.strictEqual(answer.choices[0]?.message.role, "assistant")
      assert.strictEqual(answer.choices[0]?.finish_reason, "stop")
      const { completion_tokens, prompt_tokens, total_tokens } = answer.usage ?? assert.fail("no usage")
      assert.strictEqual(total_tokens, prompt_tokens + completion_tokens)
      assert.isAbove(completion_tokens, 0)
      for (const limit of [{ max_tokens: 1 }, { max_completion_tokens: 1 }]) {
        const short = await client.chat.completions.create({ ...question, ...limit })
        assert.strictEqual(short.choices[0]?.finish_reason, "length")
      }
    })
  )

  it.effect("chat: streams the same text and sends usage last", () =>
    call(async (client) => {
      const whole = await client.chat.completions.create(question)
      const stream = client.chat.completions.stream({ ...question, stream_options: { include_usage: true } })
      const pieces: Array<string> = []
      stream.on("content", (piece) => pieces.push(piece))
      const last = await stream.finalChatCompletion()
      assert.strictEqual(pieces.join(""), whole.choices[0]?.message.content)
      assert.strictEqual(last.choices[0]?.finish_reason, "stop")
      assert.deepStrictEqual(last.usage, whole.usage)
    })
  )

  it.effect("chat: accepts tool results and rejects a message without text", () =>
    call(async (client) => {
      const called = { id: "1", type: "function" as const, function: { name: "timetable", arguments: "{}" } }
      const [, asked] = question.messages
      const answer = await client.chat.completions.create({
        model: question.model,
        messages: [
          asked ?? assert.fail("no question"),
          { role: "assistant", content: null, tool_calls: [called] },
          { role: "tool", tool_call_id: "1", content: "The last ferry leaves at eleven." }
        ]
      })
      assert.include(answer.choices[0]?.message.content, "eleven")
      const error = await thrown(
        client.chat.completions.create({
          model: question.model,
          messages: [{ role: "assistant", content: null }]
        })
      )
      assert.instanceOf(error, BadRequestError)
      assert.strictEqual(error.param, "messages.0.content")
    })
  )

  it.effect("chat: the server survives an aborted stream", () =>
    call(async (client) => {
      const line = "The ferry leaves at nine and the lock opens at ten."
      const content = `${Array.from({ length: 3000 }, (_, at) => `${line} It is boat ${at}.`).join(" ")}\n\nWhen does the ferry leave?`
      const messages = [{ role: "user" as const, content }]
      const stream = await client.chat.completions.create({ ...question, messages, stream: true })
      let seen = 0
      for await (const _ of stream) {
        seen += 1
        break
      }
      assert.strictEqual(seen, 1)
      assert.isTrue(stream.controller.signal.aborted)
      const aborted = new AbortController()
      aborted.abort()
      const error = await thrown(client.chat.completions.create(question, { signal: aborted.signal }))
      assert.instanceOf(error, APIUserAbortError)
      assert.include((await client.chat.completions.create(question)).choices[0]?.message.content, "nine")
    })
  )

  it.effect("chat: answers about an image and rejects a GIF and a private address", () =>
    call(async (client) => {
      const ask = (url: string) =>
        client.chat.completions.create({
          model: "sluice-ocr",
          max_tokens: 100,
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "Which colours does it have?" },
                { type: "image_url", image_url: { url, detail: "low" } }
              ]
            }
          ]
        })
      const answer = await ask(makeDataUri("image/png", png(RED)))
      assert.match(answer.choices[0]?.message.content ?? "", /red|#/i)
      assert.isAbove(answer.usage?.prompt_tokens ?? 0, 85)
      for (const url of ["data:image/gif;base64,R0lGODlhAQABAAAAACw=", "http://127.0.0.1:1/a.png"]) {
        assert.instanceOf(await thrown(ask(url)), BadRequestError)
      }
    })
  )

  it.effect("models: lists every model with its owner", () =>
    call(async (client) => {
      const ids: Array<string> = []
      for await (const { id, object, owned_by } of client.models.list()) {
        assert.strictEqual(object, "model")
        assert.isNotEmpty(owned_by)
        ids.push(id)
      }
      assert.includeMembers(ids, [embedder, "sluice-extractive", "sluice-image-i1", "sluice-video-v-a"])
    })
  )

  it.effect("does not retry an error that is not retryable", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* TestServer
      let asked = 0
      const client = new OpenAI({
        apiKey: secrets.apiKey,
        baseURL: `${url}/v1`,
        fetch: (input, init) => {
          asked += 1
          return fetch(input, init)
        }
      })
      const gone = yield* Effect.promise(() =>
        thrown(client.embeddings.create({ model: "none", input: "a" }))
      )
      assert.instanceOf(gone, NotFoundError)
      assert.strictEqual(asked, 1)
    })
  )

  it.effect("idempotency key: replays the same call and rejects a different body", () =>
    call(async (client) => {
      const options = { headers: { "idempotency-key": "7b1c6f0e" } }
      const first = await client.chat.completions.create(question, options)
      const again = await client.chat.completions.create(question, options)
      assert.strictEqual(again.id, first.id)
      const other = await thrown(client.chat.completions.create({ ...question, max_tokens: 1 }, options))
      assert.instanceOf(other, UnprocessableEntityError)
    })
  )

  it.effect("throws its typed errors with status, code, param and request id", () =>
    Effect.gen(function* () {
      const bad = yield* call((client) =>
        thrown(client.chat.completions.create({ ...question, messages: [] }))
      )
      assert.instanceOf(bad, BadRequestError)
      assert.deepInclude(bad, { status: 400, param: "messages", type: "invalid_request_error" })
      assert.match(bad.requestID ?? "", /^req_/)

      const wrong = yield* call((client) => thrown(client.models.list()), "sk-unknown")
      assert.instanceOf(wrong, AuthenticationError)
      assert.strictEqual(wrong.code, "invalid_api_key")

      const gone = yield* call((client) => thrown(client.embeddings.create({ model: "none", input: "a" })))
      assert.instanceOf(gone, NotFoundError)
      assert.strictEqual(gone.code, "model_not_found")
      const chat = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Who?" }] }
      const other = yield* call((client) => thrown(client.chat.completions.create(chat)))
      assert.match(String(other), /Use .* or sluice\/default/)

      const key = yield* keyOfElsewhere
      const refused = yield* call((client) => thrown(client.models.list()), key)
      assert.instanceOf(refused, PermissionDeniedError)
      assert.strictEqual(refused.code, "address_not_allowed")

      const narrow = yield* keyOfOneModel
      const [one] = yield* call(async (client) => (await client.models.list()).data, narrow)
      assert.strictEqual(one?.id, embedder)
      const kept = yield* call((client) => thrown(client.chat.completions.create(question)), narrow)
      assert.instanceOf(kept, PermissionDeniedError)
      assert.strictEqual(kept.code, "model_not_allowed")

      const poor = yield* call(
        (client) => thrown(client.chat.completions.create(question)),
        yield* keyWithoutQuota
      )
      assert.instanceOf(poor, PermissionDeniedError)
      assert.deepInclude(poor, { code: "insufficient_quota", type: "insufficient_quota" })

      const busy = openai(yield* limitedServer)
      const limited = yield* Effect.promise(() => tooMuch(() => busy.chat.completions.create(question)))
      assert.instanceOf(limited, RateLimitError)
      assert.isAtLeast(Number(limited.headers.get("retry-after")), 1)
      assert.strictEqual(limited.headers.get("x-ratelimit-remaining-requests"), "0")
    }).pipe(Effect.scoped)
  )
})
