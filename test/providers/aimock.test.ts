/**
 * The dialects against a fake that others wrote: `@copilotkit/aimock`. It lacks what these dialects call and is left out here:
 * Gemini's embeddings in batches, and Cohere's first version of rerank. Ollama, Mistral and other compatible servers get
 * OpenAI's requests from their dialects.
 */
import { assert, describe, it } from "@effect/vitest"
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock"
import { apiKey, Gateway, RETRY_NEVER } from "@sluice/core"
import { Context, Duration, Effect, Layer, Stream } from "effect"
import OpenAI from "openai"
import { Providers } from "../../packages/providers/src/index.ts"
import { PNG } from "./fakes/MediaVendor.ts"
import { startWith } from "./VendorServer.ts"

const KEY = "sk-aimock-0123456789"

/** Under the names that each vendor gives them. */
const usage = {
  prompt_tokens: 5,
  completion_tokens: 2,
  input_tokens: 5,
  output_tokens: 2,
  promptTokenCount: 5,
  candidatesTokenCount: 2
}
const CALLS = [
  { name: "weather", arguments: '{"city":"Oslo"}' },
  { name: "time", arguments: "{}" }
]
const FILM = "https://files.example/film.mp4"
const VECTOR = [0.5, -1, 2]

const hasResults = ({ messages }: ChatCompletionRequest) => messages.some(({ role }) => role === "tool")

const start = Effect.acquireRelease(
  Effect.promise(async () => {
    const mock = new LLMock({ chunkSize: 4, falQueue: { pollsBeforeInProgress: 1 } })
    mock.onMessage("hello", { content: "good day", usage })
    mock.onMessage("at length", { content: "good", finishReason: "length" })
    mock.on({ userMessage: "weather", predicate: hasResults }, { content: "rain" })
    // Gemini's reason is `STOP`. The fake's own, `FUNCTION_CALL`, is not in Google's list.
    mock.on({ userMessage: "weather", model: "google-model" }, { toolCalls: CALLS, finishReason: "stop" })
    mock.onMessage("weather", { toolCalls: CALLS })
    mock.onMessage("too fast", {
      error: { message: "slow down", type: "rate_limit_error" },
      status: 429,
      retryAfter: 7
    })
    mock.onMessage("wrong", { error: { message: "no seed", type: "invalid_request_error" }, status: 400 })
    mock.onEmbedding("lock", { embedding: VECTOR })
    mock.onRerank("water", [
      { index: 1, relevance_score: 0.9 },
      { index: 0, relevance_score: 0.1 }
    ])
    mock.onImage("lock", { images: [{ b64Json: PNG.toString("base64") }] })
    mock.onVideo("film", { video: { id: "v1", status: "completed", url: FILM } })
    mock.onFalVideo("fal-ai/veo3", { video: { id: "v1", status: "completed", url: FILM } })
    await mock.start()
    return mock
  }),
  (mock) => Effect.promise(() => mock.stop())
)

/** Its address of a vendor. Google's client calls version `v1`, and the fake has the one before. */
const ADDRESSES = {
  openai: "",
  anthropic: "",
  google: "/v1beta",
  cohere: "",
  openrouter: "/api/v1"
} as const
type Vendor = keyof typeof ADDRESSES

/** A gateway that lives as long as the test. */
const build = <E>(layer: Layer.Layer<Gateway, E>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, Gateway))

const gatewayOf = (vendor: Vendor, url: string) =>
  build(Providers[vendor].gateway({ url: url + ADDRESSES[vendor], apiKey: apiKey(KEY), retry: RETRY_NEVER }))

const asking = (vendor: Vendor, content: string) => ({
  model: `${vendor}-model`,
  messages: [{ role: "user" as const, content }]
})

describe.each(Object.keys(ADDRESSES) as Array<Vendor>)("%s, chat", (vendor) => {
  it.live("answers, with its usage and why it stopped", () =>
    Effect.gen(function* () {
      const { url } = yield* start
      const { chat } = yield* gatewayOf(vendor, url)
      const answer = yield* chat(asking(vendor, "hello"))
      assert.deepInclude(answer, { text: "good day", finishReason: "stop", promptTokens: 5 })
      assert.strictEqual(answer.totalTokens, 7)
      assert.strictEqual((yield* chat(asking(vendor, "at length"))).finishReason, "length")
    }).pipe(Effect.scoped)
  )

  it.live("streams", () =>
    Effect.gen(function* () {
      const { url } = yield* start
      const { chatStream } = yield* gatewayOf(vendor, url)
      const parts = yield* Stream.runCollect(chatStream(asking(vendor, "hello")))
      const texts = parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []))
      assert.deepStrictEqual(texts, ["good", " day"])
      assert.deepInclude(parts.at(-1), { type: "end", finishReason: "stop", promptTokens: 5, totalTokens: 7 })
    }).pipe(Effect.scoped)
  )

  it.live("fails as the vendor does", () =>
    Effect.gen(function* () {
      const { url } = yield* start
      const { chat, chatStream } = yield* gatewayOf(vendor, url)
      const limited = yield* Effect.flip(chat(asking(vendor, "too fast")))
      assert.strictEqual(limited.reason._tag, "RateLimited")
      assert.strictEqual(limited.retryAfter && Duration.toSeconds(limited.retryAfter), 7)
      const { reason } = yield* Effect.flip(Stream.runDrain(chatStream(asking(vendor, "wrong"))))
      assert.deepInclude(reason, { _tag: "InvalidRequest", message: "no seed" })
    }).pipe(Effect.scoped)
  )

  it.live("calls tools, at once and streamed, and gets their results", () =>
    Effect.gen(function* () {
      const mock = yield* start
      const models = [{ id: `${vendor}-model`, operation: "chat" }]
      const server = yield* startWith([{ dialect: vendor, url: mock.url + ADDRESSES[vendor], models }])
      const client = new OpenAI({
        baseURL: `${server.url}/v1`,
        apiKey: server.secrets.apiKey,
        maxRetries: 0
      })
      const parameters = { type: "object", properties: { city: { type: "string" } } }
      const tools = ["weather", "time"].map((name) => ({
        type: "function" as const,
        function: { name, parameters }
      }))
      const request = { ...asking(vendor, "the weather"), tools }
      const { choices } = yield* Effect.promise(() => client.chat.completions.create(request))
      const streamed = yield* Effect.promise(() =>
        client.chat.completions.stream(request).finalChatCompletion()
      )
      for (const choice of [choices[0], streamed.choices[0]]) {
        assert.isDefined(choice)
        assert.strictEqual(choice.finish_reason, "tool_calls")
        const calls = choice.message.tool_calls?.map((call) => call.type === "function" && call.function)
        assert.deepEqual<unknown>(calls, CALLS)
      }
      const { message } = choices[0] ?? {}
      assert.isDefined(message)
      const results = (message.tool_calls ?? []).map(({ id }) => ({
        role: "tool" as const,
        tool_call_id: id,
        content: "rain"
      }))
      const messages = [...request.messages, message, ...results]
      const second = yield* Effect.promise(() => client.chat.completions.create({ ...request, messages }))
      assert.strictEqual(second.choices[0]?.message.content, "rain")
      const received = mock.getLastRequest()?.body as ChatCompletionRequest
      const [question, answer, ...given] = received.messages
      assert.strictEqual(question?.role, "user")
      assert.deepEqual<unknown>(
        answer?.tool_calls?.map((call) => call.function),
        CALLS
      )
      assert.deepStrictEqual(
        given.map(({ content, role }) => [role, content]),
        // Gemini takes objects only.
        CALLS.map(() => ["tool", vendor === "google" ? '{"output":"rain"}' : "rain"])
      )
    }).pipe(Effect.scoped)
  )
})

describe("other operations", () => {
  const startWithGateway = (vendor: Vendor) => Effect.flatMap(start, ({ url }) => gatewayOf(vendor, url))

  it.live.each(["openai", "cohere"] as const)("%s embeds", (vendor) =>
    Effect.gen(function* () {
      const { embeddings } = yield* startWithGateway(vendor)
      const { vectors } = yield* embeddings({ model: "m", input: ["a lock", "the lock"] })
      assert.deepStrictEqual(
        vectors.map((vector) => [...vector]),
        [VECTOR, VECTOR]
      )
    }).pipe(Effect.scoped)
  )

  it.live("cohere reranks", () =>
    Effect.gen(function* () {
      const { rerank } = yield* startWithGateway("cohere")
      const { results } = yield* rerank({ model: "m", query: "water", documents: ["a", "b"] })
      assert.deepStrictEqual(
        results.map(({ index, score }) => [index, score]),
        [
          [1, 0.9],
          [0, 0.1]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["openai", "gpt-image-1", undefined],
    ["openai", "gpt-image-1", `data:image/png;base64,${PNG.toString("base64")}`],
    ["google", "imagen-4.0-generate-001", undefined]
  ] as const)("%s draws with %s, image %s", ([vendor, model, image]) =>
    Effect.gen(function* () {
      const gateway = yield* startWithGateway(vendor)
      const request = { model, prompt: "a lock", ...(image !== undefined && { image: [image] }) }
      const { images } = yield* gateway.images.create(request)
      assert.deepStrictEqual(
        images.map(({ base64 }) => base64),
        [PNG.toString("base64")]
      )
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["google", "veo-3.1-generate-preview"],
    ["fal", "fal-ai/veo3"]
  ] as const)("%s makes a video, which is finished later", ([vendor, model]) =>
    Effect.gen(function* () {
      const { url } = yield* start
      const fal = { url: `${url}/fal`, headers: { "x-fal-target-host": "queue.fal.run" } }
      const { videos } = yield* vendor === "google"
        ? gatewayOf(vendor, url)
        : build(Providers.fal.gateway({ ...fal, apiKey: apiKey(KEY) }))
      const request = { model, prompt: "a film", group: "V-A", size: "1280x720", seconds: "8" } as const
      const { id, status } = yield* videos.create(request)
      assert.strictEqual(status, "in_progress")
      const states = yield* Effect.forEach([1, 2, 3], () => videos.get(id))
      assert.strictEqual(states.at(-1)?.status, "completed")
    }).pipe(Effect.scoped)
  )
})
