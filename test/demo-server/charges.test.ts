/** Calls over HTTP and what they cost: usage that is told, missing or absurd; streams; tasks; limits; Idempotency-Key. */
import { assert, describe, it } from "@effect/vitest"
import { ErrorBody } from "@sluice/core"
import { Effect, Fiber, Schedule, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type CallOptions, startServer, temporaryFolder, type TestServer } from "./TestServer.ts"
import { type Answering, type Asked, json, startUpstream } from "./Upstream.ts"

type Server = TestServer["Service"]

/** One unit for a token, so that what was counted can be read off the balance. */
const PRICES = {
  defaults: {
    embeddings: { inputPer1000Tokens: 1000 },
    rerank: { inputPer1000Tokens: 1000 },
    chat: { inputPer1000Tokens: 1000, outputPer1000Tokens: 1000 },
    images: { perImage: 100 },
    videos: { perSecond: 10 }
  },
  models: {
    "sluice-video-failing": { perSecond: 10 },
    "sluice-image-i5-task": { perImage: 100 },
    "sluice-image-i2": { perImage: 100 }
  }
}

const priced = Effect.map(temporaryFolder, (folder) => {
  const file = join(folder, "prices.json")
  writeFileSync(file, JSON.stringify(PRICES))
  return { SLUICE_PRICES: file }
})

/** The library that the server holds embeds something of its own. */
const isOurs = ({ body, path }: Asked) => path !== "/v1/embeddings" || body.includes("three")

/** A server in front of an upstream. */
const before = Effect.fnUntraced(function* (answer: Answering, env: Record<string, string> = {}) {
  const upstream = yield* startUpstream((response, asked, request) =>
    isOurs(asked) ? answer(response, asked, request) : json(response, vectors())
  )
  const server = yield* startServer({ env: { ...upstream.env, ...(yield* priced), ...env } })
  return { server, asked: () => upstream.asked.filter(isOurs) }
})

const User = Schema.Struct({ data: Schema.Struct({ quota: Schema.Int }) })

const quotaOf = ({ json }: Server) =>
  Effect.map(json(User, "/api/user/self", { as: "token" }), ({ data }) => data.quota)

/** What an effect took from the balance, once it is there. */
const costs = Effect.fnUntraced(function* <A>(server: Server, effect: Effect.Effect<A>, expected: number) {
  const had = yield* quotaOf(server)
  const result = yield* effect
  yield* Effect.repeat(quotaOf(server), {
    schedule: Schedule.spaced("10 millis"),
    until: (quota) => had - quota === expected,
    times: 300
  })
  assert.strictEqual(had - (yield* quotaOf(server)), expected)
  return result
})

const post = (server: Server, path: string, body: unknown, options: CallOptions = {}) =>
  Effect.flatMap(server.call(path, { json: body, ...options }), (response) =>
    Effect.map(
      Effect.promise(() => response.text()),
      (text) => ({ status: response.status, text, headers: response.headers })
    )
  )

const codeOf = ({ text }: { readonly text: string }) =>
  Schema.decodeUnknownSync(ErrorBody)(JSON.parse(text)).error.code

const embed = { model: "e", input: "one two three" }
const vectors = (usage?: unknown) => ({
  object: "list",
  data: [{ index: 0, embedding: [1] }],
  model: "e",
  usage
})

const chat = { model: "c", messages: [{ role: "user", content: "one two three" }], max_tokens: 50 }
/** 8 of the message, 3 of its text. */
const CHAT_INPUT = 11

/** Events as an upstream sends them. */
const events = (response: Parameters<Answering>[0], ...data: ReadonlyArray<unknown>) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of data)
    response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
}
const piece = (content: string) => ({ choices: [{ index: 0, delta: { content } }] })

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
        until: ({ length }) => length >= 2,
        times: 300
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

describe("a task", () => {
  it.live("is paid for when it has completed, given back when it fails or is removed before, once", () =>
    Effect.gen(function* () {
      const states = new Map<string, string>()
      const { server } = yield* before((response, { method, path }) => {
        const id = path.split("/")[3] ?? `task-${states.size}`
        if (method === "POST") states.set(id, "in_progress")
        json(response, { id, status: states.get(id), seconds: "8" })
      })
      const create = Effect.map(
        post(server, "/v1/videos", { model: "v", prompt: "p", seconds: "8" }),
        ({ text }) => String((JSON.parse(text) as { readonly id?: unknown }).id)
      )
      const look = (id: string) => server.call(`/v1/videos/${id}`)
      const remove = (id: string) => server.call(`/v1/videos/${id}`, { method: "DELETE" })

      const made = yield* costs(server, create, 80)
      states.set(made, "completed")
      yield* costs(server, Effect.all([look(made), look(made), remove(made)], { concurrency: 3 }), 0)

      const failed = yield* costs(server, create, 80)
      yield* costs(server, look(failed), 0)
      states.set(failed, "failed")
      yield* costs(server, Effect.all([look(failed), look(failed)], { concurrency: 2 }), -80)
      yield* costs(server, remove(failed), 0)

      const removed = yield* costs(server, create, 80)
      yield* costs(server, remove(removed), -80)
    }).pipe(Effect.scoped)
  )

  it.live("of this process is paid for or given back as it ends, whether or not anybody looks", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* priced })
      const video = (model: string) => post(server, "/v1/videos", { model, prompt: "p", seconds: "4" })
      yield* costs(server, video("sluice-video-failing"), 0)
      const image = { model: "sluice-image-i5-task", prompt: "a lock", aspect_ratio: "1:1" }
      const { text } = yield* costs(server, post(server, "/v1/images/generations", image), 100)
      const { id } = JSON.parse(text) as { readonly id: string }
      yield* Effect.repeat(
        Effect.flatMap(server.call(`/v1/images/generations/${id}`), (response) =>
          Effect.promise(() => response.text())
        ),
        { schedule: Schedule.spaced("20 millis"), until: (text) => text.includes("completed"), times: 1000 }
      )
      yield* costs(server, Effect.void, 0)
      const two = { model: "sluice-image-i2", prompt: "a lock", n: 2, size: "64x64" }
      yield* costs(server, post(server, "/v1/images/generations", two), 200)
    }).pipe(Effect.scoped)
  )
})

describe("limits of a minute", () => {
  it.live("are told with each answer, and beyond them when to come back", () =>
    Effect.gen(function* () {
      const { asked, server } = yield* before((response) => json(response, vectors()), {
        SLUICE_REQUESTS_PER_MINUTE: "2",
        SLUICE_TOKENS_PER_MINUTE: "1000"
      })
      const calls = yield* Effect.forEach([1, 2, 3, 4, 5], () => post(server, "/v1/embeddings", embed))
      // A minute may end in between.
      const refused = calls.filter(({ status }) => status === 429)
      assert.isNotEmpty(refused)
      assert.lengthOf(asked(), calls.length - refused.length)
      assert.isAtMost(asked().length, 4)
      for (const call of refused) {
        assert.strictEqual(codeOf(call), "rate_limited")
        const seconds = Number(call.headers.get("retry-after"))
        assert.isTrue(seconds >= 1 && seconds <= 60)
        assert.strictEqual(call.headers.get("x-ratelimit-remaining-requests"), "0")
      }
      const first = calls[0]?.headers
      assert.strictEqual(first?.get("x-ratelimit-limit-requests"), "2")
      assert.strictEqual(first?.get("x-ratelimit-remaining-requests"), "1")
      assert.strictEqual(first?.get("x-ratelimit-limit-tokens"), "1000")
      assert.match(first?.get("x-ratelimit-reset-tokens") ?? "", /^\d+s$/)
    }).pipe(Effect.scoped)
  )
})

describe("Idempotency-Key", () => {
  it.live("repeats the answer without a second call or charge, of JSON and of events", () =>
    Effect.gen(function* () {
      const { asked, server } = yield* before((response, { body }) => {
        if (!body.includes('"stream":true')) return json(response, vectors({ prompt_tokens: 3 }))
        events(response, piece("one"))
        response.end("data: [DONE]\n\n")
      })
      const keyed = (name: string): CallOptions => ({ headers: { "idempotency-key": name } })
      const once = post(server, "/v1/embeddings", embed, keyed("a"))
      const first = yield* costs(server, once, 3)
      const again = yield* costs(server, once, 0)
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(again.headers.get("content-type"), first.headers.get("content-type"))

      const other = yield* post(server, "/v1/embeddings", { ...embed, input: "three" }, keyed("a"))
      assert.deepStrictEqual([other.status, codeOf(other)], [422, "idempotency_key_reused"])

      const stream = post(server, "/v1/chat/completions", { ...chat, stream: true }, keyed("b"))
      const whole = yield* costs(server, stream, CHAT_INPUT + 1)
      assert.strictEqual((yield* costs(server, stream, 0)).text, whole.text)
      assert.lengthOf(asked(), 2)

      const bad = yield* post(server, "/v1/embeddings", embed, keyed("x".repeat(300)))
      assert.deepStrictEqual([bad.status, codeOf(bad)], [400, "invalid_idempotency_key"])
    }).pipe(Effect.scoped)
  )

  it.live("of a call under way is told so; of one that failed it is free", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      let status = 200
      const { asked, server } = yield* before((response) => {
        if (status !== 200) return json(response, { error: { message: "no" } }, status)
        waiting.push(() => json(response, vectors()))
      })
      const once = post(server, "/v1/embeddings", embed, { headers: { "idempotency-key": "a" } })
      status = 400
      assert.strictEqual((yield* once).status, 400)
      status = 200
      const under = yield* Effect.forkChild(once)
      yield* Effect.repeat(
        Effect.sync(() => waiting.length),
        {
          schedule: Schedule.spaced("5 millis"),
          until: (length) => length > 0
        }
      )
      const meanwhile = yield* once
      assert.deepStrictEqual([meanwhile.status, codeOf(meanwhile)], [409, "idempotency_in_flight"])
      waiting[0]?.()
      assert.strictEqual((yield* Fiber.join(under)).status, 200)
      assert.lengthOf(asked(), 2)
    }).pipe(Effect.scoped)
  )
})
