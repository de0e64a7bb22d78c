/** Tools of Anthropic and Google in OpenAI's form: both ends are read by the SDKs that people use. */
import { assert, describe, it } from "@effect/vitest"
import type { FunctionCall } from "@google/genai"
import { Effect } from "effect"
import OpenAI from "openai"
import { CALLS } from "./fakes/Texts.ts"
import { claude, gemini, TEXT_CASES } from "./TextCases.ts"
import { startVendor, startWith } from "./VendorServer.ts"

const start = (vendor: string) =>
  Effect.gen(function* () {
    const one = TEXT_CASES.find((one) => one.vendor === vendor && one.operation === "chat")
    assert.isDefined(one)
    const fake = yield* startVendor(one.respond)
    const models = [{ id: one.model, operation: "chat" }]
    const server = yield* startWith([{ dialect: vendor, url: fake.url, models }])
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.secrets.apiKey, maxRetries: 0 })
    return { ...fake, vendorUrl: fake.url, client, model: one.model }
  })

const schema = { type: "object", properties: { city: { type: "string" } } }
const tools = [
  {
    type: "function" as const,
    function: { name: "weather", description: "The weather", parameters: schema }
  },
  { type: "function" as const, function: { name: "time" } }
]
const question = { role: "user" as const, content: "How is the weather?" }

type Message = OpenAI.ChatCompletionMessageParam
type Call = OpenAI.ChatCompletionMessageFunctionToolCall

const firstOf = <Choice>([first]: ReadonlyArray<Choice>): Choice => {
  assert.isDefined(first)
  return first
}

const readCalls = (calls: ReadonlyArray<OpenAI.ChatCompletionMessageToolCall> = []) =>
  (calls as ReadonlyArray<Call>).map(({ function: { arguments: json, name }, id, type }) => {
    assert.strictEqual(type, "function")
    return { id, name, input: JSON.parse(json) }
  })

const resultsOf = (calls: ReadonlyArray<{ readonly id: string }> = []): ReadonlyArray<Message> =>
  calls.map(({ id }, at) => ({ role: "tool", tool_call_id: id, content: at === 0 ? "rain" : '{"hour":9}' }))

describe.each(["anthropic", "google"])("%s", (vendor) => {
  it.live("calls tools, gets their results, and answers", () =>
    Effect.gen(function* () {
      const { client, model, requests } = yield* start(vendor)
      const ask = (messages: Array<Message>) =>
        Effect.promise(() => client.chat.completions.create({ model, messages, tools }))
      const { choices } = yield* ask([question])
      const { finish_reason, message } = firstOf(choices)
      assert.strictEqual(finish_reason, "tool_calls")
      assert.isNull(message.content)
      assert.deepStrictEqual(readCalls(message.tool_calls), CALLS)
      const second = yield* ask([question, message, ...resultsOf(message.tool_calls)])
      assert.strictEqual(second.choices[0]?.message.content, "good day")
      assert.strictEqual(second.choices[0]?.finish_reason, "stop")
      const { body } = requests.at(-1) ?? {}
      const { id, name } = CALLS[1] ?? {}
      assert.deepStrictEqual(
        vendor === "anthropic" ? body?.["messages"] : body?.["contents"],
        vendor === "anthropic"
          ? [
              { role: "user", content: [{ type: "text", text: question.content }] },
              { role: "assistant", content: CALLS.map((call) => ({ type: "tool_use", ...call })) },
              {
                role: "user",
                content: ["rain", '{"hour":9}'].map((text, at) => ({
                  type: "tool_result",
                  tool_use_id: CALLS[at]?.id,
                  content: [{ type: "text", text }]
                }))
              }
            ]
          : [
              { role: "user", parts: [{ text: question.content }] },
              {
                role: "model",
                parts: CALLS.map(({ input, ...call }) => ({
                  functionCall: { ...call, args: input },
                  thoughtSignature: `sig ${call.name}`
                }))
              },
              {
                role: "user",
                parts: [
                  { functionResponse: { id: "call_1", name: "weather", response: { output: "rain" } } },
                  { functionResponse: { id, name, response: { hour: 9 } } }
                ]
              }
            ]
      )
      assert.deepStrictEqual(
        body?.["tools"],
        vendor === "anthropic"
          ? [
              { name: "weather", description: "The weather", input_schema: schema },
              { name: "time", input_schema: { type: "object" } }
            ]
          : [
              {
                functionDeclarations: [
                  { name: "weather", description: "The weather", parametersJsonSchema: schema },
                  { name: "time" }
                ]
              }
            ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("streams calls, whose arguments arrive in pieces", () =>
    Effect.gen(function* () {
      const { client, model } = yield* start(vendor)
      const stream = client.chat.completions.stream({ model, messages: [question], tools })
      const { choices } = yield* Effect.promise(() => stream.finalChatCompletion())
      const { finish_reason, message } = firstOf(choices)
      assert.strictEqual(finish_reason, "tool_calls")
      assert.deepStrictEqual(readCalls(message.tool_calls), CALLS)
      const next = client.chat.completions.stream({
        model,
        messages: [question, message, ...resultsOf(message.tool_calls)],
        tools
      })
      const final = yield* Effect.promise(() => next.finalContent())
      assert.strictEqual(final, "good day")
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["auto", { type: "auto" }, { mode: "AUTO" }],
    ["none", { type: "none" }, { mode: "NONE" }],
    ["required", { type: "any" }, { mode: "ANY" }],
    [
      { type: "function" as const, function: { name: "time" } },
      { type: "tool", name: "time" },
      { mode: "ANY", allowedFunctionNames: ["time"] }
    ]
  ] as const)("is told which tool to call: %j", ([tool_choice, ofAnthropic, ofGoogle]) =>
    Effect.gen(function* () {
      const { client, model, requests } = yield* start(vendor)
      const { choices } = yield* Effect.promise(() =>
        client.chat.completions.create({ model, messages: [question], tools, tool_choice })
      )
      assert.strictEqual(choices[0]?.finish_reason, tool_choice === "none" ? "stop" : "tool_calls")
      const { body } = requests.at(-1) ?? {}
      assert.deepStrictEqual(
        vendor === "anthropic" ? body?.["tool_choice"] : body?.["toolConfig"],
        vendor === "anthropic" ? ofAnthropic : { functionCallingConfig: ofGoogle }
      )
    }).pipe(Effect.scoped)
  )

  it.live("takes common fields that the vendor does not have", () =>
    Effect.gen(function* () {
      const { client, model } = yield* start(vendor)
      const fields = { n: 1, seed: 7, user: "u", top_logprobs: null, presence_penalty: 0, store: false }
      const { choices } = yield* Effect.promise(() =>
        client.chat.completions.create({
          model,
          messages: [question, { role: "assistant", content: "" }, question],
          top_p: 1,
          ...fields
        })
      )
      assert.strictEqual(choices[0]?.message.content, "good day")
    }).pipe(Effect.scoped)
  )
})

it.live("Anthropic: one call at a time if parallel calls are off, and one answer", () =>
  Effect.gen(function* () {
    const { client, model, requests } = yield* start("anthropic")
    const { choices } = yield* Effect.promise(() =>
      client.chat.completions.create({ model, messages: [question], tools, parallel_tool_calls: false })
    )
    assert.lengthOf(choices[0]?.message.tool_calls ?? [], 1)
    const refused = yield* Effect.promise(() =>
      client.chat.completions.create({ model, messages: [question], n: 2 }).catch((error: unknown) => error)
    )
    assert.deepInclude(refused, { status: 400, param: "n" })
    assert.lengthOf(requests, 1)
  }).pipe(Effect.scoped)
)

it.live("Google: a call without its signature is marked so, for models that require one", () =>
  Effect.gen(function* () {
    const { vendor, requests } = yield* Effect.gen(function* () {
      const fake = yield* startVendor(() => [200, { candidates: [{ content: { parts: [{ text: "ok" }] } }] }])
      const models = ["gemini-2.5-flash", "gemini-3-pro"].map((id) => ({ id, operation: "chat" }))
      return {
        vendor: yield* startWith([{ dialect: "google", url: fake.url, models }]),
        requests: fake.requests
      }
    })
    const calls = [{ id: "c", type: "function", function: { name: "time", arguments: "{}" } }]
    const messages = [
      question,
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "c", content: "noon" }
    ]
    for (const model of ["gemini-2.5-flash", "gemini-3-pro"]) {
      assert.strictEqual(
        (yield* vendor.call("/v1/chat/completions", { json: { model, messages } })).status,
        200
      )
    }
    assert.deepStrictEqual(
      requests.map(({ body }) => (JSON.stringify(body).match(/"thoughtSignature":"(\w+)"/) ?? [])[1]),
      [undefined, "skip_thought_signature_validator"]
    )
  }).pipe(Effect.scoped)
)

describe("the SDK of", () => {
  it.live("Anthropic reads the fake's calls, streamed too", () =>
    Effect.gen(function* () {
      const { model, vendorUrl } = yield* start("anthropic")
      const asked = {
        model,
        max_tokens: 9,
        messages: [question],
        tools: [{ name: "weather", input_schema: { type: "object" as const } }]
      }
      const { content } = yield* Effect.promise(() => claude(vendorUrl).messages.create(asked))
      const streamed = yield* Effect.promise(() => claude(vendorUrl).messages.stream(asked).finalMessage())
      for (const blocks of [content, streamed.content]) {
        assert.deepStrictEqual(
          blocks.flatMap((block) =>
            block.type === "tool_use" ? [{ id: block.id, name: block.name, input: block.input }] : []
          ),
          CALLS
        )
      }
      assert.strictEqual(streamed.stop_reason, "tool_use")
    }).pipe(Effect.scoped)
  )

  it.live("Google reads the fake's calls, streamed too", () =>
    Effect.gen(function* () {
      const { model, vendorUrl } = yield* start("google")
      const asked = {
        model,
        contents: "hi",
        config: { tools: [{ functionDeclarations: [{ name: "weather" }] }] }
      }
      const whole = yield* Effect.promise(() => gemini(vendorUrl).models.generateContent(asked))
      const streamed = yield* Effect.promise(async () => {
        const calls: Array<FunctionCall> = []
        for await (const { functionCalls = [] } of await gemini(vendorUrl).models.generateContentStream(
          asked
        )) {
          calls.push(...functionCalls)
        }
        return calls
      })
      const read = CALLS.map(({ input, ...call }) => ({ ...call, args: input }))
      assert.deepStrictEqual(whole.functionCalls, read)
      assert.deepStrictEqual(streamed, read)
    }).pipe(Effect.scoped)
  )
})
