import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import {
  AccessTokenAuth,
  ApiKeyAuth,
  DONE,
  ErrorBody,
  Failure,
  GatewayApi,
  MalformedRequest,
  Principal,
  encodeVector
} from "@sluice/core/contract"
import {
  apiKey,
  Gateway,
  type GatewayReason,
  Forbidden,
  InsufficientQuota,
  InvalidRequest,
  InvalidResponse,
  NotFound,
  RateLimited,
  RETRY_NEVER,
  ServerFailure,
  TimedOut,
  Unauthorized,
  Unreachable
} from "@sluice/core"
import { GatewayClient, makeCaller } from "@sluice/core/client"
import { Duration, Effect, Fiber, Layer, Redacted, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder, OpenApi } from "effect/http-api"
import { TestClock } from "effect/testing"
import { AccountHandlers } from "./accountHandlers.ts"
import { ImagesHandlers } from "./imagesHandlers.ts"
import { VideosHandlers } from "./videosHandlers.ts"

const second = Duration.seconds(1.5)
const REASONS: ReadonlyArray<GatewayReason> = [
  new InvalidRequest({ message: "m", param: "input", code: "c" }),
  new Unauthorized({ message: "m" }),
  new Forbidden({ message: "m", code: "c" }),
  new InsufficientQuota({ message: "m" }),
  new NotFound({ message: "m", code: "model_not_found" }),
  new RateLimited({ message: "m", retryAfter: second }),
  new ServerFailure({ message: "m", status: 503, retryAfter: second }),
  new ServerFailure({ message: "m", status: 500, final: true })
]

/** The parts of a reason that a caller acts on. */
const essence = (reason: GatewayReason) => ({
  tag: reason._tag,
  retryable: reason.isRetryable,
  wait: "retryAfter" in reason && reason.retryAfter ? Duration.toMillis(reason.retryAfter) : undefined,
  param: "param" in reason ? reason.param : undefined
})

const authenticated =
  (secret: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>, { credential }: { readonly credential: Redacted.Redacted }) =>
    Redacted.value(credential) === secret
      ? Effect.provideService(effect, Principal, { user: "u-1" })
      : Effect.fail(Failure.fromReason(new Unauthorized({ message: "no such credential" })))

/** The smallest server of the contract: `model: "reason-<n>"` fails with that reason. */
const Handlers = Layer.mergeAll(
  HttpApiBuilder.group(GatewayApi, "rerank", (handlers) => {
    const results = [{ index: 0, relevance_score: 1, document: undefined }]
    return Effect.succeed(
      handlers
        .handle("create", ({ payload }) => Effect.succeed({ id: payload.model, results }))
        .handle("createV2", ({ payload }) => Effect.succeed({ id: payload.model, results }))
    )
  }),
  HttpApiBuilder.group(GatewayApi, "embeddings", (handlers) =>
    Effect.succeed(
      handlers.handle("create", ({ payload }) => {
        const reason = REASONS[Number(payload.model.replace("reason-", ""))]
        if (reason !== undefined) return Effect.fail(Failure.fromReason(reason))
        const vector = Float32Array.of(1, 2)
        const embedding = payload.encoding_format === "base64" ? encodeVector(vector) : [...vector]
        return Effect.succeed({ data: [{ index: 0, embedding }], model: payload.model })
      })
    )
  ),
  HttpApiBuilder.group(GatewayApi, "chat", (handlers) =>
    Effect.succeed(
      handlers.handle("create", ({ payload }) => {
        const chunk = { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] }
        return Effect.map(Principal, ({ user }) =>
          payload.stream === true
            ? Stream.make({ event: "message", data: chunk }, { event: "message", data: DONE } as const)
            : { choices: [{ message: { role: "assistant", content: `Hi ${user}` } }] }
        )
      })
    )
  ),
  HttpApiBuilder.group(GatewayApi, "models", (handlers) => {
    const data = [{ id: "m" }]
    return Effect.succeed(
      handlers
        .handle("list", () => Effect.succeed({ data }))
        .handle("all", () => Effect.succeed({ data }))
        .handle("available", () => Effect.succeed({ data }))
    )
  }),
  VideosHandlers,
  ImagesHandlers,
  AccountHandlers
)

const Server = HttpRouter.serve(
  HttpApiBuilder.layer(GatewayApi).pipe(
    Layer.provide(Handlers),
    Layer.provide(Layer.succeed(ApiKeyAuth, { apiKey: authenticated("sk-1") })),
    Layer.provide(Layer.succeed(AccessTokenAuth, { systemAccessToken: authenticated("sat-1") })),
    Layer.provide(MalformedRequest.layer)
  ),
  { disableLogger: true, disableListenLog: true }
).pipe(Layer.provideMerge(NodeHttpServer.layerTest))

const send = Effect.fn(function* (path: string, body: unknown, credential = "sk-1") {
  const request = body === undefined ? HttpClientRequest.get(path) : HttpClientRequest.post(path)
  const response = yield* request.pipe(
    body === undefined ? (get) => get : HttpClientRequest.bodyJsonUnsafe(body),
    HttpClientRequest.bearerToken(credential),
    HttpClient.execute
  )
  return { status: response.status, headers: response.headers, body: yield* response.json }
})

const gateway = Layer.unwrap(
  Effect.map(HttpServer.HttpServer, (server) => {
    const port = "port" in server.address ? server.address.port : 0
    return GatewayClient.layer({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: apiKey("sk-1"),
      retry: RETRY_NEVER
    })
  })
)

layer(Layer.provideMerge(gateway, Server))("the contract", (it) => {
  it.effect("carries every reason to the client, with its delay", () =>
    Effect.gen(function* () {
      const client = yield* Gateway
      for (const [i, sent] of REASONS.entries()) {
        const { reason } = yield* Effect.flip(client.embeddings({ model: `reason-${i}`, input: ["a"] }))
        assert.deepStrictEqual(essence(reason), essence(sent))
        assert.include(reason.message, sent.message)
      }
    })
  )

  it.effect("has error bodies with all four fields", () =>
    Effect.gen(function* () {
      const answers = [
        yield* send("/v1/embeddings", { model: "reason-0", input: "a" }),
        yield* send("/v1/embeddings", { model: "m", input: [] }),
        yield* send("/v1/embeddings", "no object"),
        yield* send("/v1/embeddings", { model: "m", input: "a" }, "sat-1"),
        yield* send("/api/models", undefined, "sk-1")
      ]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [400, 400, 400, 401, 401]
      )
      for (const { body, headers } of answers) {
        const { error } = yield* Schema.decodeUnknownEffect(ErrorBody)(body)
        assert.deepStrictEqual(Object.keys(error).toSorted(), ["code", "message", "param", "type"])
        assert.strictEqual(headers["x-should-retry"], "false")
      }
    })
  )

  it.effect("names the invalid field", () =>
    Effect.gen(function* () {
      const rerank = { model: "m", query: "q", documents: ["a"] }
      const wrong = {
        query: { ...rerank, query: "" },
        documents: { ...rerank, documents: [] },
        "documents.1": { ...rerank, documents: ["a", 7] },
        top_n: { ...rerank, top_n: -1 }
      }
      for (const [param, body] of Object.entries(wrong)) {
        const answer = yield* send("/v1/rerank", body)
        const { error } = yield* Schema.decodeUnknownEffect(ErrorBody)(answer.body)
        assert.strictEqual(error.param, param)
      }
    })
  )

  it.effect("accepts PNG, JPEG and WEBP images of at most 20 MB, as URL or data URI", () =>
    Effect.gen(function* () {
      const statusOf = (url: string) => {
        const part = { type: "image_url", image_url: { url, detail: null } }
        const body = {
          model: "m",
          messages: [{ role: "user", content: [{ type: "text", text: "?" }, part] }]
        }
        return Effect.map(send("/v1/chat/completions", body), ({ status }) => status)
      }
      const base64 = (bytes: number) => Buffer.alloc(bytes).toString("base64")
      for (const good of [
        "https://h/a.png",
        "data:image/png;base64,AAAA",
        `data:image/webp;base64,${base64(20 * 2 ** 20)}`
      ]) {
        assert.strictEqual(yield* statusOf(good), 200)
      }
      for (const bad of [
        "",
        "file:///etc/passwd",
        "data:image/gif;base64,AAAA",
        `data:image/png;base64,${base64(20 * 2 ** 20 + 1)}`
      ]) {
        assert.strictEqual(yield* statusOf(bad), 400)
      }
    })
  )

  it.effect(
    "says in its OpenAPI document what it does: undeclared fields are tolerated, each credential has its paths",
    () =>
      Effect.sync(() => {
        const document = OpenApi.fromApi(GatewayApi)
        assert.notInclude(JSON.stringify(document), '"additionalProperties":false')
        const security = Object.entries(document.paths).map(([path, item]) => [
          path,
          (item.get ?? item.post)?.security
        ])
        for (const [path, schemes] of security) {
          const scheme = String(path).startsWith("/api/") ? "systemAccessToken" : "apiKey"
          assert.deepStrictEqual(schemes, [{ [scheme]: [] }])
        }
      })
  )

  it.effect("decodes null as absent, omits absent fields, and accepts unknown fields", () =>
    Effect.gen(function* () {
      const body = {
        model: "m",
        query: "q",
        documents: ["a", { text: "b" }],
        top_n: null,
        max_chunks_per_doc: null
      }
      for (const path of ["/v1/rerank", "/v2/rerank"]) {
        const answer = yield* send(path, body)
        assert.deepStrictEqual(
          [answer.status, answer.body],
          [200, { id: "m", results: [{ index: 0, relevance_score: 1 }] }]
        )
      }
    })
  )

  it.effect("exchanges every call between its client and its handlers", () =>
    Effect.gen(function* () {
      const client = yield* Gateway
      const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }]
      assert.strictEqual((yield* client.chat({ model: "m", messages })).text, "Hi u-1")
      assert.deepStrictEqual(yield* Stream.runCollect(client.chatStream({ model: "m", messages })), [
        { type: "text", text: "Hi" },
        { type: "end", finishReason: "stop", promptTokens: 0, completionTokens: 0 }
      ])
      assert.deepStrictEqual((yield* client.embeddings({ model: "m", input: ["a"] })).vectors, [
        Float32Array.of(1, 2)
      ])
      const floats = yield* send("/v1/embeddings", { model: "m", input: "a" })
      assert.deepStrictEqual(floats.body, { data: [{ index: 0, embedding: [1, 2] }], model: "m" })
      assert.deepStrictEqual(yield* client.models, [{ id: "m" }])
    })
  )

  it.effect("maps upstream failures to 502 or 504", () =>
    Effect.sync(() => {
      const statusOf = (reason: GatewayReason) => Failure.fromReason(reason).status
      assert.strictEqual(statusOf(new Unreachable({ message: "m" })), 502)
      assert.strictEqual(statusOf(new InvalidResponse({ message: "m" })), 502)
      assert.strictEqual(statusOf(new ServerFailure({ message: "m", status: 529 })), 502)
      assert.strictEqual(statusOf(new TimedOut({ message: "m", scope: "call", after: second })), 504)
    })
  )

  it.effect("does not name client options to HTTP callers", () =>
    Effect.gen(function* () {
      const options = { attemptTimeout: "1 millis", retry: RETRY_NEVER } as const
      const { call } = makeCaller(options, apiKey("sk-0123456789"))
      const waiting = call({ operation: "rerank", model: "m" }, Effect.never)
      const running = yield* Effect.forkChild(Effect.flip(waiting))
      yield* TestClock.adjust("1 second")
      const { reason } = yield* Fiber.join(running)
      assert.strictEqual(reason.message, "No complete response within 1ms (`attemptTimeout`).")
      assert.strictEqual(Failure.fromReason(reason).message, "No complete response within 1ms.")
      const large = new InvalidResponse({ message: "The response is too large (`maxResponseBytes`)." })
      assert.notInclude(Failure.fromReason(large).message, "`")
    })
  )
})
