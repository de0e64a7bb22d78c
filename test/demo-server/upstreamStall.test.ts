/** Responses of upstreams that stall. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway, GatewayError, TimedOut } from "@sluice/core"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Option, Stream } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { layerLibraryGateway } from "../../apps/demo-server/src/providers/LibraryGateway.ts"
import { loopback } from "./Loopback.ts"
import { makeRedactor } from "../../apps/demo-server/src/routing/RedactCredential.ts"
import {
  forwardVideo,
  forwardResponse,
  type ReadResponse
} from "../../apps/demo-server/src/routing/UpstreamResponse.ts"

const names = {
  operation: "chat",
  called: "m",
  model: "m",
  mayBeEmpty: false
} as const

/** What a caller receives of a response that has these parts and then stalls. */
const received = (read: ReadResponse, contentType: string, ...begun: ReadonlyArray<string>) => {
  const parts = begun.map((part) => new TextEncoder().encode(part))
  return receivedOf(read, contentType, Stream.concat(Stream.fromIterable(parts), Stream.never))
}

const receivedOf = (read: ReadResponse, contentType: string, stream: Stream.Stream<Uint8Array>) =>
  Effect.gen(function* () {
    const head = HttpClientResponse.fromWeb(
      HttpClientRequest.get("http://upstream"),
      new Response(null, { headers: { "content-type": contentType } })
    )
    // Not from a socket, whose timers the test clock does not control.
    const answer = yield* read(Object.defineProperty(head, "stream", { value: stream }))
    const body = "error" in answer ? undefined : answer.body
    assert.strictEqual(body?._tag, "Stream")
    if (body?._tag !== "Stream") return { text: "", exit: Exit.void }
    let text = ""
    const exit = yield* body.stream.pipe(
      Stream.runForEach((part) => Effect.sync(() => void (text += new TextDecoder().decode(part)))),
      Effect.exit
    )
    return { text, exit }
  })

describe("an upstream that stalls", () => {
  it.effect("in a stream: the stream ends with an error event after the idle time", () =>
    Effect.gen(function* () {
      const caller = yield* Effect.forkChild(
        received(
          forwardResponse(Duration.seconds(20), names, makeRedactor("sk-none")),
          "text/event-stream",
          "data: one\n\n",
          'data: {"choices":[{"ind'
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("19 seconds")
      assert.isUndefined(caller.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const { exit, text } = yield* Fiber.join(caller)
      assert.isTrue(Exit.isSuccess(exit))
      assert.match(text, /^data: one\n+data: \{.*"upstream_broke_off".*\}\n\n$/)
    })
  )

  it.effect("after [DONE]: the stream ends at once, and the rest is dropped", () =>
    Effect.gen(function* () {
      const read = forwardResponse(Duration.seconds(20), names, makeRedactor("sk-none"))
      const late = "data: late\n\n"
      const { exit, text } = yield* received(
        read,
        "text/event-stream",
        `data: one\n\ndata: [DONE]\n\n${late}`
      )
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(text, "data: one\n\ndata: [DONE]\n\n")
    })
  )

  it.effect("after [DONE] in the same chunk: all events before it pass", () =>
    Effect.gen(function* () {
      const read = forwardResponse(Duration.seconds(20), names, makeRedactor("sk-none"))
      const parts = ["data: one\n\nda", "ta: two\n\n", "data: three\n\n", "data: [DONE]\n\n"]
      const { text } = yield* received(read, "text/event-stream", ...parts)
      assert.strictEqual(text, parts.join(""))
    })
  )

  it.effect("in a file: the download fails, so that it does not look complete", () =>
    Effect.gen(function* () {
      const caller = yield* Effect.forkChild(received(forwardVideo, "video/mp4", "the beginning"), {
        startImmediately: true
      })
      yield* TestClock.adjust("60 seconds")
      const { exit, text } = yield* Fiber.join(caller)
      assert.strictEqual(text, "the beginning")
      const error = Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : Option.none()
      assert.instanceOf(Option.getOrUndefined(error), TimedOut)
    })
  )
})

describe("an upstream that sends a little every 50 seconds", () => {
  const drip = (text: string) =>
    Stream.fromEffectRepeat(Effect.delay(Effect.succeed(new TextEncoder().encode(text)), "50 seconds"))

  for (const line of [": ping\n", "\n", "data: {}\n\n"]) {
    it.effect(`ends after an hour with an error event: ${JSON.stringify(line)}`, () =>
      Effect.gen(function* () {
        const read = forwardResponse(Duration.minutes(1), names, makeRedactor("sk-none"))
        const caller = yield* Effect.forkChild(receivedOf(read, "text/event-stream", drip(line)), {
          startImmediately: true
        })
        yield* TestClock.adjust("59 minutes")
        assert.isUndefined(caller.pollUnsafe())
        yield* TestClock.adjust("2 minutes")
        const { text } = yield* Fiber.join(caller)
        assert.match(text, /data: \{.*"upstream_beyond_limit".*\}\n\n$/)
      })
    )
  }

  it.effect("as a file: the download fails after an hour", () =>
    Effect.gen(function* () {
      const caller = yield* Effect.forkChild(receivedOf(forwardVideo, "video/mp4", drip("x")), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 hour")
      const { exit } = yield* Fiber.join(caller)
      const error = Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : Option.none()
      assert.instanceOf(Option.getOrUndefined(error), TimedOut)
    })
  )
})

describe("an upstream whose answer does not end", () => {
  it.effect("costs the library's question after an hour", () =>
    Effect.gen(function* () {
      const { url } = yield* loopback(({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write('data: {"choices":[{"index":0,"delta":{"content":"The"}}]}\n\n')
      })
      const connection = {
        url,
        apiKey: apiKey("sk-none"),
        timeout: Duration.minutes(1),
        // Longer than the test: the idle time is not what ends the stream.
        idle: Duration.hours(2),
        names: { url: "URL", apiKey: "KEY" }
      }
      const begun = yield* Deferred.make<void>()
      const caller = yield* Effect.gen(function* () {
        const gateway = yield* Gateway
        const messages = [{ role: "user", content: "?" }] as const
        yield* Stream.runForEach(gateway.chatStream({ model: "m", messages }), () =>
          Deferred.succeed(begun, undefined)
        )
      }).pipe(
        Effect.provide(
          layerLibraryGateway({ ...connection, id: "stalling" }, { timeout: connection.timeout })
        ),
        Effect.forkChild
      )
      yield* Deferred.await(begun)
      yield* TestClock.adjust("59 minutes")
      assert.isUndefined(caller.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      const error = yield* Effect.flip(Fiber.join(caller))
      assert.instanceOf(error, GatewayError)
      assert.match(error.message, /did not end within 1h/)
    }).pipe(Effect.scoped)
  )
})
