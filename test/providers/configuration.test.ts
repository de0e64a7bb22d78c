/** Upstreams by configuration alone: paths, headers, query, names of fields, and models that the vendor lists. */
import { assert, describe, it } from "@effect/vitest"
import { ChatChunk, ChatResponse, EmbeddingResponse, PACKAGE_VERSION } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import OpenAI, { AzureOpenAI } from "openai"
import { errorOf, failedStart, temporaryFolder } from "../demo-server/TestServer.ts"
import { openAiError, openAiModels, openAiResponse } from "./fakes/openai.ts"
import { type Respond, startVendor, startWith, VENDOR_KEY } from "./VendorServer.ts"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

const messages = [{ role: "user" as const, content: "hello" }]
const CHAT = "/v1/chat/completions"

describe("an upstream's address", () => {
  it.live("Azure: paths with the deployment, a query, and the key in a header", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(openAiResponse)
      const sdk = new AzureOpenAI({ endpoint: vendor.url, apiKey: VENDOR_KEY, apiVersion: "2024-10-21" })
      const own = yield* Effect.promise(() => sdk.chat.completions.create({ model: "mini", messages }))
      assert.strictEqual(own.choices[0]?.message.content, "good day")
      const [asked] = vendor.requests

      const server = yield* startWith([
        {
          id: "azure",
          dialect: "openai",
          url: vendor.url,
          paths: {
            chat: "/openai/deployments/{model}/chat/completions",
            embeddings: "/openai/deployments/{model}/embeddings"
          },
          headers: { "api-key": "{apiKey}" },
          query: { "api-version": "2024-10-21" },
          models: [
            { id: "mini", operation: "chat" },
            { id: "small", operation: "embeddings" }
          ]
        }
      ])
      const chat = yield* server.json(ChatResponse, CHAT, { json: { model: "mini", messages } })
      assert.strictEqual(chat.choices[0]?.message.content, "good day")
      const sent = vendor.requests.at(-1)
      assert.strictEqual(sent?.path, asked?.path)
      assert.strictEqual(sent?.headers["api-key"], asked?.headers["api-key"])
      assert.isUndefined(sent?.headers.authorization)

      yield* server.json(EmbeddingResponse, "/v1/embeddings", { json: { model: "small", input: "a" } })
      assert.strictEqual(
        vendor.requests.at(-1)?.path,
        "/openai/deployments/small/embeddings?api-version=2024-10-21"
      )
    }).pipe(Effect.scoped)
  )

  it.live("headers from the file, variables and files are sent, and removed from errors", () =>
    Effect.gen(function* () {
      const secrets = [
        "plain-0123456789abcdef",
        "variable-0123456789abcdef",
        "file-0123456789abcdef",
        "query-0123456789abcdef"
      ]
      const [plain = "", variable = "", inFile = "", query = ""] = secrets
      const vendor = yield* startVendor(({ body, headers, path }) => {
        const echo = `no ${String(headers["x-plain"])}, ${String(headers["x-variable"])}, ${String(headers["x-file"])}, ${path}, ${plain.slice(0, 14)}. See https://docs.example`
        const error = { message: echo, type: "x", param: null, code: null }
        if (body["stream"] === true) return [200, `data: ${JSON.stringify({ error })}\n\n`]
        if (body["prompt"] !== undefined) return [200, { id: "t", status: "queued" }]
        if (path.includes("/videos/")) return [200, { id: "t", status: "failed", error }]
        return [400, { error }]
      })
      const file = join(yield* temporaryFolder, "secret")
      writeFileSync(file, `${inFile}\n`)
      const server = yield* startWith(
        [
          {
            id: "u",
            dialect: "gateway",
            url: vendor.url,
            headers: {
              "x-plain": `Bearer ${plain}`,
              "x-variable": { env: "SECRET" },
              "x-file": { file },
              referer: "https://site.example"
            },
            query: { token: query },
            models: [
              { id: "m", operation: "chat" },
              { id: "v", operation: "videos" }
            ]
          }
        ],
        { env: { SECRET: `Bearer ${variable}` } }
      )
      const json = { model: "m", messages }
      const film = yield* server.call("/v1/videos", { json: { model: "v", prompt: "p" } })
      const { id } = yield* Effect.promise(() => film.json() as Promise<{ readonly id: string }>)
      for (const answer of [
        server.call(CHAT, { json }),
        server.call(CHAT, { json: { ...json, stream: true } }),
        server.call(`/v1/videos/${id}`)
      ]) {
        const text = yield* Effect.flatMap(answer, (response) => Effect.promise(() => response.text()))
        assert.include(text, "no Bearer <redacted>, Bearer <redacted>, <redacted>, ")
        assert.include(text, "See https://docs.example")
        for (const secret of secrets) assert.notInclude(text, secret.slice(0, 10))
      }
      const { headers = {} } = vendor.requests[0] ?? {}
      assert.deepInclude(headers, {
        "x-plain": `Bearer ${plain}`,
        "x-variable": `Bearer ${variable}`,
        "x-file": inFile
      })
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["GONE", "the variable GONE is not set"],
    ["TWO_LINES", "TWO_LINES has no value of a header"]
  ])("a header whose place has no value fails the start: %s", ([env, why]) =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "sluice.config.json")
      const models = [{ id: "m", operation: "chat" }]
      const upstreams = [{ dialect: "ollama", headers: { "x-a": { env } }, models }]
      writeFileSync(file, JSON.stringify({ upstreams }))
      const { printed } = yield* failedStart(yield* temporaryFolder, {
        SLUICE_CONFIG: file,
        TWO_LINES: "a\nb"
      })
      assert.include(printed, `\`ollama\`: the header x-a: ${why}`)
    }).pipe(Effect.scoped)
  )

  it.live("gets the user agent of Sluice with every request, unless it is configured", () =>
    Effect.gen(function* () {
      const plain = yield* startVendor(openAiResponse)
      const listed = yield* startVendor((received) =>
        received.path.endsWith("/models") ? [200, openAiModels("c1")] : openAiResponse(received)
      )
      const named = yield* startVendor(openAiResponse)
      const models = (id: string) => [{ id, operation: "chat" }]
      const server = yield* startWith([
        { id: "plain", url: plain.url, models: models("c0") },
        { id: "listed", dialect: "openai", url: listed.url },
        { id: "named", url: named.url, headers: { "user-agent": "ours/1" }, models: models("c2") }
      ])
      for (const model of ["c0", "c1", "c2"]) {
        yield* server.json(ChatResponse, CHAT, { json: { model, messages } })
      }
      const sluice = `sluice/${PACKAGE_VERSION}`
      const agents = [plain, listed, named].map(({ requests }) =>
        requests.map(({ headers }) => headers["user-agent"])
      )
      assert.deepStrictEqual(agents, [[sluice], [sluice, sluice], ["ours/1"]])
    }).pipe(Effect.scoped)
  )

  it.live("lists models with its own headers", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(({ headers }) => [
        200,
        openAiModels(`model-of-${String(headers["x-team"])}`)
      ])
      const upstream = { dialect: "openai", url: vendor.url }
      const server = yield* startWith(
        ["a", "b"].map((team) => ({ ...upstream, id: team, headers: { "x-team": team } }))
      )
      const { data } = yield* server.json(Listed, "/v1/models")
      assert.includeMembers(
        data.map(({ id }) => id),
        ["model-of-a", "model-of-b"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("Gemini's compatible endpoint: a version that is not at the end", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(openAiResponse)
      const baseURL = `${vendor.url}/v1beta/openai`
      const sdk = new OpenAI({ baseURL, apiKey: VENDOR_KEY })
      yield* Effect.promise(() => sdk.chat.completions.create({ model: "gemini-2.5-flash", messages }))
      const [asked] = vendor.requests
      const server = yield* startWith([
        {
          id: "gemini",
          dialect: "openai",
          url: baseURL,
          paths: { chat: "/chat/completions" },
          models: [{ id: "gemini-2.5-flash", operation: "chat" }]
        }
      ])
      const json = { model: "gemini-2.5-flash", messages, stream: true }
      const chunks = yield* server.events(ChatChunk, CHAT, { json })
      assert.strictEqual(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), "good day")
      assert.strictEqual(vendor.requests.at(-1)?.path, asked?.path)
    }).pipe(Effect.scoped)
  )

  it.live("a version at its end replaces the interface's", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(openAiResponse)
      const models = [{ id: "glm", operation: "chat" }]
      const server = yield* startWith([
        { id: "openrouter", dialect: "openrouter", url: `${vendor.url}/api/v1`, models },
        {
          id: "zhipu",
          dialect: "openai",
          url: `${vendor.url}/api/paas/v4`,
          models: [{ ...models[0], id: "glm-4" }]
        }
      ])
      for (const model of ["glm", "glm-4"]) {
        yield* server.json(ChatResponse, CHAT, { json: { model, messages } })
      }
      assert.deepStrictEqual(
        vendor.requests.map(({ path }) => path),
        ["/api/v1/chat/completions", "/api/paas/v4/chat/completions"]
      )
    }).pipe(Effect.scoped)
  )
})

describe("an upstream's fields", () => {
  it.live("are dropped and renamed, and all others pass byte for byte", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(openAiResponse)
      const upstream = { dialect: "openai", url: vendor.url, models: [{ id: "m", operation: "chat" }] }
      const server = yield* startWith([
        { ...upstream, id: "plain" },
        {
          ...upstream,
          id: "other",
          drop: ["user"],
          rename: { max_tokens: "max_output" },
          models: [{ id: "o", operation: "chat" }]
        }
      ])
      const fields = { messages, user: "u", max_tokens: 5, huge: 1 }
      yield* server.json(ChatResponse, CHAT, { json: { model: "o", ...fields } })
      assert.deepStrictEqual(vendor.requests.at(-1)?.body, { model: "o", messages, max_output: 5, huge: 1 })
      yield* server.json(ChatResponse, CHAT, { json: { model: "m", ...fields } })
      assert.deepStrictEqual(vendor.requests.at(-1)?.body, { model: "m", ...fields })
      assert.strictEqual(vendor.requests.at(-1)?.headers.authorization, `Bearer ${VENDOR_KEY}`)
    }).pipe(Effect.scoped)
  )

  /** Refuses what `gpt-next` refuses, in OpenAI's words. */
  const picky: Respond = (received) => {
    const { body } = received
    if (body["model"] === "o3") return openAiResponse(received)
    if ("max_tokens" in body) {
      const message =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
      return [400, openAiError(message, "max_tokens", "unsupported_parameter")]
    }
    if ("temperature" in body) {
      const message = "Unsupported value: 'temperature' does not support 0.2 with this model."
      return [400, openAiError(message, "temperature", "unsupported_value")]
    }
    if (messages.length > 0 && body["seed"] === -1) {
      return [400, openAiError("Invalid seed", "seed", "invalid_value")]
    }
    if (Number(body["top_p"]) > 1) {
      return [400, openAiError("top_p must be <= 1", "top_p", "invalid_value")]
    }
    return openAiResponse(received)
  }
  const refused = { id: "openai", dialect: "openai" }
  const models = ["next-1", "o3"].map((id) => ({ id, operation: "chat" }))

  it.live("that a model refuses are sent as it wants, after its 400, from then on", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(picky)
      const server = yield* startWith([{ ...refused, url: vendor.url, models }])
      const json = { model: "next-1", messages, max_tokens: 9, temperature: 0.2 }
      yield* server.json(ChatResponse, CHAT, { json })
      assert.lengthOf(vendor.requests, 3)
      yield* server.json(ChatResponse, CHAT, { json })
      assert.lengthOf(vendor.requests, 4)
      assert.deepStrictEqual(vendor.requests.at(-1)?.body, {
        model: "next-1",
        messages,
        max_completion_tokens: 9
      })
    }).pipe(Effect.scoped)
  )

  it.live("that a model refuses for their value are still sent with other values", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(picky)
      const server = yield* startWith([{ ...refused, url: vendor.url, models }])
      const json = { model: "next-1", messages, top_p: 1.5 }
      const response = yield* server.call(CHAT, { json })
      assert.deepInclude(yield* errorOf(response), { message: "top_p must be <= 1", param: "top_p" })
      yield* server.json(ChatResponse, CHAT, { json: { ...json, top_p: 0.5 } })
      assert.deepStrictEqual(
        vendor.requests.map(({ body }) => body["top_p"]),
        [1.5, 0.5]
      )
    }).pipe(Effect.scoped)
  )

  it.live("that a known family refuses are not sent to it", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(picky)
      const server = yield* startWith([{ ...refused, url: vendor.url, models }])
      const json = { model: "o3", messages, max_tokens: 9, temperature: 0.2 }
      yield* server.json(ChatResponse, CHAT, { json })
      assert.deepStrictEqual(
        vendor.requests.map(({ body }) => body),
        [{ model: "o3", messages, max_completion_tokens: 9 }]
      )
    }).pipe(Effect.scoped)
  )

  it.live("that are wrong for another reason are the caller's error", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(picky)
      const server = yield* startWith([{ ...refused, url: vendor.url, models }])
      const response = yield* server.call(CHAT, { json: { model: "next-1", messages, seed: -1 } })
      assert.strictEqual(response.status, 400)
      assert.deepInclude(yield* errorOf(response), { message: "Invalid seed", param: "seed" })
      assert.lengthOf(vendor.requests, 1)
    }).pipe(Effect.scoped)
  )
})

const Listed = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

describe("an upstream without a list of models", () => {
  const lists =
    (...ids: ReadonlyArray<string>): Respond =>
    (received) =>
      received.path.endsWith("/models") ? [200, openAiModels(...ids)] : openAiResponse(received)

  it.live("serves those that it lists, with an operation by their name, shown and correctable", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(
        lists("gpt-4o-mini", "text-embedding-3-small", "whisper-1", "strange-vectors")
      )
      const server = yield* startWith(
        [{ dialect: "openai", url: `${vendor.url}/v1`, operations: { "strange-vectors": "embeddings" } }],
        { file: { library: { embedding: "strange-vectors", chat: "gpt-4o-mini" } } }
      )
      assert.strictEqual(vendor.requests[0]?.path, "/v1/models")
      assert.strictEqual(vendor.requests[0]?.headers.authorization, `Bearer ${VENDOR_KEY}`)
      const { data } = yield* server.json(Listed, "/v1/models")
      assert.sameMembers(
        data.map(({ id }) => id),
        ["gpt-4o-mini", "text-embedding-3-small", "strange-vectors", "sluice/default"]
      )
      const input = { input: "a" }
      for (const model of ["text-embedding-3-small", "strange-vectors"]) {
        yield* server.json(EmbeddingResponse, "/v1/embeddings", { json: { model, ...input } })
      }
      assert.include(
        server.printed.join("\n"),
        "`openai` lists gpt-4o-mini (chat), text-embedding-3-small (embeddings), strange-vectors (embeddings)"
      )
    }).pipe(Effect.scoped)
  )

  it.live("needs no key on this machine, and takes a vendor's from its usual variable", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(lists("llama3.3"))
      const server = yield* startWith(
        [
          { dialect: "ollama", url: `${vendor.url}/v1`, apiKey: undefined },
          { dialect: "mistral", url: `${vendor.url}/v1`, apiKey: undefined }
        ],
        { env: { MISTRAL_API_KEY: "sk-of-mistral" } }
      )
      assert.deepStrictEqual(
        vendor.requests.map(({ headers }) => headers.authorization),
        ["Bearer none", "Bearer sk-of-mistral"]
      )
      yield* server.json(ChatResponse, CHAT, { json: { model: "llama3.3", messages } })
    }).pipe(Effect.scoped)
  )

  it.live("that does not list them fails the start with the reason", () =>
    Effect.gen(function* () {
      const vendor = yield* startVendor(() => [
        401,
        openAiError("Incorrect API key provided", null, "invalid_api_key")
      ])
      const file = join(yield* temporaryFolder, "sluice.config.json")
      const upstreams = [{ dialect: "openai", url: vendor.url, apiKey: { env: "K" } }]
      writeFileSync(file, JSON.stringify({ upstreams }))
      const { printed } = yield* failedStart(yield* temporaryFolder, { SLUICE_CONFIG: file, K: "sk-wrong" })
      assert.include(
        printed,
        `the models of \`openai\` could not be listed: status 401 at ${vendor.url}/v1/models: Incorrect API key provided. Name them in \`models\``
      )
    }).pipe(Effect.scoped)
  )
})
