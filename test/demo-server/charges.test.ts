/** Calls over HTTP and what they cost: usage that is told, missing or absurd; failures, callers who go away, streams. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule, Schema } from "effect"
import {
  before,
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
import { json } from "./Upstream.ts"

describe("usage", () => {
  it.live("is what the upstream tells, and else what the server counts", () =>
    Effect.gen(function* () {
      let usage: unknown
      const { server } = yield* before((response) => json(response, vectors(usage)))
      const embedding = post(server, "/v1/embeddings", embed)
      for (const [told, cost] of [
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
        usage = told
        assert.strictEqual((yield* costs(server, embedding, cost)).status, 200)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of a chat is of both sides; a NaN that is no JSON passes through and is counted", () =>
    Effect.gen(function* () {
      let told = `{"prompt_tokens":20,"completion_tokens":5}`
      const content = "four words of answer"
      const { server } = yield* before((response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(
          `{"choices":[{"index":0,"message":{"role":"assistant","content":"${content}"}}],"usage":${told}}`
        )
      })
      yield* costs(server, post(server, "/v1/chat/completions", chat), 25)
      told = `{"prompt_tokens":20,"completion_tokens":-5}`
      yield* costs(server, post(server, "/v1/chat/completions", chat), 20 + 4)
      told = `{"prompt_tokens":NaN,"completion_tokens":NaN}`
      yield* costs(server, post(server, "/v1/chat/completions", chat), CHAT_INPUT)
    }).pipe(Effect.scoped)
  )

  it.live("above the reserve takes what remains of the key", () =>
    Effect.gen(function* () {
      const { server } = yield* before((response) => json(response, vectors({ prompt_tokens: 100 })))
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

describe("a failure", () => {
  it.live("that calls itself an answer, without anything of what was asked for, is one", () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 }
      const { server } = yield* before((response) => json(response, { choices: [], data: [], usage }))
      for (const [path, body] of [
        ["/v1/chat/completions", chat],
        ["/v1/embeddings", embed]
      ] as const) {
        const empty = yield* costs(server, post(server, path, body), 0)
        assert.deepStrictEqual([empty.status, codeOf(empty)], [502, null])
      }
    }).pipe(Effect.scoped)
  )

  it.live("is given back; who is short of money calls nobody", () =>
    Effect.gen(function* () {
      const { asked, server } = yield* before((response) =>
        json(response, { error: { message: "no", type: null, param: null, code: null } }, 400)
      )
      yield* costs(server, post(server, "/v1/embeddings", embed), 0)
      assert.lengthOf(asked(), 1)
      const dear = { model: "v", prompt: "p", seconds: "60" }
      const made = yield* server.json(
        Schema.Struct({ data: Schema.Struct({ key: Schema.String }) }),
        "/api/token/",
        { as: "token", json: { name: "small", expired_time: -1, remain_quota: 599, subnet: "" } }
      )
      const headers = { authorization: `Bearer ${made.data.key}` }
      const short = yield* post(server, "/v1/videos", dear, { as: "none", headers })
      assert.deepStrictEqual([short.status, codeOf(short)], [403, "insufficient_quota"])
      assert.lengthOf(asked(), 1)
    }).pipe(Effect.scoped)
  )
})

/** Asks, and goes away as soon as the upstream has been asked. */
const leave = (server: Server, path: string, body: unknown, isAsked: () => boolean) =>
  Effect.gen(function* () {
    const asking = yield* Effect.forkChild(server.call(path, { json: body }))
    yield* Effect.repeat(Effect.sync(isAsked), { schedule: Schedule.spaced("5 millis"), until: Boolean })
    yield* Fiber.interrupt(asking)
  })

describe("a caller who goes away before the answer", () => {
  it.live("ends the call upstream, and pays for the question", () =>
    Effect.gen(function* () {
      let closed = false
      const { asked, server } = yield* before((response) => {
        response.on("close", () => (closed = true))
      })
      yield* costs(
        server,
        leave(server, "/v1/embeddings", embed, () => asked().length > 0),
        3
      )
      yield* Effect.repeat(
        Effect.sync(() => closed),
        { schedule: Schedule.spaced("5 millis"), until: Boolean }
      )
    }).pipe(Effect.scoped)
  )

  it.live("does not end what is made and paid for: it is there, and paid for once", () =>
    Effect.gen(function* () {
      let make: (() => void) | undefined
      const { asked, server } = yield* before((response, { method }) => {
        if (method === "POST")
          make = () => json(response, { id: "film", status: "in_progress", seconds: "8" })
        else json(response, { id: "film", status: "completed", seconds: "8" })
      })
      const film = { model: "v", prompt: "p", seconds: "8" }
      yield* costs(
        server,
        leave(server, "/v1/videos", film, () => asked().length > 0),
        80
      )
      make?.()
      const look = Effect.map(server.call("/v1/videos/film"), ({ status }) => status)
      yield* Effect.repeat(look, { schedule: Schedule.spaced("5 millis"), until: (status) => status === 200 })
      yield* costs(server, look, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a stream", () => {
  const streamed = { ...chat, stream: true }

  it.live("is settled by the usage in its last event, wherever bytes are cut", () =>
    Effect.gen(function* () {
      const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 30 } }
      const { server } = yield* before((response) => {
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

  it.live("is told in the metrics by its tokens", () =>
    Effect.gen(function* () {
      const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 30 } }
      const { server } = yield* before(
        (response) => {
          events(response, piece("all"), usage)
          response.end("data: [DONE]\n\n")
        },
        { SLUICE_CHAT_MODEL: "measured" }
      )
      yield* post(server, "/v1/chat/completions", { ...streamed, model: "measured" })
      const told = Effect.promise(async () => {
        const text = await (await fetch(`${server.url}/metrics`)).text()
        return text.split("\n").filter((line) => line.includes("tokens") && line.includes('"measured"'))
      })
      const lines = yield* Effect.repeat(told, {
        schedule: Schedule.spaced("10 millis"),
        until: ({ length }) => length >= 2
      })
      assert.sameMembers(
        lines.map((line) => line.split(" ").at(-1)),
        ["12", "30"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("without usage is counted piece by piece; of this process's models too", () =>
    Effect.gen(function* () {
      const { server } = yield* before((response) => {
        events(response, piece("one "), piece("tw"), piece("o three"), { choices: [], usage: null })
        response.end("data: [DONE]\n\n")
      })
      yield* costs(server, post(server, "/v1/chat/completions", streamed), CHAT_INPUT + 4)
    }).pipe(Effect.scoped)
  )

  it.live("that has an error and no answer is given back", () =>
    Effect.gen(function* () {
      const { server } = yield* before((response) => {
        events(response, { error: { message: "no", type: null, param: null, code: null } })
        response.end()
      })
      yield* costs(server, post(server, "/v1/chat/completions", streamed), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is ended upstream when the caller goes away, and paid for as far as it came", () =>
    Effect.gen(function* () {
      let closed = false
      const { server } = yield* before((response) => {
        response.on("close", () => (closed = true))
        events(response, piece("one "), piece("two "))
      })
      const leave = Effect.promise(async () => {
        const gone = new AbortController()
        const response = await fetch(`${server.url}/v1/chat/completions`, {
          method: "POST",
          signal: gone.signal,
          headers: { authorization: `Bearer ${server.secrets.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(streamed)
        })
        let text = ""
        for await (const chunk of response.body ?? []) {
          text += Buffer.from(chunk).toString()
          if (text.includes("two")) break
        }
        gone.abort()
      })
      yield* costs(server, leave, CHAT_INPUT + 2)
      yield* Effect.repeat(
        Effect.sync(() => closed),
        { schedule: Schedule.spaced("10 millis"), until: Boolean }
      )
    }).pipe(Effect.scoped)
  )
})
