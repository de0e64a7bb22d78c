/** The AI SDK with `@ai-sdk/openai-compatible` and `@ai-sdk/cohere`, unchanged, against the server. */
import { createCohere } from "@ai-sdk/cohere"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { assert, layer } from "@effect/vitest"
import { imageFormatOf } from "@sluice/core/media"
import { APICallError, embed, embedMany, generateImage, generateText, rerank, streamText } from "ai"
import { Effect } from "effect"
import { testServer } from "../demo-server/TestServer.ts"
import { png, RED } from "../laws/Pictures.ts"
import { keyOfElsewhere, limitedServer, type Target, thrown, tooMuch, using } from "./Clients.ts"

globalThis.AI_SDK_LOG_WARNINGS = false

const compatible = ({ apiKey, url }: Target) =>
  createOpenAICompatible({ name: "sluice", apiKey, baseURL: `${url}/v1`, includeUsage: true })
const cohere =
  (version: "v1" | "v2") =>
  ({ apiKey, url }: Target) =>
    createCohere({ apiKey, baseURL: `${url}/${version}` })

const embedder = "sluice-lexical-1024"
const texts = ["Boats are moored here.", "The last ferry leaves at nine.", "The museum opens at ten."]
const question = {
  instructions: "The last ferry leaves at nine. The museum is closed on Mondays.",
  prompt: "When does the last ferry leave?",
  maxRetries: 0
}

layer(testServer(), { excludeTestServices: true })("AI SDK", (it) => {
  it.effect("openai-compatible: embeds one value and many", () =>
    using(compatible)(async (provider) => {
      const model = provider.embeddingModel(embedder)
      const many = await embedMany({ model, values: texts })
      assert.deepStrictEqual(
        many.embeddings.map(({ length }) => length),
        [1024, 1024, 1024]
      )
      assert.isAbove(many.usage.tokens, 0)
      const one = await embed({ model, value: texts[0] ?? "" })
      assert.deepStrictEqual(one.embedding, many.embeddings[0])
    })
  )

  it.effect("openai-compatible: generates and streams text with usage", () =>
    using(compatible)(async (provider) => {
      const model = provider.chatModel("sluice-extractive")
      const whole = await generateText({ model, ...question })
      assert.include(whole.text, "nine")
      assert.strictEqual(whole.finishReason, "stop")
      const { inputTokens = 0, outputTokens = 0, totalTokens } = whole.usage
      assert.strictEqual(totalTokens, inputTokens + outputTokens)

      const stream = streamText({ model, ...question })
      const pieces: Array<string> = []
      for await (const piece of stream.textStream) pieces.push(piece)
      assert.strictEqual(pieces.join(""), whole.text)
      assert.strictEqual(await stream.finishReason, "stop")
      assert.strictEqual((await stream.usage).totalTokens, totalTokens)

      const short = await generateText({ model, ...question, maxOutputTokens: 1 })
      assert.strictEqual(short.finishReason, "length")
    })
  )

  it.effect("openai-compatible: the server survives an aborted stream", () =>
    using(compatible)(async (provider) => {
      const model = provider.chatModel("sluice-extractive")
      const controller = new AbortController()
      const aborted: Array<unknown> = []
      const stream = streamText({
        model,
        ...question,
        abortSignal: controller.signal,
        onAbort: (event) => void aborted.push(event)
      })
      for await (const _ of stream.textStream) controller.abort()
      assert.lengthOf(aborted, 1)
      assert.include((await generateText({ model, ...question })).text, "nine")
    })
  )

  it.effect("openai-compatible: answers a question about an image", () =>
    using(compatible)(async (provider) => {
      const { text } = await generateText({
        model: provider.chatModel("sluice-ocr"),
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Which colours does it have?" },
              { type: "file", mediaType: "image/png", data: png(RED) }
            ]
          }
        ]
      })
      assert.match(text, /red|#/i)
    })
  )

  it.effect("openai-compatible: creates several images in one call", () =>
    using(compatible)(async (provider) => {
      const { images } = await generateImage({
        model: provider.imageModel("sluice-image-i1"),
        prompt: "A barge in a lock",
        size: "256x256",
        n: 2,
        maxRetries: 0,
        providerOptions: { sluice: { output_format: "jpeg" } }
      })
      assert.deepStrictEqual(
        images.map(({ uint8Array }) => imageFormatOf(uint8Array)),
        ["jpeg", "jpeg"]
      )
    })
  )

  it.effect("cohere: reranks documents at the paths of both versions", () =>
    Effect.gen(function* () {
      for (const version of ["v1", "v2"] as const) {
        const { ranking } = yield* using(cohere(version))((provider) =>
          rerank({
            model: provider.reranking("sluice-lexical-rerank"),
            query: question.prompt,
            documents: texts,
            topN: 2
          })
        )
        assert.lengthOf(ranking, 2)
        assert.deepInclude(ranking[0], { originalIndex: 1, document: "The last ferry leaves at nine." })
        const objects = yield* using(cohere(version))((provider) =>
          rerank({
            model: provider.reranking("sluice-lexical-rerank"),
            query: question.prompt,
            documents: texts.map((text) => ({ text }))
          })
        )
        assert.strictEqual(objects.ranking[0]?.originalIndex, 1)
      }
    })
  )

  it.effect("both: an error has the status, isRetryable and the server's message", () =>
    Effect.gen(function* () {
      const key = yield* keyOfElsewhere
      const said = (error: unknown) => {
        if (!APICallError.isInstance(error)) throw new Error(`It is ${String(error)}`, { cause: error })
        const { isRetryable, message, statusCode } = error
        return { isRetryable, message, statusCode }
      }
      const chat = (id: string, apiKey?: string) =>
        using(compatible)(
          (provider) => thrown(generateText({ model: provider.chatModel(id), ...question })),
          apiKey
        )
      const ranked = (id: string, apiKey?: string) =>
        using(cohere("v2"))(
          (provider) =>
            thrown(rerank({ model: provider.reranking(id), query: "q", documents: ["d"], maxRetries: 0 })),
          apiKey
        )
      for (const failing of [chat, ranked]) {
        const none = said(yield* failing("none"))
        assert.deepInclude(none, { statusCode: 404, isRetryable: false })
        assert.match(none.message, /^There is no model `none`. Use /)
        const unknown = said(yield* failing("sluice-extractive", "sk-unknown"))
        assert.deepInclude(unknown, { statusCode: 401, isRetryable: false })
        assert.include(unknown.message, "Unknown API key")
        assert.deepInclude(said(yield* failing("sluice-extractive", key)), { statusCode: 403 })
      }
      const picture = yield* using(compatible)((provider) =>
        thrown(
          generateImage({
            model: provider.imageModel("sluice-image-i1"),
            prompt: "a",
            size: "0x0",
            maxRetries: 0
          })
        )
      )
      assert.deepInclude(said(picture), { statusCode: 400, isRetryable: false })
      const busy = compatible(yield* limitedServer)
      const limited = yield* Effect.promise(() =>
        tooMuch(() => generateText({ model: busy.chatModel("sluice-extractive"), ...question }))
      )
      assert.deepInclude(said(limited), { statusCode: 429, isRetryable: true })
    }).pipe(Effect.scoped)
  )
})
