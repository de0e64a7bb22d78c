/** The metrics of upstreams, models, answers and queues. */
import { assert, it } from "@effect/vitest"
import { jobCounts, makeFairQueue } from "@sluice/core/workers"
import { Deferred, Effect, Fiber, Latch } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { filesOf, startServer, type TestServer } from "./TestServer.ts"
import { json, startUpstream } from "./Upstream.ts"

type Server = TestServer["Service"]

const textOf = ({ call }: Server) =>
  Effect.flatMap(call("/metrics", { as: "none" }), (response) => Effect.promise(() => response.text()))

/** The values of a metric, by its labels. */
const valuesOf = (text: string, metric: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...text.matchAll(new RegExp(`^${metric}(?:\\{(.*)\\})? (\\S+)$`, "gm"))].map(
      ([, labels = "", value]) => [labels.replaceAll('"', ""), Number(value)]
    )
  )

/** What a metric has counted since a text, without what it had. */
const grown = (before: string, after: string, metric: string) => {
  const earlier = valuesOf(before, metric)
  return Object.fromEntries(
    Object.entries(valuesOf(after, metric))
      .map(([labels, value]) => [labels, value - (earlier[labels] ?? 0)] as const)
      .filter(([, value]) => value !== 0)
  )
}

const CALLS = "sluice_upstream_calls_total"

it.live("calls to upstreams are counted by upstream, operation, group and outcome", () =>
  Effect.gen(function* () {
    const upstream = yield* startUpstream((response, { method, path }) => {
      if (path === "/v1/rerank") return json(response, { error: { message: "busy" } }, 429)
      if (path === "/v1/videos") return json(response, { id: "v1", status: "queued" })
      if (method === "GET") return json(response, { id: "v1", status: "in_progress" })
      json(response, { choices: [{ message: { content: "hi" } }] })
    })
    const { port } = new URL(upstream.env.SLUICE_GATEWAY_URL)
    const models = [
      { id: "r", operation: "rerank" },
      { id: "c", operation: "chat" },
      { id: "v", operation: "videos", group: "V-D" },
      { id: "w", operation: "videos" }
    ]
    const file = join(mkdtempSync(join(tmpdir(), "sluice-metrics-")), "providers.json")
    const far = { id: "far", url: `http://127.0.0.1:${port}`, apiKey: { env: "UPSTREAM_KEY" }, models }
    writeFileSync(file, JSON.stringify({ upstreams: [far] }))
    const server = yield* startServer({
      env: { SLUICE_CONFIG: file, UPSTREAM_KEY: "sk-upstream-0123456789" }
    })
    const before = yield* textOf(server)
    const { call } = server
    const messages = [{ role: "user", content: "hello" }]
    yield* call("/v1/chat/completions", { json: { model: "c", messages } })
    yield* call("/v1/chat/completions", { json: { model: "c", messages } })
    yield* call("/v1/rerank", { json: { model: "r", query: "q", documents: ["d"] } })
    const created = yield* call("/v1/videos", { json: { model: "v", prompt: "p", seconds: "5" } })
    const { id } = (yield* Effect.promise(() => created.json())) as { readonly id: string }
    yield* call(`/v1/videos/${id}`)
    yield* call("/v1/videos", { json: { model: "w", prompt: "p" } })
    const after = yield* textOf(server)
    assert.deepStrictEqual(grown(before, after, CALLS), {
      "upstream=far,operation=chat,group=chat,outcome=ok": 2,
      "upstream=far,operation=rerank,group=rerank,outcome=RateLimited": 1,
      "upstream=far,operation=videos,group=V-D,outcome=ok": 2,
      "upstream=far,operation=videos,group=videos,outcome=ok": 1
    })
    assert.deepStrictEqual(grown(before, after, "sluice_upstream_seconds_count"), {
      "upstream=far,operation=chat": 2,
      "upstream=far,operation=rerank": 1,
      "upstream=far,operation=videos": 3
    })
    const ofFar = (text: string) =>
      Object.fromEntries(
        Object.entries(valuesOf(text, "sluice_models")).filter(([labels]) =>
          labels.startsWith("upstream=far")
        )
      )
    assert.deepStrictEqual(ofFar(after), {
      "upstream=far,operation=rerank,group=rerank": 1,
      "upstream=far,operation=chat,group=chat": 1,
      "upstream=far,operation=videos,group=V-D": 1,
      "upstream=far,operation=videos,group=videos": 1
    })
  }).pipe(Effect.scoped)
)

it.live("calls of the library's models are counted too", () =>
  Effect.gen(function* () {
    const reranking = yield* Deferred.make<() => void>()
    const upstream = yield* startUpstream((response, { body, path }) => {
      const { documents = [], input = [] } = JSON.parse(body) as Record<string, ReadonlyArray<string>>
      if (path === "/v1/embeddings")
        return json(response, { data: input.map((_, index) => ({ index, embedding: [1, index] })) })
      if (path === "/v1/rerank")
        return Deferred.doneUnsafe(
          reranking,
          Effect.succeed(() =>
            json(response, { results: documents.map((_, index) => ({ index, relevance_score: 1 })) })
          )
        )
      json(response, { error: { message: "no chat" } }, 400)
    })
    const server = yield* startServer({ env: upstream.env })
    const before = yield* textOf(server)
    yield* server.call("/documents", { body: filesOf({ "heron.md": "# Heron\n\nThe heron waits.\n" }) })
    const question = "Where does the heron wait?"
    const asking = yield* Effect.forkChild(server.call("/qa", { json: { question } }))
    const answer = yield* Deferred.await(reranking)
    assert.deepStrictEqual(valuesOf(yield* textOf(server), "sluice_questions_running"), { "": 1 })
    answer()
    yield* Fiber.join(asking)
    const { host } = new URL(upstream.env.SLUICE_GATEWAY_URL)
    const calls = grown(before, yield* textOf(server), CALLS)
    const made = (operation: string, outcome: string) =>
      calls[`upstream=${host},operation=${operation},group=${operation},outcome=${outcome}`] ?? 0
    assert.isAtLeast(made("embeddings", "ok"), 2)
    assert.strictEqual(made("rerank", "ok"), 1)
    assert.isAtLeast(made("chat", "InvalidRequest"), 1)
  }).pipe(Effect.scoped)
)

it.live("an open circuit is a metric", () =>
  Effect.gen(function* () {
    let isDown = true
    const upstream = yield* startUpstream((response) =>
      isDown ? json(response, {}, 500) : json(response, { results: [{ index: 0, relevance_score: 1 }] })
    )
    const server = yield* startServer({ env: upstream.env })
    const open = Effect.map(
      textOf(server),
      (text) =>
        Object.entries(valuesOf(text, "sluice_upstream_circuit_open")).find(([labels]) =>
          labels.includes(new URL(upstream.env.SLUICE_GATEWAY_URL).host)
        )?.[1]
    )
    const rerank = server.call("/v1/rerank", { json: { model: "r", query: "q", documents: ["d"] } })
    assert.strictEqual(yield* open, 0)
    for (let i = 0; i < 5; i++) yield* rerank
    assert.strictEqual(yield* open, 1)
    isDown = false
    assert.strictEqual((yield* rerank).status, 503)
    assert.strictEqual(yield* open, 1)
  }).pipe(Effect.scoped)
)

it.live("answers are counted by outcome, whole and streamed, also when they fail", () =>
  Effect.gen(function* () {
    const server = yield* startServer()
    const { call } = server
    yield* call("/documents", {
      body: filesOf({ "heron.md": "# Heron\n\nThe heron waits at the lower lock until noon.\n" })
    })
    const ask = (path: string, question: string, headers = {}) =>
      Effect.flatMap(call(path, { json: { question }, headers }), (response) =>
        Effect.promise(() => response.text())
      )
    const before = yield* textOf(server)
    yield* ask("/qa", "Where does the heron wait?")
    yield* ask("/qa", "Where does the heron wait?", { accept: "text/event-stream" })
    yield* ask("/qa", "How heavy is the heron?")
    yield* ask("/qa", "Quetzalcoatlus xylophone?")
    yield* ask("/retrieve", "Where does the heron wait?")
    const after = yield* textOf(server)
    assert.deepStrictEqual(grown(before, after, "sluice_answers_total"), {
      "outcome=answer": 2,
      "outcome=passages": 1,
      "outcome=nothing": 1
    })
    assert.deepStrictEqual(valuesOf(after, "sluice_questions_running"), { "": 0 })
  }).pipe(Effect.scoped)
)

it.live("a fair queue counts what runs and what waits", () =>
  Effect.gen(function* () {
    const queue = makeFairQueue(2, 1)
    const open = yield* Latch.make()
    const fibers = yield* Effect.forEach(["a", "a", "b", "c"], (user) =>
      Effect.forkChild(queue(user, open.await), { startImmediately: true })
    )
    assert.deepStrictEqual(queue.counts(), { running: 2, waiting: 2 })
    yield* Fiber.interrupt(fibers[1]!)
    assert.deepStrictEqual(queue.counts(), { running: 2, waiting: 1 })
    yield* open.open
    yield* Effect.forEach(fibers.toSpliced(1, 1), Fiber.join)
    assert.deepStrictEqual(queue.counts(), { running: 0, waiting: 0 })
    assert.deepStrictEqual(Object.keys(jobCounts()), ["running", "waiting"])
  })
)
