import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway } from "@sluice/core"
import { type CallOptions, GatewayClient } from "@sluice/core/client"
import { Effect, Exit, Fiber, Layer, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"

const text = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`
const STOP = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`
const DONE = "data: [DONE]\n\n"

/** Bytes and the seconds of silence between them; after the last of them the stream ends, or stays open. */
type Step = string | number

/** What the caller saw of a stream of these steps, and its end: the finish reason, or why it failed. */
const follow = Effect.fn(function* (steps: ReadonlyArray<Step>, open = false, limits: CallOptions = {}) {
  const encoder = new TextEncoder()
  const body = new TransformStream<Uint8Array, Uint8Array>()
  const writer = body.writable.getWriter()
  const reply = new Response(body.readable, { headers: { "content-type": "text/event-stream" } })
  const transport = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, reply)))
  )
  const client = GatewayClient.layerWithoutTransport({
    baseUrl: "http://g",
    apiKey: apiKey("k"),
    attemptTimeout: "60 seconds",
    callTimeout: "3 minutes",
    ...limits
  })
  let said = ""
  const fiber = yield* Gateway.use((gateway) =>
    gateway
      .chatStream({ model: "c", messages: [{ role: "user", content: "hi" }] })
      .pipe(
        Stream.runForEach((part) =>
          Effect.sync(() => (said += part.type === "text" ? part.text : `|${part.finishReason ?? "end"}`))
        )
      )
  ).pipe(Effect.exit, Effect.provide(Layer.provide(client, transport)), Effect.forkChild)
  const settle = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  for (const step of steps) {
    if (typeof step === "number") yield* TestClock.adjust(`${step} seconds`)
    else writer.write(encoder.encode(step)).catch(() => undefined)
    yield* settle
  }
  if (!open) writer.close().catch(() => undefined)
  yield* settle
  if (open) yield* TestClock.adjust("1 hour")
  const exit = yield* Fiber.join(fiber)
  const reason = Exit.isFailure(exit) ? (yield* Effect.flip(exit)).reason : undefined
  return { said, failed: reason?._tag, option: /\(`(\w+)`\)/.exec(reason?.message ?? "")?.[1] }
})

describe("a chat stream continues", () => {
  const chunks = [text("a"), STOP, DONE]
  const followed: ReadonlyArray<readonly [name: string, steps: ReadonlyArray<Step>]> = [
    ["to [DONE]", chunks],
    ["with CRLF, byte by byte", [...chunks.join("").replaceAll("\n", "\r\n")]],
    ["without [DONE] after its finish reason", [text("a"), STOP]],
    ["with a space after [DONE]", [text("a"), STOP, "data: [DONE] \n\n"]],
    ["past a line that sets the time to reconnect", ["retry: 1000\n\n", 1, ...chunks]],
    ["past comments and named events", [": hi\n\n", "event: ping\ndata: {}\n\n", ...chunks]],
    [
      "past chunks without delta or choices",
      [
        text("a"),
        `data: {"choices":[{"finish_reason":"stop"}]}\n\n`,
        `data: {"usage":{"prompt_tokens":3}}\n\n`,
        DONE
      ]
    ],
    ["through minutes of comments", [": wait\n\n", 50, ": wait\n\n", 50, ": wait\n\n", 50, ...chunks]],
    [
      "through minutes of thinking",
      [
        ...Array.from({ length: 20 }, () => [
          `data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}\n\n`,
          50
        ]).flat(),
        ...chunks
      ]
    ]
  ]
  for (const [name, steps] of followed) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const { failed, said } = yield* follow(steps)
        assert.deepStrictEqual([said, failed], ["a|stop", undefined])
      })
    )
  }
})

describe("a chat stream fails after the earlier parts", () => {
  const raised = (cause: object) =>
    `event: effect/http-api/stream/failure\ndata: [${JSON.stringify(cause)}]\n\n`
  const failing: ReadonlyArray<
    readonly [name: string, steps: ReadonlyArray<Step>, tag: string, open?: true]
  > = [
    ["when it stops short", [], "Unreachable"],
    [
      "when it is truncated, also with an empty finish reason",
      [`data: {"choices":[{"delta":{},"finish_reason":""}]}\n\n`],
      "Unreachable"
    ],
    ["when an event is no JSON", ["data: {nope\n\n"], "InvalidResponse"],
    ["when an event is no chunk", [`data: {"x":1}\n\n`], "InvalidResponse"],
    [
      "when an error stands beside its last chunk",
      [
        `data: {"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"Provider disconnected"}}\n\n`,
        DONE
      ],
      "ServerFailure"
    ],
    ["when an event says so in one word", [`data: {"error":"overloaded"}\n\n`], "ServerFailure"],
    [
      "when an event has an error code as text",
      [`data: {"error":{"message":"m","code":"429"}}\n\n`],
      "RateLimited"
    ],
    ["and raises no defect that the gateway names", [raised({ _tag: "Die", defect: "boom" })], "Unreachable"],
    ["and is interrupted by no gateway", [raised({ _tag: "Interrupt", fiberId: 1 })], "Unreachable"],
    ["when nothing comes any more", [], "TimedOut", true],
    [
      "when only comments arrive",
      Array.from({ length: 10 }, () => [50, ": wait\n\n"]).flat(),
      "TimedOut",
      true
    ]
  ]
  for (const [name, steps, tag, open] of failing) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const { failed, said } = yield* follow([text("a"), ...steps], open)
        assert.deepStrictEqual([said, failed], ["a", tag])
      })
    )
  }
})

describe("the time-outs of an open chat stream", () => {
  const idle = { idleTimeout: "20 seconds" } as const
  const comments = (count: number, apart: number) =>
    Array.from({ length: count }, () => [apart, ": wait\n\n"]).flat()
  const ended: ReadonlyArray<
    readonly [name: string, steps: ReadonlyArray<Step>, limits: CallOptions, said: string, option: string]
  > = [
    ["silence, by `attemptTimeout`", [], {}, "a", "attemptTimeout"],
    ["comments alone, by `callTimeout`", comments(5, 50), {}, "a", "callTimeout"],
    ["silence, by `idleTimeout` where it is given", [15, text("b"), 21, text("c")], idle, "ab", "idleTimeout"]
  ]
  for (const [name, steps, limits, said, option] of ended) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const given = yield* follow([text("a"), ...steps], true, limits)
        assert.deepStrictEqual(given, { said, failed: "TimedOut", option })
      })
    )
  }

  it.effect("comments keep it open with `idleTimeout`", () =>
    Effect.gen(function* () {
      const steps = [text("a"), ...comments(20, 15), STOP, DONE]
      const { said } = yield* follow(steps, false, { ...idle, callTimeout: "60 seconds" })
      assert.strictEqual(said, "a|stop")
    })
  )
})
