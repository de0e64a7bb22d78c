/** `@langchain/openai` and `@langchain/cohere`, unchanged, against the server. */
import { assert, layer } from "@effect/vitest"
import { CohereRerank } from "@langchain/cohere"
import { Document } from "@langchain/core/documents"
import { HumanMessage, SystemMessage, type UsageMetadata } from "@langchain/core/messages"
import { ChatOpenAI, DallEAPIWrapper, OpenAIEmbeddings } from "@langchain/openai"
import { CohereClient } from "cohere-ai"
import { imageFormatOf, makeDataUri } from "@sluice/core/media"
import { Effect } from "effect"
import { testServer, TestServer } from "../demo-server/TestServer.ts"
import { png, RED } from "../laws/Pictures.ts"
import { keyOfElsewhere, limitedServer, type Target, thrown, tooMuch, using } from "../clients/Clients.ts"

const options = ({ apiKey, url }: Target) => ({
  apiKey,
  maxRetries: 0,
  configuration: { baseURL: `${url}/v1` }
})
const chat = (fields: object) =>
  using((target) => new ChatOpenAI({ model: "sluice-extractive", ...options(target), ...fields }))
const embeddings = (fields: object) =>
  using((target) => new OpenAIEmbeddings({ model: "sluice-lexical-1024", ...options(target), ...fields }))
const reranker = using(({ apiKey, url }) => {
  // The package's options have no field for a base URL.
  const client = new CohereClient({ environment: url, token: apiKey })
  return new CohereRerank({ client: client as never, model: "sluice-lexical-rerank", topN: 2 })
})

/** The package's types omit this field. */
const usageOf = (message: object): UsageMetadata | undefined =>
  "usage_metadata" in message ? (message.usage_metadata as UsageMetadata | undefined) : undefined

const messages = [
  new SystemMessage("The last ferry leaves at nine. The museum is closed on Mondays."),
  new HumanMessage("When does the last ferry leave?")
]
const texts = ["Boats are moored here.", "The last ferry leaves at nine.", "The museum opens at ten."]

layer(testServer(), { excludeTestServices: true })("@langchain", (it) => {
  it.effect("openai: embeds in batches, as Base64 and as floats", () =>
    Effect.gen(function* () {
      const usual = yield* embeddings({ batchSize: 2 })((model) => model.embedDocuments(texts))
      const floats = yield* embeddings({ encodingFormat: "float" })((model) => model.embedDocuments(texts))
      assert.lengthOf(usual, 3)
      for (const [at, vector] of usual.entries()) {
        assert.lengthOf(vector, 1024)
        assert.deepStrictEqual(Array.from(vector, Math.fround), floats[at]?.map(Math.fround))
      }
      const query = yield* embeddings({})((model) => model.embedQuery(texts[1] ?? ""))
      assert.deepStrictEqual(Array.from(query), Array.from(usual[1] ?? []))
    })
  )

  it.effect("openai: completes and streams a chat with usage, limited by maxTokens", () =>
    Effect.gen(function* () {
      const whole = yield* chat({})((model) => model.invoke(messages))
      assert.include(whole.text, "nine")
      assert.strictEqual(whole.response_metadata["finish_reason"], "stop")
      const usage = usageOf(whole)
      assert.strictEqual(usage?.total_tokens, (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0))

      const chunks = yield* chat({ streamUsage: true })(async (model) => {
        const all = []
        for await (const chunk of await model.stream(messages)) all.push(chunk)
        return all
      })
      assert.strictEqual(chunks.map(({ text }) => text).join(""), whole.text)
      const told = chunks.map(usageOf).find((usage) => usage !== undefined)
      assert.strictEqual(told?.total_tokens, usage?.total_tokens)

      const short = yield* chat({ maxTokens: 1 })((model) => model.invoke(messages))
      assert.strictEqual(short.response_metadata["finish_reason"], "length")
    })
  )

  it.effect("openai: accepts a message with an image", () =>
    chat({ model: "sluice-ocr" })(async (model) => {
      const url = makeDataUri("image/png", png(RED))
      const { text } = await model.invoke([
        new HumanMessage({
          content: [
            { type: "text", text: "Which colours does it have?" },
            { type: "image_url", image_url: { url } }
          ]
        })
      ])
      assert.match(text, /red|#/i)
    })
  )

  it.effect("openai: the server survives an aborted stream", () =>
    chat({})(async (model) => {
      const controller = new AbortController()
      const read = async () => {
        for await (const _ of await model.stream(messages, { signal: controller.signal })) controller.abort()
      }
      assert.instanceOf(await thrown(read()), Error)
      assert.include((await model.invoke(messages)).text, "nine")
    })
  )

  it.effect("openai: the image tool returns links and Base64", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* TestServer
      const tool = (dallEResponseFormat: "url" | "b64_json", n: number) =>
        new DallEAPIWrapper({
          apiKey: secrets.apiKey,
          baseUrl: `${url}/v1`,
          model: "sluice-image-i1",
          size: "256x256",
          dallEResponseFormat,
          n
        })
      const link = yield* Effect.promise(() => tool("url", 1).invoke("A barge in a lock"))
      assert.strictEqual((yield* Effect.promise(() => fetch(String(link)))).status, 200)
      const inline = yield* Effect.promise(() => tool("b64_json", 1).invoke("A barge in a lock"))
      assert.strictEqual(imageFormatOf(Buffer.from(String(inline), "base64")), "png")
      const several: unknown = yield* Effect.promise(() => tool("url", 2).invoke("A barge in a lock"))
      assert.lengthOf(several as ReadonlyArray<unknown>, 2)
    })
  )

  it.effect("openai: an error keeps the status and the message", () =>
    Effect.gen(function* () {
      const key = yield* keyOfElsewhere
      for (const [fields, status, apiKey] of [
        [{ model: "none" }, 404, undefined],
        [{ temperature: 9 }, 400, undefined],
        [{}, 401, "sk-unknown"],
        [{}, 403, key]
      ] as const) {
        const error = yield* chat(fields)((model) => thrown(model.invoke(messages)), apiKey)
        assert.instanceOf(error, Error)
        assert.propertyVal(error, "status", status)
        assert.match(error.message, /\S/)
      }
      const busy = new ChatOpenAI({ model: "sluice-extractive", ...options(yield* limitedServer) })
      const error = yield* Effect.promise(() => tooMuch(() => busy.invoke(messages)))
      assert.propertyVal(error, "status", 429)
    }).pipe(Effect.scoped)
  )

  it.effect("cohere: orders documents by relevance", () =>
    reranker(async (model) => {
      const found = await model.rerank(texts, "When does the last ferry leave?")
      assert.lengthOf(found, 2)
      assert.strictEqual(found[0]?.index, 1)
      assert.isAbove(found[0]?.relevanceScore ?? 0, found[1]?.relevanceScore ?? Infinity)
      const documents = texts.map((pageContent) => new Document({ pageContent, metadata: {} }))
      const [best] = await model.compressDocuments(documents, "When does the last ferry leave?")
      assert.strictEqual(best?.pageContent, texts[1])
      assert.strictEqual(best?.metadata["relevanceScore"], found[0]?.relevanceScore)
    })
  )

  it.effect("cohere: an error keeps the status", () =>
    Effect.gen(function* () {
      const missing = yield* reranker((model) => thrown(model.rerank(texts, "ferry", { model: "none" })))
      assert.propertyVal(missing, "statusCode", 404)
      const unknown = yield* reranker((model) => thrown(model.rerank(texts, "ferry")), "sk-unknown")
      assert.propertyVal(unknown, "statusCode", 401)
    })
  )
})
