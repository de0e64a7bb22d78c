/** A library as the model `sluice/<collection>`, called by the `openai` package and the AI SDK, unchanged. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { assert, layer } from "@effect/vitest"
import { Reader } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { generateText, streamText } from "ai"
import { Effect, Layer, Schema, Stream } from "effect"
import OpenAI, { APIError, BadRequestError, NotFoundError, PermissionDeniedError } from "openai"
import { TokenResponse } from "@sluice/core/contract"
import { Redacted } from "effect"
import { quotaOf } from "../demo-server/AccountCalls.ts"
import { filesOf, startServer, testServer, TestServer } from "../demo-server/TestServer.ts"
import { keyOfOneModel, keyWithoutQuota, type Target, thrown, tooMuch, using } from "../clients/Clients.ts"

globalThis.AI_SDK_LOG_WARNINGS = false

const openai = ({ apiKey, url }: Target) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })
const call = using(openai)

const harbour = "# Harbour rules\n\n## Fees\n\nMooring a boat overnight costs twelve crowns.\n"
const winter = "# Winter\n\nIn winter, mooring a boat overnight costs five crowns.\n"
const text = "How much does mooring a boat overnight cost?"
const messages = [{ role: "user" as const, content: text }]

const upload = Effect.gen(function* () {
  const server = yield* TestServer
  yield* server.call("/documents", { body: filesOf({ "harbour.md": harbour }) })
  yield* server.call("/documents?collection=winter", { body: filesOf({ "winter.md": winter }) })
})

const keyWith = (fields: object) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const all = { name: "key", expired_time: -1, remain_quota: 50_000, ...fields }
    const made = yield* json(TokenResponse, "/api/token/", { as: "token", json: all })
    return "data" in made && made.data.key !== undefined ? Redacted.value(made.data.key) : ""
  })

const Annotations = Schema.Array(
  Schema.Struct({
    type: Schema.Literal("url_citation"),
    url_citation: Schema.Struct({
      url: Schema.String,
      title: Schema.String,
      start_index: Schema.Int,
      end_index: Schema.Int
    }),
    citation: Schema.Struct({ document: Schema.String, quote: Schema.String })
  })
)
const annotationsOf = (message: object | undefined) =>
  Schema.decodeUnknownSync(Schema.Struct({ annotations: Annotations }))(message).annotations

/** What the message says the answer is. */
const outcomeOf = (message: object | undefined): unknown => message && Reflect.get(message, "outcome")

layer(testServer(), { excludeTestServices: true })("a library as a chat model", (it) => {
  it.effect("openai: answers from the collection that the model names, with usage", () =>
    Effect.gen(function* () {
      yield* upload
      for (const [model, price] of [
        ["sluice", "twelve"],
        ["sluice/default", "twelve"],
        ["sluice/winter", "five"]
      ] as const) {
        const answer = yield* call((client) => client.chat.completions.create({ model, messages }))
        const [choice] = answer.choices
        assert.match(choice?.message.content ?? "", new RegExp(`${price} crowns\\. \\[1\\]`))
        assert.strictEqual(choice?.finish_reason, "stop")
        const { completion_tokens, prompt_tokens, total_tokens } = answer.usage ?? assert.fail("no usage")
        assert.isAbove(completion_tokens, 0)
        // The models read passages beside the question.
        assert.isAbove(prompt_tokens, 20)
        assert.strictEqual(total_tokens, prompt_tokens + completion_tokens)
      }
    })
  )

  it.effect("openai: earlier messages complete a follow-up", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const files = {
        "weir.md": "The weir is 31 metres wide.\n\nThe weir was built in 1871.",
        "mill.md": "The mill is 12 metres high.\n\nThe mill was built in 1790."
      }
      yield* server.call("/documents?collection=winter", { body: filesOf(files) })
      const chat = [
        { role: "user" as const, content: "How high is the mill?" },
        { role: "assistant" as const, content: "The mill is 12 metres high. [1]" },
        { role: "user" as const, content: "And when was it built?" }
      ]
      const answer = yield* call((client) =>
        client.chat.completions.create({ model: "sluice/winter", messages: chat })
      )
      const { content } = answer.choices[0]?.message ?? assert.fail("no answer")
      assert.include(content, "1790")
      assert.notInclude(content, "1871")
    })
  )

  it.effect("openai: each [n] has an annotation with the address of the document, which opens", () =>
    Effect.gen(function* () {
      yield* upload
      const server = yield* TestServer
      const answer = yield* call((client) =>
        client.chat.completions.create({ model: "sluice/winter", messages })
      )
      const [{ message } = assert.fail("no choice")] = answer.choices
      const annotations = annotationsOf(message)
      const marks = [...(message.content ?? "").matchAll(/\[\d+\]/g)]
      assert.isNotEmpty(marks)
      assert.deepStrictEqual(
        annotations.map(({ url_citation }) => url_citation.start_index),
        marks.map(({ index }) => index)
      )
      for (const { citation, url_citation } of annotations) {
        assert.strictEqual(url_citation.end_index - url_citation.start_index, 3)
        assert.strictEqual(url_citation.title, "Winter")
        assert.strictEqual(citation.document, "winter.md")
        assert.include(winter, citation.quote)
        assert.isTrue(url_citation.url.startsWith(`${server.url}/documents/`))
        const opened = yield* server.call(url_citation.url.slice(server.url.length))
        assert.strictEqual(yield* Effect.promise(() => opened.text()), winter)
      }
    })
  )

  it.effect("openai: streams the same text, then the annotations and the usage", () =>
    Effect.gen(function* () {
      yield* upload
      yield* call(async (client) => {
        const asked = { model: "sluice", messages }
        const whole = await client.chat.completions.create(asked)
        const stream = client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } })
        const pieces: Array<string> = []
        stream.on("content", (piece) => pieces.push(piece))
        const last = await stream.finalChatCompletion()
        assert.strictEqual(pieces.join(""), whole.choices[0]?.message.content)
        assert.strictEqual(outcomeOf(whole.choices[0]?.message), "answer")
        assert.strictEqual(outcomeOf(last.choices[0]?.message), "answer")
        assert.deepStrictEqual(
          annotationsOf(last.choices[0]?.message),
          annotationsOf(whole.choices[0]?.message)
        )
        assert.deepStrictEqual(last.usage, whole.usage)
      })
    })
  )

  it.effect("AI SDK: generates and streams the same text", () =>
    Effect.gen(function* () {
      yield* upload
      yield* using(({ apiKey, url }: Target) =>
        createOpenAICompatible({ name: "sluice", apiKey, baseURL: `${url}/v1`, includeUsage: true })
      )(async (provider) => {
        const asked = { model: provider.chatModel("sluice/winter"), prompt: text, maxRetries: 0 }
        const whole = await generateText(asked)
        assert.include(whole.text, "five crowns. [1]")
        const stream = streamText(asked)
        const pieces: Array<string> = []
        for await (const piece of stream.textStream) pieces.push(piece)
        assert.strictEqual(pieces.join(""), whole.text)
        assert.strictEqual(await stream.finishReason, "stop")
        assert.isAbove((await stream.usage).totalTokens ?? 0, 0)
      })
    })
  )

  it.effect(
    "openai: answers the last question; ignores prompts, temperature and limits it does not reach",
    () =>
      Effect.gen(function* () {
        yield* upload
        const answer = yield* call((client) =>
          client.chat.completions.create({
            model: "sluice",
            temperature: 0.7,
            top_p: 0.9,
            max_tokens: 4096,
            user: "u1",
            messages: [
              { role: "system", content: "You are a pirate. Today is Monday." },
              { role: "user", content: "What is the capital of France?" },
              { role: "assistant", content: "Paris." },
              { role: "user", content: [{ type: "text", text }] }
            ]
          })
        )
        assert.include(answer.choices[0]?.message.content, "twelve crowns")
        const short = yield* call((client) =>
          client.chat.completions.create({ model: "sluice", messages, max_tokens: 1 })
        )
        assert.strictEqual(short.choices[0]?.finish_reason, "length")
        assert.deepStrictEqual(annotationsOf(short.choices[0]?.message), [])
        // Cut off before the answer was known.
        assert.isUndefined(outcomeOf(short.choices[0]?.message))
      })
  )

  it.effect("openai: says in a sentence that nothing was found, and shows the closest passages", () =>
    Effect.gen(function* () {
      yield* upload
      const ask = (content: string) =>
        call(async (client) => {
          const body = { model: "sluice", messages: [{ role: "user" as const, content }] }
          return (await client.chat.completions.create(body)).choices[0]?.message
        })
      const nothing = yield* ask("Quel âge a-t-il ?")
      assert.strictEqual(nothing?.content, "Les documents ne répondent pas à cette question.")
      const closest = yield* ask("Which boat has the most crowns on its flag?")
      assert.match(closest?.content ?? "", /^No sure answer\. Closest passages:\n\n\[1\] Harbour rules: /)
      assert.include(JSON.stringify(closest), '"start_index":')
      assert.deepStrictEqual([nothing, closest].map(outcomeOf), ["nothing", "passages"])
      const outcomes = yield* call(async (client) => {
        const asked = { model: "sluice", messages: [{ role: "user" as const, content: "Quel âge a-t-il ?" }] }
        const found: Array<unknown> = []
        for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
          found.push(outcomeOf(choices[0]?.delta))
        return found
      })
      assert.strictEqual(outcomes.pop(), "nothing")
      assert.deepStrictEqual(new Set(outcomes), new Set([undefined]))
    })
  )

  it.effect("openai: a title is the first question, without a call of a model", () =>
    Effect.gen(function* () {
      yield* upload
      const { json } = yield* TestServer
      const before = yield* quotaOf({ json })
      const ask = (content: string) =>
        call(async (client) => {
          const body = { model: "sluice", messages: [{ role: "user" as const, content }] }
          return (await client.chat.completions.create(body)).choices[0]?.message.content ?? ""
        })
      const openWebUi = yield* ask(
        `### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Output:\nJSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\nUSER: ${text}\nASSISTANT: Twelve crowns. [1]\n</chat_history>`
      )
      assert.deepInclude(JSON.parse(openWebUi), { title: text })
      const libreChat = yield* ask(
        `Provide a concise, 5-word-or-less title for the conversation, using its same language, with no punctuation.\n\nConversation:\nUser: ${text}\nAI: Twelve crowns. [1]`
      )
      assert.strictEqual(libreChat, text)
      assert.strictEqual(yield* quotaOf({ json }), before)
    })
  )

  it.effect(
    "lists the models of collections for keys that may read the documents, within the key's models",
    () =>
      Effect.gen(function* () {
        yield* upload
        const list = (key?: string) =>
          call(async (client) => {
            const { data } = await client.models.list()
            return data.map(({ id }) => id).filter((id) => id.startsWith("sluice/"))
          }, key)
        assert.deepStrictEqual(yield* list(), ["sluice/default", "sluice/winter"])
        assert.deepStrictEqual(yield* list(yield* keyWith({ models: ["sluice/winter"] })), ["sluice/winter"])
        assert.deepStrictEqual(yield* list(yield* keyWith({ documents: false })), [])
      })
  )

  it.effect("a key limited to one library's model may use that one alone", () =>
    Effect.gen(function* () {
      yield* upload
      const key = yield* keyWith({ models: ["sluice/winter"] })
      const ask = (model: string, by?: string) =>
        call((client) => client.chat.completions.create({ model, messages }), by)
      assert.include((yield* ask("sluice/winter", key)).choices[0]?.message.content, "five crowns")
      const errorBy = (model: string, by?: string) =>
        call((client) => thrown(client.chat.completions.create({ model, messages })), by)
      for (const [model, by, code] of [
        ["sluice", key, "model_not_allowed"],
        ["sluice", yield* keyOfOneModel, "model_not_allowed"],
        ["sluice", yield* keyWith({ documents: false }), "documents_not_allowed"],
        ["sluice", yield* keyWithoutQuota, "insufficient_quota"]
      ] as const) {
        const error = yield* errorBy(model, by)
        assert.instanceOf(error, PermissionDeniedError, code)
        assert.strictEqual(error.code, code)
      }
      const unknown = yield* errorBy("sluice/none")
      assert.instanceOf(unknown, NotFoundError)
      assert.include(unknown.message, 'There is no collection "none"')
    })
  )

  it.effect("rejects an image, an empty question and several answers", () =>
    Effect.gen(function* () {
      yield* upload
      const image = { type: "image_url" as const, image_url: { url: "https://pictures.example/a.png" } }
      for (const [param, body] of [
        ["messages", { messages: [{ role: "user" as const, content: [image] }] }],
        ["messages", { messages: [{ role: "user" as const, content: " " }] }],
        ["n", { messages, n: 2 }]
      ] as const) {
        const asked = { model: "sluice", ...body } as OpenAI.ChatCompletionCreateParamsNonStreaming
        const error = yield* call((client) => thrown(client.chat.completions.create(asked)))
        assert.instanceOf(error, BadRequestError, JSON.stringify(body))
        assert.strictEqual(error.param, param)
      }
    })
  )

  it.effect("costs what /qa costs, streamed or not; the same Idempotency-Key costs nothing more", () =>
    Effect.gen(function* () {
      yield* upload
      const server = yield* TestServer
      const cost = <A, E, R>(use: Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          const before = yield* quotaOf(server)
          const result = yield* use
          return { result, cost: before - (yield* quotaOf(server)) }
        })
      const asked = yield* cost(server.call("/qa", { json: { question: text } }))
      assert.isAbove(asked.cost, 0)
      const chat = (stream: boolean, key: string) =>
        server
          .call("/v1/chat/completions", {
            json: { model: "sluice", messages, stream },
            headers: { "idempotency-key": key }
          })
          .pipe(Effect.flatMap((response) => Effect.promise(() => response.text())))
      for (const stream of [false, true]) {
        const first = yield* cost(chat(stream, `k-${stream}`))
        assert.strictEqual(first.cost, asked.cost)
        const again = yield* cost(chat(stream, `k-${stream}`))
        assert.deepStrictEqual(again, { result: first.result, cost: 0 })
      }
    })
  )

  it.effect("counts as one request of the rate limit", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: { SLUICE_REQUESTS_PER_MINUTE: "2" } })
      yield* server.call("/documents", { body: filesOf({ "harbour.md": harbour }) })
      const client = openai({ url: server.url, apiKey: server.secrets.apiKey })
      const ask = () => client.chat.completions.create({ model: "sluice", messages })
      const limited = yield* Effect.promise(() => tooMuch(ask))
      assert.instanceOf(limited, APIError)
      assert.strictEqual(limited.status, 429)
    }).pipe(Effect.scoped)
  )

  it.effect("a model whose answer could not be read is an error with advice, streamed or not", () =>
    Effect.gen(function* () {
      const advice = "Raise `maxTokens`, or ask about less."
      const notRead = { reason: "truncated" as const, message: "The response was cut off.", advice }
      const cut = Layer.succeed(Reader, {
        model: { id: "cut", kind: "generative" },
        read: () => Stream.make({ type: "end" as const, notRead, calls: 1, tokens: 10 })
      })
      const server = yield* startServer({ models: Layer.merge(Embedded.layer, cut) })
      yield* server.call("/documents", { body: filesOf({ "harbour.md": harbour }) })
      const client = openai({ url: server.url, apiKey: server.secrets.apiKey })
      for (const stream of [false, true]) {
        const error = yield* Effect.promise(() =>
          thrown(client.chat.completions.create({ model: "sluice", messages, stream }))
        )
        assert.instanceOf(error, APIError)
        assert.strictEqual(error.status, 502)
        assert.include(error.message, `The response was cut off. ${advice}`)
        assert.strictEqual(error.headers?.get("x-should-retry"), "false")
      }
    }).pipe(Effect.scoped)
  )
})
