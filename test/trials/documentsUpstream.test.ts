/** Documents and questions with an upstream's models: billing, errors, limits. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { startPaidServer, costs, events, piece, post, type Server } from "../demo-server/PaidServer.ts"
import { errorOf, filesOf, startServer, temporaryFolder } from "../demo-server/TestServer.ts"
import { type Responder, json, startUpstream } from "../demo-server/Upstream.ts"

const usage = { prompt_tokens: 1, total_tokens: 1 }
const Input = Schema.fromJsonString(Schema.Struct({ input: Schema.Array(Schema.String) }))

const Documents = Schema.fromJsonString(Schema.Struct({ documents: Schema.Array(Schema.Unknown) }))

/** An upstream that reports one token for each embedding and each rerank. */
const ranking: Responder = (response, { body, path }) => {
  if (path === "/v1/rerank") {
    const { documents } = Schema.decodeUnknownSync(Documents)(body)
    const results = documents.map((_, index) => ({ index, relevance_score: 0.9 }))
    return json(response, { model: "r", results, usage })
  }
  const { input } = Schema.decodeUnknownSync(Input)(body)
  json(response, { data: input.map((_, index) => ({ index, embedding: [1] })), model: "e", usage })
}

const upload = (server: Server) =>
  Effect.flatMap(
    server.call("/documents", { body: filesOf({ "three.md": "# three\n\nthree herons wait." }) }),
    (answer) =>
      Effect.as(
        Effect.promise(() => answer.text()),
        answer.status
      )
  )
const ask = (server: Server) => post(server, "/qa", { question: "three herons?" })

/** A server with a document and an upstream whose chat responds with `chat`. */
const asking = Effect.fnUntraced(function* (chat: Responder, env: Record<string, string> = {}) {
  const { server } = yield* startPaidServer(
    (response, received, request) =>
      received.path === "/v1/chat/completions"
        ? chat(response, received, request)
        : ranking(response, received, request),
    env
  )
  assert.strictEqual(yield* upload(server), 200)
  return server
})

/** The cost of the question's embedding and rerank. */
const BEFORE_CHAT = 2

const Answered = Schema.fromJsonString(Schema.Struct({ cost: Schema.Number }))

const InConversation = Schema.fromJsonString(
  Schema.Struct({ conversation: Schema.Struct({ id: Schema.String }) })
)

const told = { choices: [], usage: { prompt_tokens: 400, completion_tokens: 5000 } }
const stop = { choices: [{ delta: {}, finish_reason: "stop" }] }

describe("billing of an answer by an upstream's model", () => {
  const answers: ReadonlyArray<readonly [string, ReadonlyArray<unknown>, cost: number]> = [
    ["by what the upstream says", [piece("three herons wait [1]."), stop, told, "[DONE]"], 5400],
    ["twice where nothing is cited: it is asked again", [piece("No source."), stop, told, "[DONE]"], 10_800],
    ["where nothing is found", [piece("NOT_FOUND\n"), piece("\n"), stop, told, "[DONE]"], 5400]
  ]
  it.live.each(answers)("%s", ([, sent, cost]) =>
    Effect.gen(function* () {
      const server = yield* asking((response) => {
        events(response, ...sent)
        response.end()
      })
      const { text } = yield* costs(server, ask(server), BEFORE_CHAT + cost)
      assert.include(text, `"cost":${BEFORE_CHAT + cost}`)
    }).pipe(Effect.scoped)
  )

  it.live("counts the text, including reasoning, if the stream fails or has no usage", () =>
    Effect.gen(function* () {
      const thought = { choices: [{ delta: { reasoning_content: "so it may be " } }] }
      let ends = true
      const server = yield* asking((response) => {
        events(response, thought, piece("NOT_FOUND "), piece("at all "), ...(ends ? [stop, "[DONE]"] : []))
        if (ends) response.end()
        else setTimeout(() => response.destroy(), 20)
      })
      const answered = yield* ask(server)
      assert.strictEqual(answered.status, 200)
      const { cost: whole } = yield* Schema.decodeUnknownEffect(Answered)(answered.text)
      // More than the question: the output is charged too.
      ends = false
      const { status } = yield* costs(server, ask(server), whole)
      assert.strictEqual(status, 502)
      assert.isAbove(whole, BEFORE_CHAT + 20)
    }).pipe(Effect.scoped)
  )

  it.live("charges nothing if only an error came", () =>
    Effect.gen(function* () {
      const server = yield* asking((response) => {
        events(response, { error: { message: "no", type: "server_error" } })
        response.end()
      })
      yield* costs(server, ask(server), BEFORE_CHAT)
    }).pipe(Effect.scoped)
  )

  it.live("ends an answer that goes far beyond its limit", () =>
    Effect.gen(function* () {
      let closed = false
      const server = yield* asking((response) => {
        events(response)
        response.on("close", () => (closed = true))
        const write = () => {
          if (closed) return
          response.write(`data: ${JSON.stringify(piece("word ".repeat(2000)))}\n\n`)
          setImmediate(write)
        }
        write()
      })
      const { status, text } = yield* ask(server)
      assert.strictEqual(status, 502, text)
      assert.include(text, "far longer than its limit")
      yield* Effect.repeat(
        Effect.sync(() => closed),
        { until: Boolean, schedule: Schedule.spaced("5 millis") }
      )
    }).pipe(Effect.scoped)
  )
})

describe("an answer by an upstream's model over HTTP", () => {
  const finish = (finish_reason: string) => ({ choices: [{ delta: {}, finish_reason }] })
  const cited = JSON.stringify({
    text: "They wait.",
    citations: [{ passage: 1, quote: "three herons wait." }]
  })
  const outcomes: ReadonlyArray<readonly [string, ReadonlyArray<unknown>, string, string | undefined]> = [
    ["is an answer", [piece(cited), stop], "answer", undefined],
    ["is no answer of the documents", [piece("NOT_FOUND"), stop], "passages", undefined],
    ["is unread if it was cut off", [piece("<think>So"), finish("length")], "unread", "truncated"],
    ["is unread if it was filtered", [finish("content_filter")], "unread", "filtered"],
    [
      "is unread if the model refused",
      [piece("I'm sorry, I can't assist with that."), stop],
      "unread",
      "refused"
    ],
    ["is unread if nothing is cited", [piece("No source."), stop], "unread", "protocol"]
  ]
  const verdict = { claim: 1, supported: false, reason: "They fly." }
  const verifying: Responder = (response, { body }) => {
    events(
      response,
      piece(body.includes('"model":"v"') ? JSON.stringify(verdict) : cited),
      stop,
      told,
      "[DONE]"
    )
    response.end()
  }

  it.live("is verified by a model of its own, which is charged too", () =>
    Effect.gen(function* () {
      const server = yield* asking(verifying, { SLUICE_VERIFY_MODEL: "v" })
      const { text } = yield* costs(server, ask(server), BEFORE_CHAT + 10_800)
      assert.include(text, '"unsupported":"They fly."')
      const off = yield* costs(
        server,
        post(server, "/qa", { question: "three herons?", verify: "off" }),
        BEFORE_CHAT + 5400
      )
      assert.include(off.text, '"unsupported":0')
    }).pipe(Effect.scoped)
  )

  it.live("is verified in this process with SLUICE_VERIFIER, which costs nothing", () =>
    Effect.gen(function* () {
      const reordered = cited.replace("They wait.", "Herons wait, three.")
      const writing: Responder = (response) => {
        events(response, piece(reordered), stop, told, "[DONE]")
        response.end()
      }
      for (const [SLUICE_VERIFIER, doubt] of [
        ["strict", "It is not in the words of its quotes."],
        ["embedded", undefined]
      ] as const) {
        const server = yield* asking(writing, { SLUICE_VERIFIER, SLUICE_VERIFY_MODEL: "v" })
        const { text } = yield* costs(server, ask(server), BEFORE_CHAT + 5400)
        assert.include(text, doubt ?? '"unsupported":0')
      }
    }).pipe(Effect.scoped)
  )

  it.live("is not verified, and the server does not start, where SLUICE_VERIFIER lacks its model", () =>
    Effect.gen(function* () {
      for (const [SLUICE_VERIFIER, advice] of [
        ["model", /SLUICE_VERIFY_MODEL with a gateway/],
        ["nli", /SLUICE_NLI_MODEL/],
        ["all", /must be `embedded`, `strict`, `model`, or `nli`/]
      ] as const) {
        const failed = yield* Effect.flip(asking(verifying, { SLUICE_VERIFIER }))
        assert.match(String(failed), advice)
      }
    }).pipe(Effect.scoped)
  )

  it.live("searches texts of the chat model if the options ask for them, which is charged too", () =>
    Effect.gen(function* () {
      const texts = JSON.stringify({ texts: ["Herons"] })
      const server = yield* asking((response, { body }) => {
        events(response, piece(body.includes("search_texts") ? texts : cited), stop, told, "[DONE]")
        response.end()
      })
      const EMBEDDING = 1
      const { text } = yield* costs(
        server,
        post(server, "/qa", { question: "three herons?", options: { hyde: true } }),
        BEFORE_CHAT + EMBEDDING + 10_800
      )
      assert.include(text, '"texts":["Herons"]')
    }).pipe(Effect.scoped)
  )

  it.live("completes a follow-up, which is charged too", () =>
    Effect.gen(function* () {
      const rewritten = JSON.stringify({ question: "three herons wait?" })
      const server = yield* asking((response, { body }) => {
        const isRewriting = body.includes("standalone_question")
        events(response, piece(isRewriting ? rewritten : cited), stop, told, "[DONE]")
        response.end()
      })
      const first = yield* post(server, "/qa", { question: "three herons?", conversation: "new" })
      const { conversation } = Schema.decodeUnknownSync(InConversation)(first.text)
      const { text } = yield* costs(
        server,
        post(server, "/qa", { question: "And why do they wait?", conversation: conversation.id }),
        BEFORE_CHAT + 10_800
      )
      assert.include(text, '"by":"model"')
    }).pipe(Effect.scoped)
  )

  it.live("reads as many passages as `context` says", () =>
    Effect.gen(function* () {
      const read: Array<string> = []
      const server = yield* asking((response, { body }) => {
        read.push(body)
        events(response, piece("NOT_FOUND"), stop, "[DONE]")
        response.end()
      })
      yield* server.call("/documents", { body: filesOf({ "four.md": "# four\n\nthree more herons fly." }) })
      const question = { question: "three herons?", keep: 1 }
      yield* post(server, "/qa", question)
      yield* post(server, "/qa", { ...question, context: { passages: 1, section: false } })
      assert.deepStrictEqual(
        read.map((body) => /herons wait/.test(body) && /herons fly/.test(body)),
        [true, false]
      )
    }).pipe(Effect.scoped)
  )

  const Outcome = Schema.fromJsonString(
    Schema.Struct({
      outcome: Schema.String,
      notRead: Schema.optionalKey(Schema.Struct({ reason: Schema.String, advice: Schema.NonEmptyString }))
    })
  )
  it.live.each(outcomes)("%s", ([, sent, outcome, reason]) =>
    Effect.gen(function* () {
      const server = yield* asking((response) => {
        events(response, ...sent, "[DONE]")
        response.end()
      })
      const { status, text } = yield* ask(server)
      const answer = yield* Schema.decodeUnknownEffect(Outcome)(text)
      assert.deepStrictEqual([status, answer.outcome, answer.notRead?.reason], [200, outcome, reason])
    }).pipe(Effect.scoped)
  )
})

describe("an upstream that rejects the server's request", () => {
  const refusals = [
    [401, { message: "bad key" }],
    [402, { message: "pay up" }],
    [403, { message: "pay up", code: "insufficient_user_quota" }],
    [403, { message: "not your country" }],
    [404, { message: "no such model" }],
    [405, { message: "no POST" }],
    [307, { message: "elsewhere" }],
    [400, { message: "no temperature", param: "temperature" }]
  ] as const
  it.live("is 502 for questions and uploads", () =>
    Effect.gen(function* () {
      let refusal: (typeof refusals)[number] | undefined
      const { server } = yield* startPaidServer((response, received, request) => {
        if (refusal === undefined) return ranking(response, received, request)
        const [status, error] = refusal
        if (status === 307) response.setHeader("location", "http://127.0.0.1:1/v1")
        json(response, { error }, status)
      })
      assert.strictEqual(yield* upload(server), 200)
      for (refusal of refusals) {
        const calls = [
          server.call("/qa", { json: { question: "three herons?" } }),
          server.call("/documents", { body: filesOf({ "b.md": "# three\n\nthree more." }) })
        ]
        for (const call of calls) {
          const response = yield* call
          const { message, param } = yield* errorOf(response)
          assert.strictEqual(response.status, 502, message)
          assert.match(message, /^The gateway /)
          assert.strictEqual(param, null)
          assert.strictEqual(response.headers.get("x-should-retry"), "false")
        }
      }
    }).pipe(Effect.scoped)
  )
})

describe("the limits of an upstream apply to the library's calls", () => {
  const start = Effect.fnUntraced(function* (answer: Responder, limits: object) {
    const upstream = yield* startUpstream(answer)
    const file = join(yield* temporaryFolder, "sluice.config.json")
    const models = [
      // The upload has a longer timeout.
      { id: "e", operation: "embeddings", timeoutSeconds: 60 },
      { id: "r", operation: "rerank" },
      { id: "c", operation: "chat" }
    ]
    const east = { id: "east", url: upstream.env["SLUICE_GATEWAY_URL"], apiKey: { env: "EAST" }, models }
    const config = {
      upstreams: [{ ...east, ...limits }],
      library: { embedding: "e", rerank: "r", chat: "c" }
    }
    yield* Effect.promise(() => writeFile(file, JSON.stringify(config)))
    const server = yield* startServer({ env: { SLUICE_CONFIG: file, EAST: "sk-east" } })
    assert.strictEqual(yield* upload(server), 200)
    return server
  })

  it.live("a timeout is 504", () =>
    Effect.gen(function* () {
      const silent: Responder = (response, received, request) =>
        received.path === "/v1/rerank" ? undefined : ranking(response, received, request)
      const { status, text } = yield* ask(yield* start(silent, { timeoutSeconds: 0.3 }))
      assert.strictEqual(status, 504, text)
    }).pipe(Effect.scoped)
  )

  it.live("a stream that stalls is 504, whatever the timeout of its head", () =>
    Effect.gen(function* () {
      const stalling: Responder = (response, received, request) =>
        received.path === "/v1/chat/completions"
          ? events(response, piece("three"))
          : ranking(response, received, request)
      const { status, text } = yield* ask(yield* start(stalling, { timeoutSeconds: 600, idleSeconds: 0.3 }))
      assert.strictEqual(status, 504, text)
    }).pipe(Effect.scoped)
  )
})
