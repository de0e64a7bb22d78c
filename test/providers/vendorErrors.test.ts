/** What vendors send in place of answers: errors of other forms, web pages, and answers that break off. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway, type GatewayReason, RETRY_NEVER } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import { Duration, Effect, Redacted, Result, Stream } from "effect"
import { DIALECTS, guessOperation, listModels, Providers } from "../../packages/providers/src/index.ts"
import { knownModel } from "../../packages/providers/src/protocol/ModelFamilies.ts"
import { startVendor, VENDOR_KEY } from "./VendorServer.ts"

type Vendor = keyof typeof Providers

const ask = { model: "m", messages: [{ role: "user" as const, content: "hello" }] }

/** Calls a vendor that has one response. */
const calling = <A, E>(
  vendor: Vendor,
  [status, body]: readonly [number, unknown],
  call: Effect.Effect<A, E, Gateway>
) =>
  Effect.gen(function* () {
    const { url } = yield* startVendor(() => [status, body])
    const options = { url, apiKey: apiKey(VENDOR_KEY), retry: RETRY_NEVER }
    return yield* Effect.provide(call, Providers[vendor].gateway(options))
  })

const chat = Gateway.use((gateway) => gateway.chat(ask))

const limited = (quotaId: string) => ({
  error: {
    code: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "27.5s" }
    ]
  }
})
const PER_MINUTE = limited("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")

const invalidKey = {
  error: { code: 400, message: "API key expired. Please renew the API key.", status: "INVALID_ARGUMENT" }
}
const arrears = {
  error: { message: "Access denied, please make sure your account is in good standing.", code: "Arrearage" }
}
const refusedField = {
  object: "error",
  message: { detail: [{ msg: "Extra inputs are not permitted", loc: ["body", "seed"] }] }
}
const routed = { message: "Provider returned error", code: 429, metadata: { raw: "try another model" } }
const PAGE = "<!doctype html><title>Attention Required!</title>"

describe("a vendor's error", () => {
  it.live.each<readonly [Vendor, number, unknown, GatewayReason["_tag"], string]>([
    ["google", 429, PER_MINUTE, "RateLimited", "exceeded your current quota"],
    ["google", 429, limited("RequestsPerDay-FreeTier"), "InsufficientQuota", "exceeded your current quota"],
    ["google", 400, invalidKey, "Unauthorized", "expired"],
    ["dashscope", 400, arrears, "InsufficientQuota", "good standing"],
    [
      "siliconflow",
      403,
      { code: 30001, message: "Your account balance is insufficient" },
      "InsufficientQuota",
      "balance"
    ],
    ["mistral", 422, refusedField, "InvalidRequest", "Extra inputs are not permitted"],
    ["openrouter", 429, { error: routed }, "RateLimited", "Provider returned error: try another model"],
    ["anthropic", 403, PAGE, "Forbidden", "a web page (“Attention Required!”)"],
    ["anthropic", 404, PAGE, "NotFound", "The base URL seems wrong"],
    ["anthropic", 502, "", "ServerFailure", "Status 502 without a message"]
  ])("%s, %i", ([vendor, status, body, tag, says]) =>
    Effect.gen(function* () {
      const { message, reason } = yield* Effect.flip(calling(vendor, [status, body], chat))
      assert.strictEqual(reason._tag, tag)
      assert.include(message, says)
    }).pipe(Effect.scoped)
  )

  it.live("has the wait that Google asks for in the body", () =>
    Effect.gen(function* () {
      const { retryAfter } = yield* Effect.flip(calling("google", [429, PER_MINUTE], chat))
      assert.strictEqual(retryAfter && Duration.toSeconds(retryAfter), 27.5)
    }).pipe(Effect.scoped)
  )

  it.live("is not worth another attempt if the server cannot do it at all", () =>
    Effect.gen(function* () {
      const error = { code: 501, message: "This server does not support embeddings" }
      const embed = Gateway.use((gateway) => gateway.embeddings({ model: "m", input: ["a"] }))
      const failed = yield* Effect.flip(calling("llamacpp", [501, { error }], embed))
      assert.isFalse(failed.isRetryable)
    }).pipe(Effect.scoped)
  )

  it.live("says what a model has answered in place of an image", () =>
    Effect.gen(function* () {
      const candidates = [{ content: { parts: [{ text: "I cannot draw that." }] }, finishReason: "STOP" }]
      const paint = Gateway.use(({ images }) =>
        images.create({ model: "gemini-2.5-flash-image", prompt: "a lock" })
      )
      const { message } = yield* Effect.flip(calling("google", [200, { candidates }], paint))
      assert.include(message, "I cannot draw that.")
    }).pipe(Effect.scoped)
  )
})

describe("a stream that a vendor answers", () => {
  const streamed = Gateway.use((gateway) =>
    Stream.runFold(
      gateway.chatStream(ask),
      () => "",
      (text, part) => text + (part.type === "text" ? part.text : `|${part.finishReason}`)
    )
  )

  it.live("with JSON is one part", () =>
    Effect.gen(function* () {
      const message = { content: [{ type: "text", text: "good day" }], stop_reason: "end_turn" }
      assert.strictEqual(yield* calling("anthropic", [200, message], streamed), "good day|stop")
    }).pipe(Effect.scoped)
  )

  it.live("with an error in JSON fails with it", () =>
    Effect.gen(function* () {
      const body = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
      const { reason } = yield* Effect.flip(calling("anthropic", [200, body], streamed))
      assert.deepInclude(reason, { _tag: "ServerFailure", message: "Overloaded" })
    }).pipe(Effect.scoped)
  )
})

describe("the models of a vendor", () => {
  const listOf = (id: string, ...response: readonly [number, unknown]) =>
    Effect.gen(function* () {
      const { url } = yield* startVendor(() => response)
      const dialect = DIALECTS.find((one) => one.id === id)
      assert.isDefined(dialect)
      const listed = listModels({ dialect, url, apiKey: Redacted.make(VENDOR_KEY) })
      return { url, listed: yield* Effect.result(listed) }
    }).pipe(Effect.provide(layerTransport()))

  it.live("may be listed without an envelope", () =>
    Effect.gen(function* () {
      const models = [{ id: "Llama-3.3-70B-Instruct-Turbo", type: "chat" }]
      const { listed } = yield* listOf("together", 200, models)
      assert.deepStrictEqual(
        listed,
        Result.succeed([{ id: "Llama-3.3-70B-Instruct-Turbo", operation: "chat" as const }])
      )
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["rerank", { reranker: { id2label: { "0": "LABEL_0" }, label2id: { LABEL_0: 0 } } }],
    ["embeddings", { embedding: { pooling: "cls" } }]
  ] as const)("are of %s if Text Embeddings Inference says so", ([operation, type]) =>
    Effect.gen(function* () {
      const { listed } = yield* listOf("tei", 200, { model_id: "BAAI/some-model", model_type: type })
      assert.deepStrictEqual(listed, Result.succeed([{ id: "BAAI/some-model", operation }]))
    }).pipe(Effect.scoped)
  )

  it.live.each<readonly [number, string]>([
    [200, "<!doctype html><title>My NAS</title>"],
    [404, "404 page not found"]
  ])("are not none if another server answers: %i", ([status, body]) =>
    Effect.gen(function* () {
      const { listed, url } = yield* listOf("ollama", status, body)
      assert.isTrue(Result.isFailure(listed))
      const { isRetryable, reason } = Result.getOrThrow(Result.flip(listed))
      assert.strictEqual(reason.message, `status ${status} at ${url}/v1/models: ${body}`)
      assert.isFalse(isRetryable)
    }).pipe(Effect.scoped)
  )

  it("are of images if their name is Imagen's", () => {
    assert.strictEqual(guessOperation("imagen-4.0-generate-001"), "images")
    assert.strictEqual(guessOperation("gen4_turbo"), "videos")
  })

  it("have their prefixes also under LM Studio's names", () => {
    const dialect = { id: "lmstudio", name: "LM Studio", operations: {} }
    const { prefixes } = knownModel(dialect, "text-embedding-nomic-embed-text-v1.5")
    assert.deepStrictEqual(prefixes, { query: "search_query: ", passage: "search_document: " })
    assert.isUndefined(knownModel(dialect, "text-embedding-3-small").prefixes)
  })
})
