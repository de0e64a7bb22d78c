/** Billing of calls over HTTP: reported, missing and implausible usage, failures, disconnected callers, streams. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  startPaidServer,
  chat,
  CHAT_INPUT,
  codeOf,
  costs,
  embed,
  events,
  piece,
  post,
  type Server,
  vectors
} from "./PaidServer.ts"
import { temporaryFolder } from "./TestServer.ts"
import { json } from "./Upstream.ts"

describe("usage", () => {
  it.live("is the upstream's report if that is plausible, or else the server's count", () =>
    Effect.gen(function* () {
      let usage: unknown
      const { server } = yield* startPaidServer((response) => json(response, vectors(usage)))
      const embedding = post(server, "/v1/embeddings", embed)
      for (const [reported, cost] of [
        [{ prompt_tokens: 7, total_tokens: 7 }, 7],
        [{ total_tokens: 5 }, 5],
        [undefined, 3],
        [null, 3],
        ["7", 3],
        [{ prompt_tokens: 0, total_tokens: 0 }, 3],
        [{ prompt_tokens: -7 }, 3],
        [{ prompt_tokens: 1e15 }, 3],
        [{ prompt_tokens: 3.5 }, 3],
        [{ prompt_tokens: "NaN" }, 3],
        [{ prompt_tokens: { toString: 1 } }, 3]
      ] as const) {
        usage = reported
        assert.strictEqual((yield* costs(server, embedding, cost)).status, 200)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of a chat includes input and output, and NaN counts as missing", () =>
    Effect.gen(function* () {
      let reported = `{"prompt_tokens":20,"completion_tokens":5}`
      const content = "four words of answer"
      const { server } = yield* startPaidServer((response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(
          `{"choices":[{"index":0,"message":{"role":"assistant","content":"${content}"}}],"usage":${reported}}`
        )
      })
      yield* costs(server, post(server, "/v1/chat/completions", chat), 25)
      reported = `{"prompt_tokens":20,"completion_tokens":-5}`
      yield* costs(server, post(server, "/v1/chat/completions", chat), 20 + 4)
      reported = `{"prompt_tokens":NaN,"completion_tokens":NaN}`
      yield* costs(server, post(server, "/v1/chat/completions", chat), CHAT_INPUT)
    }).pipe(Effect.scoped)
  )

  it.live("of tokens from the vendor's cache and of searches has prices of its own", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "prices.json")
      const models = {
        c: { inputPer1000Tokens: 1000, cachedInputPer1000Tokens: 100 },
        r: { perSearch: 7 }
      }
      writeFileSync(file, JSON.stringify({ models }))
      let usage: object = {}
      const { server } = yield* startPaidServer(
        (response, { path }) =>
          json(
            response,
            path === "/v1/rerank"
              ? { results: [{ index: 0, relevance_score: 1 }] }
              : { choices: [{ index: 0, message: { role: "assistant", content: "a" } }], usage }
          ),
        { SLUICE_PRICES: file }
      )
      for (const [cached, cost] of [
        [{ prompt_tokens_details: { cached_tokens: 50 } }, 15],
        [{ input_tokens_details: { cached_tokens: 60 } }, 6],
        [{ prompt_tokens_details: { cached_tokens: 61 } }, 60],
        [{ prompt_tokens_details: { cached_tokens: -1 } }, 60],
        [{ prompt_tokens_details: null }, 60]
      ] as const) {
        usage = { prompt_tokens: 60, completion_tokens: 1, ...cached }
        yield* costs(server, post(server, "/v1/chat/completions", chat), cost)
      }
      for (const [count, cost] of [
        [1, 7],
        [100, 7],
        [101, 14]
      ] as const) {
        const documents = Array.from({ length: count }, () => "a weir")
        yield* costs(
          server,
          post(server, "/v1/rerank", { model: "r", query: "q", documents, top_n: 1 }),
          cost
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("above the reserve is taken from the rest of the key's quota", () =>
    Effect.gen(function* () {
      const { server } = yield* startPaidServer((response) => json(response, vectors({ prompt_tokens: 100 })))
      const made = yield* server.json(
        Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) }),
        "/api/token/",
        { as: "token", json: { name: "small", expired_time: -1, remain_quota: 30, subnet: "" } }
      )
      const headers = { authorization: `Bearer ${made.data.key}` }
      yield* costs(server, post(server, "/v1/embeddings", embed, { as: "none", headers }), 30)
      const short = yield* post(server, "/v1/embeddings", embed, { as: "none", headers })
      assert.deepStrictEqual([short.status, codeOf(short)], [403, "insufficient_quota"])
      assert.strictEqual(short.headers.get("x-should-retry"), "false")
    }).pipe(Effect.scoped)
  )
})

describe("a failed call", () => {
  it.live("with status 200 and no result is 502 and costs nothing", () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 }
      const { server } = yield* startPaidServer((response) =>
        json(response, { choices: [], data: [], usage })
      )
      for (const [path, body] of [
        ["/v1/chat/completions", chat],
        ["/v1/embeddings", embed]
      ] as const) {
        const empty = yield* costs(server, post(server, path, body), 0)
        assert.deepStrictEqual([empty.status, codeOf(empty)], [502, null])
      }
    }).pipe(Effect.scoped)
  )

  it.live("is refunded, and without enough quota nothing is called", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) =>
        json(response, { error: { message: "no", type: null, param: null, code: null } }, 400)
      )
      yield* costs(server, post(server, "/v1/embeddings", embed), 0)
      assert.lengthOf(requests(), 1)
      const expensive = { model: "v", prompt: "p", seconds: "60" }
      const made = yield* server.json(
        Schema.Struct({ data: Schema.Struct({ key: Schema.String }) }),
        "/api/token/",
        { as: "token", json: { name: "small", expired_time: -1, remain_quota: 599, subnet: "" } }
      )
      const headers = { authorization: `Bearer ${made.data.key}` }
      const short = yield* post(server, "/v1/videos", expensive, { as: "none", headers })
      assert.deepStrictEqual([short.status, codeOf(short)], [403, "insufficient_quota"])
      assert.lengthOf(requests(), 1)
    }).pipe(Effect.scoped)
  )
})

/** Makes a call, and disconnects as soon as the upstream has received it. */
const callAndDisconnect = (server: Server, path: string, body: unknown, isAsked: () => boolean) =>
  Effect.gen(function* () {
    const calling = yield* Effect.forkChild(server.call(path, { json: body }))
    yield* Effect.repeat(Effect.sync(isAsked), { schedule: Schedule.spaced("5 millis"), until: Boolean })
    yield* Fiber.interrupt(calling)
  })

describe("a caller who disconnects before the response", () => {
  it.live("aborts the upstream call and is charged for the input", () =>
    Effect.gen(function* () {
      let closed = false
      const { requests, server } = yield* startPaidServer((response) => {
        response.on("close", () => (closed = true))
      })
      yield* costs(
        server,
        callAndDisconnect(server, "/v1/embeddings", embed, () => requests().length > 0),
        3
      )
      yield* Effect.repeat(
        Effect.sync(() => closed),
        { schedule: Schedule.spaced("5 millis"), until: Boolean }
      )
    }).pipe(Effect.scoped)
  )

  it.live("does not abort a creation, which is charged once", () =>
    Effect.gen(function* () {
      let make: (() => void) | undefined
      const { requests, server } = yield* startPaidServer((response, { method }) => {
        if (method === "POST")
          make = () => json(response, { id: "film", status: "in_progress", seconds: "8" })
        else json(response, { id: "film", status: "completed", seconds: "8" })
      })
      const film = { model: "v", prompt: "p", seconds: "8" }
      yield* costs(
        server,
        callAndDisconnect(server, "/v1/videos", film, () => requests().length > 0),
        80
      )
      make?.()
      const getStatus = Effect.map(server.call("/v1/videos/film"), ({ status }) => status)
      yield* Effect.repeat(getStatus, {
        schedule: Schedule.spaced("5 millis"),
        until: (status) => status === 200
      })
      yield* costs(server, getStatus, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a stream", () => {
  const streamed = { ...chat, stream: true }

  it.live("is settled by the usage in its last event, however its bytes are split", () =>
    Effect.gen(function* () {
      const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 30 } }
      const { server } = yield* startPaidServer((response) => {
        events(response, piece("all "), piece("well"))
        const last = `data: ${JSON.stringify(usage)}\r\n\r\ndata: [DONE]\r\n\r\n`
        response.write(last.slice(0, 40))
        setImmediate(() => response.end(last.slice(40)))
      })
      const { text } = yield* costs(server, post(server, "/v1/chat/completions", streamed), 42)
      assert.include(text, "all ")
      assert.include(text, "[DONE]")
    }).pipe(Effect.scoped)
  )

  it.live("is in the metrics with its tokens", () =>
    Effect.gen(function* () {
      const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 30 } }
      const { server } = yield* startPaidServer(
        (response) => {
          events(response, piece("all"), usage)
          response.end("data: [DONE]\n\n")
        },
        { SLUICE_CHAT_MODEL: "measured" }
      )
      yield* post(server, "/v1/chat/completions", { ...streamed, model: "measured" })
      const tokenLines = Effect.promise(async () => {
        const text = await (await fetch(`${server.url}/metrics`)).text()
        return text.split("\n").filter((line) => line.includes("tokens") && line.includes('"measured"'))
      })
      const lines = yield* Effect.repeat(tokenLines, {
        schedule: Schedule.spaced("10 millis"),
        until: ({ length }) => length >= 2
      })
      assert.sameMembers(
        lines.map((line) => line.split(" ").at(-1)),
        ["12", "30"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("without usage is counted piece by piece", () =>
    Effect.gen(function* () {
      const { server } = yield* startPaidServer((response) => {
        events(response, piece("one "), piece("tw"), piece("o three"), { choices: [], usage: null })
        response.end("data: [DONE]\n\n")
      })
      yield* costs(server, post(server, "/v1/chat/completions", streamed), CHAT_INPUT + 4)
    }).pipe(Effect.scoped)
  )

  it.live("with an error and no text is refunded", () =>
    Effect.gen(function* () {
      const { server } = yield* startPaidServer((response) => {
        events(response, { error: { message: "no", type: null, param: null, code: null } })
        response.end()
      })
      yield* costs(server, post(server, "/v1/chat/completions", streamed), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is aborted upstream when the caller disconnects, and the received part is charged", () =>
    Effect.gen(function* () {
      let closed = false
      const { server } = yield* startPaidServer((response) => {
        response.on("close", () => (closed = true))
        events(response, piece("one "), piece("two "))
      })
      const readAndDisconnect = Effect.promise(async () => {
        const abort = new AbortController()
        const response = await fetch(`${server.url}/v1/chat/completions`, {
          method: "POST",
          signal: abort.signal,
          headers: { authorization: `Bearer ${server.secrets.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(streamed)
        })
        let text = ""
        for await (const chunk of response.body ?? []) {
          text += Buffer.from(chunk).toString()
          if (text.includes("two")) break
        }
        abort.abort()
      })
      yield* costs(server, readAndDisconnect, CHAT_INPUT + 2)
      yield* Effect.repeat(
        Effect.sync(() => closed),
        { schedule: Schedule.spaced("10 millis"), until: Boolean }
      )
    }).pipe(Effect.scoped)
  )
})
