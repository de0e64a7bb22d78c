import { assert, layer as describeLayer } from "@effect/vitest"
import { apiKey, RETRY_NEVER } from "@sluice/core"
import { GatewayEmbeddingModel, GatewayLanguageModel } from "@sluice/core/ai"
import { GatewayClient } from "@sluice/core/client"
import { Effect, ExecutionPlan, Layer, Schema, Stream } from "effect"
import { Chat, EmbeddingModel, LanguageModel, Model, Prompt, Tool, Toolkit } from "effect/ai"
import {
  delta,
  type Behaviour,
  embed,
  events,
  json,
  LoopbackGateway,
  model,
  refuse
} from "./LoopbackGateway.ts"

const gateway = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
    GatewayClient.layer({ baseUrl, apiKey: apiKey("k"), retry: RETRY_NEVER })
  )
)
const Models = Layer.mergeAll(
  GatewayLanguageModel.layer({ model: "c", maxTokens: 50, temperature: 0 }),
  GatewayEmbeddingModel.layer({ model: "e" })
).pipe(Layer.provide(gateway), Layer.provideMerge(LoopbackGateway.layer))

const behave = (behaviour: Behaviour) =>
  LoopbackGateway.use((loopback) => Effect.sync(() => loopback.behave(behaviour)))
/** The requests received. */
const asked = Effect.map(LoopbackGateway, ({ seen }) => seen.map(({ body }): unknown => body))

const says =
  (content: string, finish_reason = "stop"): Behaviour =>
  (_, response) =>
    json(response, {
      choices: [{ message: { role: "assistant", content }, finish_reason }],
      usage: { prompt_tokens: 7, completion_tokens: 3 }
    })

const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (c) => c.codePointAt(0) ?? 0
)

describeLayer(Models)("Effect's AI services over the gateway", (it) => {
  it.effect("generateText returns text, finish reason and tokens", () =>
    Effect.gen(function* () {
      yield* behave(says("Good day."))
      const answer = yield* LanguageModel.generateText({
        prompt: [
          { role: "system", content: "Be polite." },
          { role: "user", content: [{ type: "text", text: "Hello" }] },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "a greeting" },
              { type: "text", text: "Hi" }
            ]
          },
          { role: "user", content: "Again, politely" }
        ]
      })
      assert.deepStrictEqual([answer.text, answer.finishReason], ["Good day.", "stop"])
      assert.deepStrictEqual([answer.usage.inputTokens.total, answer.usage.outputTokens.total], [7, 3])
      assert.deepStrictEqual(yield* asked, [
        {
          model: "c",
          messages: [
            { role: "system", content: "Be polite." },
            { role: "user", content: "Hello" },
            { role: "assistant", content: "Hi" },
            { role: "user", content: "Again, politely" }
          ],
          max_tokens: 50,
          temperature: 0
        }
      ])
    })
  )

  it.effect("generateText leaves unknown token counts undefined", () =>
    Effect.gen(function* () {
      yield* behave((_, response) => json(response, { choices: [{ message: { content: "x" } }] }))
      const { finishReason, usage } = yield* LanguageModel.generateText({ prompt: "?" })
      assert.deepStrictEqual([finishReason, usage.inputTokens.total], ["unknown", undefined])
      const reasons = []
      for (const reason of ["length", "content_filter", "of its own"]) {
        yield* behave(says("x", reason))
        reasons.push((yield* LanguageModel.generateText({ prompt: "?" })).finishReason)
      }
      assert.deepStrictEqual(reasons, ["length", "content-filter", "other"])
    })
  )

  it.effect("streamText emits deltas, then the end", () =>
    Effect.gen(function* () {
      yield* behave((_, response) =>
        events(response, [
          { choices: [{ delta: { content: "", reasoning_content: "a greeting" } }] },
          delta("Good"),
          delta(" day."),
          { choices: [{ delta: {}, finish_reason: "stop" }] },
          { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
          "[DONE]"
        ])
      )
      const parts = yield* Stream.runCollect(LanguageModel.streamText({ prompt: "Hello" }))
      assert.deepStrictEqual(
        parts.map(({ type }) => type),
        ["text-start", "text-delta", "text-delta", "text-end", "finish"]
      )
      const text = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []))
      assert.deepStrictEqual(text, ["Good", " day."])
      const end = parts.at(-1)
      assert.isTrue(end?.type === "finish" && end.reason === "stop" && end.usage.outputTokens.total === 3)
    })
  )

  it.effect("images of a prompt are sent, as bytes and as URLs", () =>
    Effect.gen(function* () {
      yield* behave(says("One pixel."))
      yield* LanguageModel.generateText({
        prompt: Prompt.make([
          {
            role: "user",
            content: [
              { type: "text", text: "What is it?" },
              { type: "file", mediaType: "image/*", data: PNG, options: { sluice: { detail: "low" } } },
              { type: "file", mediaType: "image/jpeg", data: new URL("https://example.com/a.jpg") }
            ]
          }
        ])
      })
      const [body] = yield* asked
      assert.deepStrictEqual(body, {
        model: "c",
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is it?" },
              {
                type: "image_url",
                image_url: {
                  url: `data:image/png;base64,${Buffer.from(PNG).toString("base64")}`,
                  detail: "low"
                }
              },
              { type: "image_url", image_url: { url: "https://example.com/a.jpg" } }
            ]
          }
        ],
        max_tokens: 50,
        temperature: 0
      })
    })
  )

  it.effect("unsupported parts of a prompt fail before sending", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const Echo = Tool.make("Echo", {
        parameters: Schema.Struct({ text: Schema.String }),
        success: Schema.String
      })
      const tools = Toolkit.make(Echo)
      const toolkit = Effect.provide(tools, tools.toLayer({ Echo: ({ text }) => Effect.succeed(text) }))
      const file = (mediaType: string, data: Uint8Array) =>
        LanguageModel.generateText({
          prompt: [{ role: "user", content: [{ type: "file", mediaType, data }] }]
        })
      const GIF = new TextEncoder().encode("GIF89a, and so on")
      const refusals = [
        LanguageModel.generateText({ prompt: "?", toolkit }),
        Stream.runDrain(LanguageModel.streamText({ prompt: "?", toolkit })),
        file("application/pdf", PNG),
        file("image/*", GIF),
        LanguageModel.generateText({
          prompt: [
            {
              role: "assistant",
              content: [{ type: "tool-call", id: "1", name: "Echo", params: {}, providerExecuted: false }]
            }
          ]
        })
      ]
      const said = yield* Effect.forEach(refusals, (refusal) =>
        Effect.map(Effect.flip(refusal), (error) =>
          error._tag === "AiError" && error.reason._tag === "InvalidRequestError" ? error.message : error._tag
        )
      )
      for (const [i, word] of ["tools", "tools", "application/pdf", "GIF", "tool-call"].entries()) {
        assert.include(said[i], word)
      }
      assert.deepStrictEqual(yield* asked, [])
    })
  )

  const Plan = Schema.Struct({ title: Schema.String, steps: Schema.Array(Schema.Int) })
  const plan = LanguageModel.generateObject({ prompt: "A plan, please", schema: Plan, objectName: "plan" })

  it.effect("generateObject finds the object in the model's answer", () =>
    Effect.gen(function* () {
      const object = { title: "braces } in { text", steps: [1, 2] }
      const text = JSON.stringify(object, undefined, 2)
      const answers = [
        text,
        `\`\`\`json\n${text}\n\`\`\``,
        `<think>{"title": "a draft", "steps": []}</think>\nHere it is:\n${text}\nAnything else?`
      ]
      for (const answer of answers) {
        yield* behave(says(answer))
        assert.deepStrictEqual((yield* plan).value, object)
      }
      const [body] = yield* asked
      const [system, user] = (body as { messages: ReadonlyArray<{ role: string; content: string }> }).messages
      assert.deepStrictEqual([system?.role, user], ["system", { role: "user", content: "A plan, please" }])
      for (const word of ["plan", "JSON", '"steps"', '"integer"']) assert.include(system?.content, word)
    })
  )

  it.effect("generateObject fails with the answer if it has no such object", () =>
    Effect.gen(function* () {
      for (const answer of ["I would rather not.", '{"title": 1, "steps": []}', '{"title": "cut o']) {
        yield* behave(says(answer))
        const { reason } = yield* Effect.flip(plan)
        assert.isTrue(reason._tag === "StructuredOutputError" && reason.responseText === answer)
      }
    })
  )

  it.effect("a chat keeps its history", () =>
    Effect.gen(function* () {
      yield* behave((seen, response, nth) => says(`answer ${nth + 1}`)(seen, response, nth))
      const chat = yield* Chat.empty
      yield* chat.generateText({ prompt: "first" })
      const { text } = yield* chat.generateText({ prompt: "second" })
      assert.strictEqual(text, "answer 2")
      const [, second] = yield* asked
      assert.deepStrictEqual((second as { messages: unknown }).messages, [
        { role: "user", content: "first" },
        { role: "assistant", content: "answer 1" },
        { role: "user", content: "second" }
      ])
    })
  )

  it.effect("an execution plan falls back to the next model", () =>
    Effect.gen(function* () {
      yield* behave((seen, response, nth) =>
        nth === 0 ? refuse(503, {})(seen, response, nth) : says("from the second")(seen, response, nth)
      )
      const plan = ExecutionPlan.make(
        { provide: GatewayLanguageModel.languageModel("first") },
        { provide: GatewayLanguageModel.languageModel("second", { maxTokens: 9 }) }
      )
      const answer = Effect.gen(function* () {
        const { text } = yield* LanguageModel.generateText({ prompt: "?" })
        return [text, yield* Model.ProviderName, yield* Model.ModelName]
      })
      const result = yield* answer.pipe(Effect.withExecutionPlan(plan), Effect.provide(gateway))
      assert.deepStrictEqual(result, ["from the second", "sluice", "second"])
    })
  )

  it.effect("embedMany returns one vector per text, in order, and the tokens", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const texts = ["first boiler", "second refund", "third counter"]
      const { embedMany } = yield* EmbeddingModel.EmbeddingModel
      const { embeddings, usage } = yield* embedMany(texts)
      assert.deepStrictEqual(
        embeddings.map(({ vector }) => vector),
        texts.map((text) => [...embed(text)])
      )
      assert.strictEqual(usage.inputTokens, 3)
      assert.deepStrictEqual((yield* embedMany([])).embeddings, [])
    })
  )

  it.effect("concurrent embed calls share a request", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const { embed: one } = yield* EmbeddingModel.EmbeddingModel
      const texts = ["first boiler", "second refund"]
      const answers = yield* Effect.forEach(texts, one, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers.map(({ vector }) => vector),
        texts.map((text) => [...embed(text)])
      )
      assert.strictEqual((yield* asked).length, 1)
    })
  )

  it.effect("an embedding model has dimensions, and rejects vectors of another dimension", () =>
    Effect.gen(function* () {
      yield* behave(model)
      const dimensions = (length: number) =>
        Effect.gen(function* () {
          const { embed: one } = yield* EmbeddingModel.EmbeddingModel
          return [yield* EmbeddingModel.Dimensions, (yield* one("boiler")).vector.length]
        }).pipe(
          Effect.provide(
            Layer.provide(GatewayEmbeddingModel.embeddingModel("e", { dimensions: length }), gateway)
          )
        )
      assert.deepStrictEqual(yield* dimensions(64), [64, 64])
      const { message, reason } = yield* Effect.flip(dimensions(32))
      assert.strictEqual(reason._tag, "InvalidResponseError")
      assert.include(message, "dimension 64, not 32")
    })
  )
})
