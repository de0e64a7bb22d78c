/** The lane and the other way: the same requests, and nothing that tells by which of them they went. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { MadeKey } from "./AccountCalls.ts"
import { answer, chat, grown, LANED, message, metricsOf, OTHER_WAY, startInFront } from "./LaneServer.ts"
import { post } from "./PaidServer.ts"
import { sendRaw } from "./Raw.ts"
import { type Answering, json } from "./Upstream.ts"

/** `true`: the lane is for these. */
const requests: Readonly<Record<string, readonly [usual: boolean, path: string, body: unknown]>> = {
  chat: [true, "/v1/chat/completions", chat],
  "by another name": [true, "/v1/chat/completions", { ...chat, model: "mine" }],
  "fields that we do not know": [true, "/v1/chat/completions", { ...chat, n: 2, stream: false, top_p: 0.5 }],
  "more of them than are looked for": [
    false,
    "/v1/chat/completions",
    { ...chat, ...Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`field${at}`, at])) }
  ],
  "several roles": [
    true,
    "/v1/chat/completions",
    { ...chat, temperature: 0, messages: [{ role: "system", content: "" }, message] }
  ],
  "one text": [true, "/v1/embeddings", { model: "e", input: "one two three" }],
  "texts, half a character": [
    true,
    "/v1/embeddings",
    { model: "e", input: ["one", "zwei 水 \ud83d"], encoding_format: "base64" }
  ],
  documents: [true, "/v1/rerank", { model: "r", query: "one", documents: ["two", "three"], top_n: 1 }],
  "documents, as version 2": [true, "/v2/rerank", { model: "r", query: "one", documents: ["two"] }],
  "nothing given": [false, "/v1/chat/completions", { ...chat, max_tokens: null, stream: null }],
  "a limit by its new name": [
    true,
    "/v1/chat/completions",
    { model: "c", messages: [message], max_completion_tokens: 5 }
  ],
  "a limit by two names": [false, "/v1/chat/completions", { ...chat, max_completion_tokens: 5 }],
  "no limit by its new name": [false, "/v1/chat/completions", { ...chat, max_completion_tokens: null }],
  "a limit of nothing": [false, "/v1/chat/completions", { ...chat, max_completion_tokens: 0 }],
  parts: [
    false,
    "/v1/chat/completions",
    { ...chat, messages: [{ role: "user", content: [{ type: "text", text: "one" }] }] }
  ],
  "documents with a text": [false, "/v1/rerank", { model: "r", query: "one", documents: [{ text: "two" }] }],
  streamed: [false, "/v1/chat/completions", { ...chat, stream: true }],
  "no such model": [false, "/v1/chat/completions", { ...chat, model: "d" }],
  "a model of another call": [false, "/v1/embeddings", { model: "c", input: "one" }],
  "no messages": [false, "/v1/chat/completions", { ...chat, messages: [] }],
  "a role of nobody": [
    false,
    "/v1/chat/completions",
    { ...chat, messages: [{ role: "tool", content: "one" }] }
  ],
  "too warm": [false, "/v1/chat/completions", { ...chat, temperature: 3 }],
  "no tokens": [false, "/v1/chat/completions", { ...chat, max_tokens: 0.5 }],
  "no query": [false, "/v1/rerank", { model: "r", query: "", documents: ["two"] }],
  "no object": [false, "/v1/chat/completions", [chat]],
  "more than there is money for": [false, "/v1/embeddings", { model: "e", input: "x".repeat(90_000) }],
  "another call": [false, "/v1/models/c", chat]
}

/** Whether the lane ends with these; what breaks off or is refused, the other way answers. */
const answers: Readonly<Record<string, readonly [usual: boolean, Answering]>> = {
  "what it used": [true, (response) => json(response, answer({ prompt_tokens: 7, completion_tokens: 2 }))],
  "more than was reserved": [
    true,
    (response) => json(response, answer({ prompt_tokens: 9, completion_tokens: 4000 }))
  ],
  "not what it used": [true, (response) => json(response, answer({ prompt_tokens: -1 }))],
  "no number": [true, (response) => json(response, answer("much"))],
  "another success": [true, (response) => json(response, answer(undefined), 201)],
  "an error": [false, (response) => json(response, { error: { message: "broken" } }, 500)],
  "an error with status 200": [false, (response) => json(response, { error: { message: "overloaded" } })],
  "an error with an empty answer": [
    false,
    (response) =>
      json(response, { id: "", choices: null, data: [], status: 500, error: { message: "broken" } })
  ],
  "an error beside an id and a state": [
    false,
    (response) =>
      json(response, {
        id: "a-1",
        status: "failed",
        choices: [],
        error: { message: "no", type: "server_error" }
      })
  ],
  "a fault of a field with status 200": [
    false,
    (response) => json(response, { id: "a-1", error: { message: "no", param: "messages" } })
  ],
  "a refusal with status 200": [false, (response) => json(response, { error: { message: "no", code: 400 } })],
  "an error beside an answer": [true, (response) => json(response, { ...answer(undefined), error: null })],
  "another line's end": [
    true,
    (response) =>
      response.setHeader("content-type", "application/json").end(`${JSON.stringify(answer(undefined))}\n`)
  ],
  "a type in other letters": [
    true,
    (response) =>
      response
        .writeHead(200, { "content-type": "Application/JSON; Charset=UTF-8", "content-encoding": "Identity" })
        .end(JSON.stringify(answer(undefined)))
  ],
  "nothing of what was asked for": [
    false,
    (response) =>
      json(response, { id: "a-1", choices: null, data: [], results: [], usage: { total_tokens: 3 } })
  ],
  "a refusal": [false, (response) => json(response, { error: { message: "no", param: "top_p" } }, 400)],
  "a page": [false, (response) => response.setHeader("content-type", "text/html").end("<p>Wait</p>")],
  "events that nobody asked for": [
    false,
    (response) =>
      response
        .setHeader("content-type", "text/event-stream")
        .end('data: {"choices":[{"index":0,"delta":{"content":"four"}}]}\n\ndata: [DONE]\n\n')
  ],
  "half an answer": [
    false,
    (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" })
      response.write("{", () => response.destroy())
    }
  ]
}

/** Differs from one request to the next. */
const OWN = /^(?:date|x-request-id|x-ratelimit-(?:remaining|reset)-.*)$/

const pairs = <A>(all: ReadonlyArray<A>) =>
  all.flatMap((one, at) => (at % 2 === 0 ? [[one, all[at + 1]] as const] : []))

it.live("answers, headers, charges, metrics, the log and what goes upstream are the same on both ways", () =>
  Effect.gen(function* () {
    const { asked, behaviour, charges, server } = yield* startInFront
    /** With little money, for which a call may be too dear. */
    const { data } = yield* server.json(MadeKey, "/api/token/", {
      as: "token",
      json: { name: "k", remain_quota: 80_000, expired_time: -1 }
    })
    const send = Effect.fnUntraced(function* (id: string, path: string, body: unknown, more: object) {
      const before = yield* metricsOf(server)
      const from = asked.length
      const response = yield* server.call(path, {
        as: "none",
        json: body,
        headers: { authorization: `Bearer ${data.key}`, "x-request-id": id, ...more }
      })
      const text = yield* Effect.promise(() => response.text())
      const { [LANED]: laned = 0, ...counted } = grown(before, yield* metricsOf(server))
      const lines = server.printed.filter(
        (line) => line.includes(`request=${id} `) || line.includes(`"${id}"`)
      )
      const seen = {
        status: response.status,
        headers: [...response.headers].filter(([name]) => !OWN.test(name)),
        named: response.headers.get("x-request-id") === id,
        limited: [...response.headers.keys()].filter((name) => name.startsWith("x-ratelimit")),
        text,
        asked: asked.slice(from),
        counted,
        lines: lines.map((line) => line.replaceAll(id, "").replaceAll(/timestamp=\S+|fiber=\S+|ms=\d+/g, ""))
      }
      return { seen, laned }
    })

    let number = 0
    for (const [answered, [isUsualAnswer, answering]] of Object.entries(answers)) {
      for (const [name, [isUsual, path, body]] of Object.entries(requests)) {
        // What is refused before anybody is asked is refused alike, whatever would be answered.
        if (!isUsual && answered !== "what it used") continue
        behaviour.now = answering
        number++
        const lane = yield* send(`r${number}a`, path, body, {})
        const other = yield* send(`r${number}b`, path, body, OTHER_WAY)
        assert.deepStrictEqual(lane.seen, other.seen, `${name}, ${answered}`)
        assert.isNotEmpty(lane.seen.lines)
        assert.strictEqual(lane.laned, isUsual && isUsualAnswer ? 1 : 0, `${name}, ${answered}`)
        assert.strictEqual(other.laned, 0)
        if (isUsualAnswer) continue
        // A provider that fails too often in a row would be left alone.
        behaviour.now = (response) => json(response, answer({ prompt_tokens: 1, completion_tokens: 1 }))
        for (const more of [{}, OTHER_WAY])
          yield* post(server, "/v1/chat/completions", chat, { headers: more })
      }
    }
    const rows = yield* charges
    assert.isAbove(rows.length, 2 * 8 * 11)
    for (const [lane, other] of pairs(rows)) assert.deepStrictEqual(lane, other)
  }).pipe(Effect.scoped)
)

it.live("of 200 parallel calls on a key's quota for 50, exactly 50 pass", () =>
  Effect.gen(function* () {
    const { behaviour, charges, server } = yield* startInFront
    behaviour.now = (response) => json(response, answer({ prompt_tokens: 5, completion_tokens: 0 }))
    const { data } = yield* server.json(MadeKey, "/api/token/", {
      as: "token",
      json: { name: "k", remain_quota: 250, expired_time: -1 }
    })
    const headers = { authorization: `Bearer ${data.key}` }
    const statuses = yield* Effect.all(
      Array.from({ length: 200 }, () =>
        Effect.map(
          server.call("/v1/embeddings", { as: "none", json: { model: "e", input: "abcde" }, headers }),
          ({ status }) => status
        )
      ),
      { concurrency: "unbounded" }
    )
    assert.lengthOf(
      statuses.filter((status) => status === 200),
      50
    )
    assert.lengthOf(
      statuses.filter((status) => status === 403),
      150
    )
    const rows = yield* charges
    assert.lengthOf(rows, 50)
    for (const { cost, state } of rows) assert.deepStrictEqual({ cost, state }, { cost: 5, state: "settled" })
  }).pipe(Effect.scoped)
)

it.live("a key that is disabled, narrowed or expired is refused from the next call on", () =>
  Effect.gen(function* () {
    const { server } = yield* startInFront
    const made = yield* server.json(
      Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) }),
      "/api/token/",
      {
        as: "token",
        json: { name: "k", remain_quota: 5000, expired_time: -1 }
      }
    )
    const { id, key } = made.data
    const call = Effect.map(
      server.call("/v1/chat/completions", {
        as: "none",
        json: chat,
        headers: { authorization: `Bearer ${key}` }
      }),
      ({ status }) => status
    )
    const change = (fields: object) =>
      server.call("/api/token/", { as: "token", method: "PUT", json: { id, ...fields } })
    const changes = [
      [{ status: 0 }, 401],
      [{ status: 1 }, 200],
      [{ subnet: "203.0.113.0/24" }, 403],
      [{ subnet: "127.0.0.0/8" }, 200],
      [{ models: ["e"] }, 403],
      [{ models: ["*"] }, 200],
      [{ expired_time: 1 }, 401]
    ] as const
    for (const [fields, expected] of changes) {
      yield* call
      assert.strictEqual((yield* change(fields)).status, 200)
      assert.strictEqual(yield* call, expected, JSON.stringify(fields))
    }
  }).pipe(Effect.scoped)
)

it.live("a body that comes in parts, or is no text, is read whole on either way", () =>
  Effect.gen(function* () {
    const { asked, server } = yield* startInFront
    const body = Buffer.from(
      JSON.stringify({ ...chat, messages: [{ role: "user", content: "é".repeat(9000) }] })
    )
    const head = (length: number, more: string) =>
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${server.secrets.apiKey}\r\ncontent-length: ${length}\r\n${more}\r\n`
    for (const more of ["", "content-encoding: identity\r\n"]) {
      const parts = [body.subarray(0, 100), body.subarray(100, 5001), body.subarray(5001)]
      const answered = yield* sendRaw(server.url, head(body.length, more), ...parts)
      assert.strictEqual(answered.status, 200)
      assert.strictEqual(asked.at(-1)?.body, body.toString())
      const broken = Buffer.from(body)
      broken[broken.length - 30] = 0xff
      const read = yield* sendRaw(server.url, head(body.length, more), broken)
      assert.strictEqual(read.status, 200)
      assert.include(asked.at(-1)?.body, "\ufffd")
    }
  }).pipe(Effect.scoped)
)
