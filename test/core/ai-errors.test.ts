import { assert, describe, layer as describeLayer, it as plain } from "@effect/vitest"
import {
  apiKey,
  Forbidden,
  GatewayError,
  type GatewayReason,
  InsufficientQuota,
  InvalidRequest,
  InvalidResponse,
  NotFound,
  PartialFailure,
  RateLimited,
  RETRY_NEVER,
  ServerFailure,
  TaskFailed,
  TimedOut,
  Unauthorized,
  Unreachable
} from "@sluice/core"
import { aiError, GatewayEmbeddingModel, GatewayLanguageModel } from "@sluice/core/ai"
import { GatewayClient } from "@sluice/core/client"
import { Duration, Effect, Layer, Stream } from "effect"
import { type AiError, EmbeddingModel, LanguageModel } from "effect/ai"
import { LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"

const after = Duration.seconds(1)
const message = "what the gateway said"
const call = { module: "M", method: "m", path: "/v1/p" }
const reasons: ReadonlyArray<readonly [GatewayReason, AiError.AiErrorReason["_tag"]]> = [
  [new InvalidRequest({ message }), "InvalidRequestError"],
  [new InvalidRequest({ message, code: "content_policy_violation" }), "ContentPolicyError"],
  [new Unauthorized({ message }), "AuthenticationError"],
  [new Forbidden({ message }), "AuthenticationError"],
  [new InsufficientQuota({ message }), "QuotaExhaustedError"],
  [new NotFound({ message }), "InvalidRequestError"],
  [new RateLimited({ message, retryAfter: after }), "RateLimitError"],
  [new RateLimited({ message, final: true }), "UnknownError"],
  [new ServerFailure({ message, status: 503 }), "InternalProviderError"],
  [new ServerFailure({ message, status: 503, final: true }), "UnknownError"],
  [new Unreachable({ message }), "NetworkError"],
  [new TimedOut({ message, scope: "attempt", after }), "InternalProviderError"],
  [new TimedOut({ message, scope: "call", after }), "UnknownError"],
  [new InvalidResponse({ message }), "InvalidResponseError"],
  [new TaskFailed({ message, task: "t" }), "UnknownError"],
  [
    new PartialFailure({
      message: "2 of 3",
      failed: [1],
      kept: new Map(),
      first: new RateLimited({ message })
    }),
    "RateLimitError"
  ]
]

describe("a GatewayError converted to an AiError", () => {
  for (const [reason, expected] of reasons) {
    plain(`${reason._tag}, ${reason.isRetryable ? "" : "not "}to be repeated, is ${expected}`, () => {
      const before = new GatewayError({ operation: "chat", model: "c", requestId: "req-7", reason })
      const error = aiError(call, before)
      assert.strictEqual(error.reason._tag, expected)
      assert.strictEqual(error.isRetryable, before.isRetryable)
      const silent = ["QuotaExhaustedError", "RateLimitError"]
      if (!silent.includes(expected)) assert.include(error.message, message)
      if ("metadata" in error.reason) {
        assert.deepStrictEqual(error.reason.metadata, {
          sluice: { operation: "chat", model: "c", requestId: "req-7" }
        })
      }
    })
  }
})

const Models = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
    Layer.mergeAll(
      GatewayLanguageModel.layer({ model: "c" }),
      GatewayEmbeddingModel.layer({ model: "e" })
    ).pipe(Layer.provide(GatewayClient.layer({ baseUrl, apiKey: apiKey("k"), retry: RETRY_NEVER })))
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer))

describeLayer(Models)("a gateway's refusal", (it) => {
  type Services = LanguageModel.LanguageModel | EmbeddingModel.EmbeddingModel
  const programs: Readonly<Record<string, Effect.Effect<void, AiError.AiError, Services>>> = {
    generateText: Effect.asVoid(LanguageModel.generateText({ prompt: "?" })),
    streamText: Stream.runDrain(LanguageModel.streamText({ prompt: "?" })),
    embed: Effect.asVoid(EmbeddingModel.EmbeddingModel.use(({ embed }) => embed("a"))),
    embedMany: Effect.asVoid(EmbeddingModel.EmbeddingModel.use(({ embedMany }) => embedMany(["a", "b"])))
  }
  for (const [name, program] of Object.entries(programs)) {
    it.effect(`reaches a caller of ${name} with its delay and its parameter`, () =>
      Effect.gen(function* () {
        const { behave } = yield* LoopbackGateway
        behave(refuse(429, openAi({ message: "slowly" }), { "retry-after": "7" }))
        const limited = yield* Effect.flip(program)
        assert.strictEqual(limited.reason._tag, "RateLimitError")
        assert.strictEqual(limited.retryAfter && Duration.toSeconds(limited.retryAfter), 7)
        behave(refuse(400, openAi({ message: "too long", param: "input" })))
        const { reason } = yield* Effect.flip(program)
        assert.isTrue(reason._tag === "InvalidRequestError" && reason.parameter === "input")
        assert.include(reason.message, "too long")
      })
    )
  }
})
