/** Streams: the usage that the server requests for billing, and streams without end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { ServerResponse } from "node:http"
import { quotaOf } from "./AccountCalls.ts"
import { startPaidServer, chat, CHAT_INPUT, costs, events, piece, post } from "./PaidServer.ts"
import { json } from "./Upstream.ts"

const stream = { ...chat, stream: true }
const PATH = "/v1/chat/completions"
const usage = { prompt_tokens: 10, completion_tokens: 90, total_tokens: 100 }
const USAGE = { choices: [], usage }

const optionsIn = (body: string | undefined) =>
  (JSON.parse(body ?? "{}") as { readonly stream_options?: unknown }).stream_options

describe("the usage of a stream", () => {
  it.live("is requested and billed, and shown to callers who request it", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) => {
        events(response, { ...piece("thought"), usage: null })
        const last = JSON.stringify(USAGE)
        // Split inside the event.
        response.write(`data: ${last.slice(0, 20)}`)
        setImmediate(() => {
          response.write(`${last.slice(20)}\n\n`)
          response.end("data: [DONE]\n\n")
        })
      })
      const hidden = yield* costs(server, post(server, PATH, stream), 100)
      assert.deepStrictEqual(optionsIn(requests()[0]?.body), { include_usage: true })
      assert.include(hidden.text, "thought")
      assert.include(hidden.text, "data: [DONE]\n\n")
      assert.notInclude(hidden.text, "prompt_tokens")

      const off = { ...stream, stream_options: { include_usage: false, other: 5 }, seed: 7 }
      assert.notInclude((yield* costs(server, post(server, PATH, off), 100)).text, "prompt_tokens")
      assert.deepStrictEqual(JSON.parse(requests()[1]?.body ?? ""), {
        ...off,
        stream_options: { include_usage: true, other: 5 }
      })
      const shown = { ...stream, stream_options: { include_usage: true } }
      const told = yield* costs(server, post(server, PATH, shown), 100)
      assert.include(told.text, `data: ${JSON.stringify(USAGE)}\n\n`)
      assert.strictEqual(requests()[2]?.body, JSON.stringify(shown))

      const speaking = `{"seed":9007199254740993,"x":1.0,"model":"c","stream":true,"messages":[{"role":"user","content":"stream_options?"}]}`
      const headers = { "content-type": "application/json" }
      yield* costs(server, server.call(PATH, { method: "POST", headers, body: speaking }), 100)
      const included = '{"stream_options":{"include_usage":true},'
      assert.strictEqual(requests()[3]?.body, included + speaking.slice(1))
    }).pipe(Effect.scoped)
  )

  it.live(
    "is not requested again from a gateway that rejects the option, and other errors are not retried",
    () =>
      Effect.gen(function* () {
        const { requests, server } = yield* startPaidServer((response, { body }) => {
          if (body.includes("wrong")) {
            return json(response, { error: { message: "no", param: "messages" } }, 400)
          }
          if (body.includes("stream_options")) return json(response, { error: { message: "unknown" } }, 422)
          events(response, piece("one"))
          response.end("data: [DONE]\n\n")
        })
        const wrong = { ...stream, messages: [{ role: "user", content: "wrong" }] }
        assert.strictEqual((yield* post(server, PATH, wrong)).status, 400)
        assert.lengthOf(requests(), 1)
        for (const calls of [3, 4]) {
          const answer = yield* costs(server, post(server, PATH, stream), CHAT_INPUT + 1)
          assert.strictEqual(answer.status, 200)
          assert.lengthOf(requests(), calls)
        }
      }).pipe(Effect.scoped)
  )
})

describe("a stream of images", () => {
  it.live("passes unchanged, and without usage is billed by its pieces", () =>
    Effect.gen(function* () {
      const image = { ...piece("one"), image: "A".repeat(1_200_000) }
      const { server } = yield* startPaidServer((response) => {
        events(response, image, image, image)
        response.end("data: [DONE]\n\n")
      })
      const { text } = yield* costs(server, post(server, PATH, stream), CHAT_INPUT + 3)
      assert.strictEqual(text, `data: ${JSON.stringify(image)}\n\n`.repeat(3) + "data: [DONE]\n\n")
    }).pipe(Effect.scoped)
  )
})

describe("a stream without text", () => {
  const KIB = 1024
  for (const [name, filler] of [
    ["comments", ": ping\n"],
    ["blank lines", "\n"],
    ["empty events", 'data: {"choices":[]}\n\n']
  ] as const) {
    it.live(`is billed by its bytes: ${name}`, () =>
      Effect.gen(function* () {
        const body = filler.repeat(10 * KIB)
        const { server } = yield* startPaidServer((response, received) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(body)
          if (received.body.includes("word")) response.write(`data: ${JSON.stringify(piece("word"))}\n\n`)
          response.end("data: [DONE]\n\n")
        })
        const bytes = Math.floor((body.length + "data: [DONE]\n\n".length) / KIB)
        yield* costs(server, post(server, PATH, stream), CHAT_INPUT + bytes)
      }).pipe(Effect.scoped)
    )
  }

  it.live("ends at 64 MiB, and is billed by its bytes if they are one line", () =>
    Effect.gen(function* () {
      const line = Buffer.alloc(1024 * KIB, "x")
      const { server } = yield* startPaidServer((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const more = () => {
          if (response.destroyed) return
          if (response.write(line)) setImmediate(more)
          else response.once("drain", more)
        }
        more()
      })
      const had = yield* quotaOf(server)
      const { text } = yield* post(server, PATH, stream)
      assert.match(text.slice(-400), /exceeds 64 MiB, the limit of a response.*"upstream_beyond_limit"/)
      assert.isAtMost(text.length, 65 * 1024 * KIB)
      yield* Effect.repeat(quotaOf(server), {
        schedule: Schedule.spaced("10 millis"),
        // Beyond 40 MiB, which an image may have, a token each KiB.
        until: (quota) => had - quota > 20 * KIB
      })
    }).pipe(Effect.scoped)
  )
})

/** Streams text until the connection is closed. */
const streamForever = (response: ServerResponse, delta: object) => {
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
  response.writeHead(200, { "content-type": "text/event-stream" })
  const more = () => {
    if (response.destroyed) return
    if (response.write(event)) setImmediate(more)
    else response.once("drain", more)
  }
  more()
}

describe("a stream without end", () => {
  it.live("is ended far beyond its limit, and the upstream call is aborted", () =>
    Effect.gen(function* () {
      let ended = 0
      const words = "word ".repeat(500)
      const { server } = yield* startPaidServer((response, { body }) => {
        response.on("close", () => ended++)
        streamForever(response, { [body.includes("think") ? "reasoning_content" : "content"]: words })
      })
      // Text: 10 times the limit plus 1,000. Reasoning, and text without a limit: 200,000.
      for (const [body, bound] of [
        [{ ...stream, max_tokens: 20 }, 1200],
        [{ ...stream, max_tokens: 20, messages: [{ role: "user", content: "think" }] }, 200_000],
        [{ ...stream, max_tokens: undefined }, 200_000]
      ] as const) {
        const { text } = yield* post(server, PATH, body)
        assert.include(text, '"code":"upstream_beyond_limit"')
        const written = text.split("word ").length - 1
        assert.isAbove(written, bound)
        // Some more may have been received before the end.
        assert.isBelow(written, bound + 100_000)
      }
      // The upstream may notice the abort after the caller has the response.
      yield* Effect.repeat(
        Effect.sync(() => ended),
        { schedule: Schedule.spaced("5 millis"), until: (count) => count === 3 }
      )
    }).pipe(Effect.scoped)
  )
})
