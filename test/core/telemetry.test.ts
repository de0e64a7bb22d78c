import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Account, apiKey, Gateway, Quota, systemAccessToken } from "@sluice/core"
import { AccountClient, GatewayClient, GatewayMetrics, RETRY } from "@sluice/core/client"
import { Cause, Effect, Exit, Fiber, Layer, Logger, Metric, References, Stream, Tracer } from "effect"
import { TestGateway } from "@sluice/core/testing"
import { TestClock } from "effect/testing"
import { observe } from "../../packages/core/src/client/call/Telemetry.ts"
import { runWithClock } from "./runWithClock.ts"
import { ask, chat, chatStream, embedTwo, rerankThree } from "./Clients.ts"
import { type Behaviour, delta, events, json, LoopbackGateway, model, openAi } from "./LoopbackGateway.ts"

const KEY = "sk-canary-5f2e91c07d"
const TOKEN = "sat-canary-77aa01bc3e"
/** What the gateway makes: a key, and an access token in place of the old one. */
const MADE = "new-canary-40d1c2f8b9a3"

/** What a link to a file is signed with. */
const LINK = "link-canary-b1e6a07f35"

/** Keeps every span that ends, parents before children or not. */
const collecting = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span(options) {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
}

const scripted = (...replies: ReadonlyArray<() => Response>) => {
  let next = 0
  return TestGateway.layer({
    retry: RETRY,
    respond: () => replies[Math.min(next++, replies.length - 1)]?.()
  })
}

/** Follows a call to its end, and gives the span of that name and what was counted. */
const watched = Effect.fn(function* (
  name: string,
  call: Effect.Effect<unknown, unknown, Gateway>,
  gateway: Layer.Layer<Gateway, unknown>
) {
  const { spans, tracer } = collecting()
  const registry: Metric.MetricRegistry = new Map()
  yield* call.pipe(
    Effect.provide(gateway),
    Effect.withTracer(tracer),
    Effect.provideService(Metric.MetricRegistry, registry),
    runWithClock
  )
  const span = spans.find((span) => span.name === name)
  const counted = <Input, State>(metric: Metric.Metric<Input, State>, attributes: Record<string, string>) =>
    Metric.value(Metric.withAttributes(metric, attributes)).pipe(
      Effect.provideService(Metric.MetricRegistry, registry)
    )
  return { attributes: Object.fromEntries(span?.attributes ?? []), kind: span?.kind, counted, spans }
})

const answer = {
  id: "chat-7",
  model: "m-2026",
  choices: [{ message: { content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 31, completion_tokens: 5, total_tokens: 36 }
}
const CHAT = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "c" }

describe("telemetry", () => {
  it.effect("a call has a span with GenAI attributes, and metrics", () =>
    Effect.gen(function* () {
      const call = Gateway.use((gateway) => gateway.chat({ ...ask, maxTokens: 9, temperature: 0.5 }))
      const { attributes, counted, kind } = yield* watched(
        "chat c",
        call,
        scripted(() => Response.json(answer, { headers: { "x-request-id": "req-1" } }))
      )
      assert.strictEqual(kind, "client")
      assert.deepStrictEqual(attributes, {
        ...CHAT,
        "gen_ai.provider.name": "sluice",
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.temperature": 0.5,
        "sluice.request.id": "req-1",
        "gen_ai.response.id": "chat-7",
        "gen_ai.response.model": "m-2026",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 31,
        "gen_ai.usage.output_tokens": 5
      })
      const { calls, retries, seconds, tokens } = GatewayMetrics
      assert.strictEqual((yield* counted(calls, CHAT)).count, 1)
      assert.strictEqual((yield* counted(retries, CHAT)).count, 0)
      assert.strictEqual((yield* counted(seconds, CHAT)).count, 1)
      assert.strictEqual((yield* counted(tokens, { ...CHAT, "gen_ai.token.type": "input" })).sum, 31)
      assert.strictEqual((yield* counted(tokens, { ...CHAT, "gen_ai.token.type": "output" })).sum, 5)
    })
  )

  it.effect("retries and failures are counted, by the last reason", () =>
    Effect.gen(function* () {
      const { attributes, counted } = yield* watched(
        "chat c",
        chat,
        scripted(
          () => new Response(null, { status: 429, headers: { "retry-after": "2" } }),
          () => new Response(null, { status: 503, headers: { "retry-after": "3" } }),
          () => new Response(null, { status: 401 })
        )
      )
      assert.deepStrictEqual(
        [attributes["error.type"], attributes["http.request.resend_count"]],
        ["Unauthorized", 2]
      )
      const failed = { ...CHAT, "error.type": "Unauthorized" }
      assert.strictEqual((yield* counted(GatewayMetrics.retries, CHAT)).count, 2)
      assert.strictEqual((yield* counted(GatewayMetrics.calls, failed)).count, 1)
      assert.strictEqual((yield* counted(GatewayMetrics.calls, CHAT)).count, 0)
      assert.strictEqual((yield* counted(GatewayMetrics.seconds, failed)).sum, 5)
    })
  )

  it.effect("a stream's tokens are counted at its end, on its span", () =>
    Effect.gen(function* () {
      const chunks = [
        delta("hi"),
        { choices: [{ delta: {}, finish_reason: "stop" }] },
        { usage: answer.usage },
        "[DONE]"
      ]
      const body = chunks.map(
        (chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`
      )
      const headers = { "content-type": "text/event-stream" }
      const { attributes, counted } = yield* watched(
        "Gateway.chatStream",
        chatStream,
        scripted(() => new Response(body.join(""), { headers }))
      )
      assert.deepStrictEqual(attributes, {
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 31,
        "gen_ai.usage.output_tokens": 5
      })
      const input = { ...CHAT, "gen_ai.token.type": "input" }
      assert.strictEqual((yield* counted(GatewayMetrics.tokens, input)).sum, 31)
    })
  )

  it.effect("a total alone counts as input", () =>
    Effect.gen(function* () {
      const results = [0, 1, 2].map((index) => ({ index, relevance_score: 0.5 }))
      const data = [0, 1].map((index) => ({ index, embedding: [1, 2] }))
      const usage = { total_tokens: 9 }
      const cases = [
        ["rerank", "r", rerankThree(), { results, usage }],
        ["embeddings", "e", embedTwo, { data, usage, model: "e-3", id: "emb-1" }]
      ] as const
      for (const [operation, model, call, told] of cases) {
        const watching = watched(
          `${operation} ${model}`,
          call,
          scripted(() => Response.json(told))
        )
        const { attributes, counted } = yield* watching
        assert.strictEqual(attributes["gen_ai.usage.input_tokens"], 9)
        assert.notProperty(attributes, "gen_ai.usage.output_tokens")
        const input = {
          "gen_ai.operation.name": operation,
          "gen_ai.request.model": model,
          "gen_ai.token.type": "input"
        }
        assert.strictEqual((yield* counted(GatewayMetrics.tokens, input)).sum, 9)
        if (operation !== "embeddings") continue
        assert.strictEqual(attributes["gen_ai.response.model"], "e-3")
        assert.strictEqual(attributes["gen_ai.response.id"], "emb-1")
      }
    })
  )

  it.effect("an invalid count is ignored", () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: -4, completion_tokens: 1e300, total_tokens: 3 }
      const { attributes, counted } = yield* watched(
        "chat c",
        chat,
        scripted(() => Response.json({ ...answer, id: "", model: undefined, usage }))
      )
      for (const name of ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.response.id"])
        assert.notProperty(attributes, name)
      const input = { ...CHAT, "gen_ai.token.type": "input" }
      assert.strictEqual((yield* counted(GatewayMetrics.tokens, input)).count, 0)
    })
  )

  it.effect("an interrupted call is counted as interrupted", () =>
    Effect.gen(function* () {
      const registry: Metric.MetricRegistry = new Map()
      const fiber = yield* chat.pipe(
        Effect.provide(TestGateway.layer({ respond: () => Effect.never })),
        Effect.provideService(Metric.MetricRegistry, registry),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      const given = Metric.withAttributes(GatewayMetrics.calls, { ...CHAT, "error.type": "interrupted" })
      const { count } = yield* Metric.value(given).pipe(
        Effect.provideService(Metric.MetricRegistry, registry)
      )
      assert.strictEqual(count, 1)
    })
  )
})

describe("a canary secret", () => {
  const rude: Behaviour = ({ headers, path }, response, nth) => {
    const credential = headers.authorization ?? ""
    const echo = openAi({ message: `bad ${credential}`, param: credential, code: credential })
    if (nth % 5 === 0) return json(response, echo, 401, { "x-request-id": credential.slice(7) })
    if (nth % 5 === 1) return response.destroy()
    if (nth % 5 === 2) return json(response, `<p>${credential}</p>`)
    if (nth % 5 === 3) return events(response, [delta("a"), echo])
    if (path === "/v1/chat/completions") {
      const told = { ...answer, id: credential, model: credential }
      return json(response, told, 200, { "x-request-id": credential, "x-echo": credential })
    }
    return json(response, `{"data": ["${credential}`)
  }

  const minting: Behaviour = (request, response, nth) => {
    if (request.path.startsWith("/api/user/token")) return json(response, { success: true, data: MADE })
    if (!request.path.startsWith("/api/token")) return model(request, response, nth)
    const made = { id: 3, name: "t", key: MADE, status: 1, expired_time: -1, remain_quota: 5 }
    return json(response, { success: true, data: made })
  }

  it.effect("is in no log, span, metric, error or inspection", () =>
    Effect.gen(function* () {
      const { behave, url } = yield* LoopbackGateway
      const options = { retry: { times: 0, base: 1, cap: 1, budget: 1 } }
      const settings = { baseUrl: url, apiKey: apiKey(KEY), ...options }
      const account = { baseUrl: url, accessToken: systemAccessToken(TOKEN), ...options }
      const clients = Layer.merge(GatewayClient.layer(settings), AccountClient.layer(account))
      const { spans, tracer } = collecting()
      const registry: Metric.MetricRegistry = new Map()
      const logged: Array<unknown> = []
      const logger = Logger.make(({ cause, message }) => void logged.push(message, Cause.pretty(cause)))
      const ends: Array<Exit.Exit<unknown, unknown>> = []
      const token = { name: "t", remainQuota: Quota.make(5) }
      const calls: ReadonlyArray<Effect.Effect<unknown, unknown, Gateway | Account>> = [
        Account.use(({ rotateAccessToken }) => rotateAccessToken),
        Account.use(({ tokens }) => tokens.create(token)),
        chat,
        chatStream,
        embedTwo,
        rerankThree(),
        Gateway.use(({ models }) => models),
        Account.use(({ models }) => models),
        Account.use(({ availableModels }) => availableModels),
        Account.use(({ user }) => user),
        Account.use(({ tokens }) => Stream.runCollect(tokens.list)),
        Gateway.use(({ videos }) => videos.create({ model: "v", prompt: "p" })),
        Gateway.use(({ videos }) => videos.get("v-1")),
        Gateway.use(({ videos }) => Stream.runDrain(videos.content("v-1"))),
        Gateway.use(({ images }) => images.create({ model: "i", prompt: "p" })),
        Gateway.use(({ images }) => images.load({ url: `${url}/1.png?sv=${LINK}` }))
      ]
      yield* Effect.gen(function* () {
        for (const behaviour of [minting, rude]) {
          behave(behaviour)
          for (let round = 0; round < 5; round++) {
            for (const call of calls) {
              const exit = yield* Effect.exit(
                Effect.tapCause(call, (cause) => Effect.logError("failed", cause))
              )
              // What a gateway answers is the caller's, even where it is his own credential.
              if (behaviour === minting || Exit.isFailure(exit)) ends.push(exit)
            }
          }
        }
      }).pipe(
        Effect.provide([clients, Logger.layer([logger])]),
        Effect.provideService(References.MinimumLogLevel, "All"),
        Effect.withTracer(tracer),
        Effect.provideService(Metric.MetricRegistry, registry)
      )
      assert.isAbove(spans.length, 70)
      const stored = spans.flatMap(({ name, status }) =>
        status._tag === "Ended" && Exit.isSuccess(status.exit) && status.exit.value !== undefined ? name : []
      )
      assert.deepStrictEqual(stored, [])
      assert.isAbove(logged.length, 30)
      assert.isAbove(ends.filter(Exit.isFailure).length, 30)
      assert.isAtLeast(ends.filter(Exit.isSuccess).length, 40)
      const dump = yield* Effect.provideService(Metric.dump, Metric.MetricRegistry, registry)
      assert.include(dump, "sluice.client.calls")
      const places: Record<string, unknown> = { settings, account, spans, logged, ends, dump }
      for (const [place, value] of Object.entries(places)) {
        const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
        for (const one of list) {
          const shown = inspect(one, { depth: 20, showHidden: false, maxStringLength: null })
          const said = `${shown} ${JSON.stringify(one, once())} ${String(one)}`
          for (const secret of [KEY, TOKEN, MADE, LINK]) assert.notInclude(said, secret.slice(0, 12), place)
        }
      }
    }).pipe(Effect.provide(LoopbackGateway.layer))
  )
})

it.effect("beyond a thousand series all models are `other`", () =>
  Effect.gen(function* () {
    const registry: Metric.MetricRegistry = new Map()
    const answer = Effect.succeed({ value: undefined, requestId: undefined })
    const observed = Effect.forEach(Array.from({ length: 3000 }).keys(), (at) =>
      observe(answer, { operation: "chat", model: `m-${at}` }, () => 1, false)
    )
    const counted = yield* observed.pipe(
      Effect.andThen(Metric.snapshot),
      Effect.provideService(Metric.MetricRegistry, registry)
    )
    const models = counted.flatMap(({ attributes, id }) =>
      id === "sluice.client.calls" ? (attributes?.["gen_ai.request.model"] ?? []) : []
    )
    assert.isBelow(models.length, 1100)
    assert.include(models, "other")
    assert.strictEqual(new Set(models).size, models.length)
  })
)

/** What JSON has no form for, as text; each object once, for spans know their parents. */
const once = () => {
  const seen = new WeakSet<object>()
  return (_: string, value: unknown) => {
    if (typeof value === "bigint") return String(value)
    if (value instanceof Map) return [...value]
    if (typeof value !== "object" || value === null) return value
    if (seen.has(value)) return undefined
    seen.add(value)
    return value
  }
}
