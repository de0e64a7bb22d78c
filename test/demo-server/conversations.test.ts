/** Conversations on the server: kept, continued, replaced, rated, shared, exported, and nobody else's. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AnswerBody, AnswerStreamEvent, ConversationBody } from "../../apps/demo-server/src/contract/index.ts"
import { bearer, MadeKey, MadeUser } from "./AccountCalls.ts"
import { onStore } from "./Stores.ts"
import { filesOf, startServer, temporaryFolder, type TestServer } from "./TestServer.ts"

const FILES = {
  "weir.md": "The weir is 31 metres wide.\n\nThe weir was built in 1871.",
  "mill.md": "The mill is 12 metres high.\n\nThe mill was built in 1790."
}

const List = Schema.Struct({ conversations: Schema.Array(Schema.Struct({ id: Schema.String })) })
type Server = TestServer["Service"]

const ask = (server: Server, body: object) => server.json(AnswerBody, "/qa", { json: body })

/** Asks about the mill twice, and returns the conversation's id. */
const begin = Effect.fn(function* (server: Server) {
  yield* server.call("/documents", { body: filesOf(FILES) })
  const first = yield* ask(server, { question: "How high is the mill?", conversation: "new" })
  const id = first.conversation?.id ?? assert.fail("not kept")
  const second = yield* ask(server, { question: "And when was it built?", conversation: id })
  assert.deepStrictEqual(second.conversation, { id, turn: 2 })
  assert.strictEqual(second.standalone?.question, "When was the mill built?")
  assert.include(second.answer, "1790")
  return id
})
const status = (response: Effect.Effect<Response>) => Effect.map(response, (got) => got.status)
const textOf = (response: Effect.Effect<Response>) =>
  Effect.flatMap(response, (got) => Effect.promise(() => got.text()))

onStore((store) => {
  it.live("a conversation continues after a restart", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const env = yield* store
      const before = startServer({ data, env })
      const [id, { apiKey }] = yield* Effect.scoped(
        Effect.flatMap(before, (server) => Effect.map(begin(server), (id) => [id, server.secrets] as const))
      )
      const server = yield* startServer({ data, env })
      const { turns, title } = yield* server.json(ConversationBody, `/conversations/${id}`, {
        as: "none",
        headers: { authorization: `Bearer ${apiKey}` }
      })
      assert.strictEqual(title, "How high is the mill?")
      assert.deepStrictEqual(
        turns.map(({ answer, number }) => [number, answer.question]),
        [
          [1, "How high is the mill?"],
          [2, "And when was it built?"]
        ]
      )
      assert.isNotEmpty(turns[1]?.answer.trace.passages)
    }).pipe(Effect.scoped)
  )

  it.live("a turn can be asked again or differently, which replaces those after it", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const id = yield* begin(server)
      const events = yield* server.events(AnswerStreamEvent, "/qa", {
        json: { question: "How wide is the weir?", conversation: id, turn: 1 }
      })
      assert.strictEqual(events.at(-1)?.type, "answer")
      const { turns } = yield* server.json(ConversationBody, `/conversations/${id}`)
      assert.deepStrictEqual(
        turns.map(({ answer }) => answer.question),
        ["How wide is the weir?"]
      )
      const edited = yield* ask(server, {
        question: "And that?",
        standalone: "When was the weir built?",
        conversation: id
      })
      assert.deepInclude(edited.standalone, { by: "caller" })
      assert.include(edited.answer, "1871")
    }).pipe(Effect.scoped)
  )

  it.live("a question with a NUL begins a conversation, and no title or id has one", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      yield* server.call("/documents", { body: filesOf(FILES) })
      const { conversation } = yield* ask(server, {
        question: "How high\u0000is\u001b the mill?",
        conversation: "new"
      })
      const at = `/conversations/${conversation?.id}`
      const { title, turns } = yield* server.json(ConversationBody, at)
      assert.deepStrictEqual([title, turns.length], ["How high is the mill?", 1])
      const rate = (turn: string) =>
        server.call(`${at}/turns/${turn}/rating`, { method: "PUT", json: { rating: "up" } })
      const statuses = yield* Effect.forEach(
        [
          server.call(at, { method: "PATCH", json: { title: "\u0000" } }),
          server.call("/conversations/%00"),
          server.call("/qa", { json: { question: "Why?", conversation: "\u0000" } }),
          rate("0"),
          rate("1e300"),
          rate("1001")
        ],
        status
      )
      assert.deepStrictEqual(statuses, [400, 400, 400, 400, 400, 400])
    }).pipe(Effect.scoped)
  )

  it.live("a rating is kept with the trace, renamed and removed with its conversation", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const id = yield* begin(server)
      const at = `/conversations/${id}`
      const rate = (turn: number, rating: string | null) =>
        status(server.call(`${at}/turns/${turn}/rating`, { method: "PUT", json: { rating } }))
      assert.deepStrictEqual(
        [yield* rate(2, "up"), yield* rate(7, "up"), yield* rate(2, "fine")],
        [204, 404, 400]
      )
      yield* server.call(at, { method: "PATCH", json: { title: "The mill" } })
      const { title, turns } = yield* server.json(ConversationBody, at)
      assert.deepStrictEqual([title, turns.map(({ rating }) => rating)], ["The mill", [undefined, "up"]])
      assert.strictEqual(yield* status(server.call(at, { method: "DELETE" })), 204)
      assert.strictEqual(yield* status(server.call(at)), 404)
      assert.isEmpty((yield* server.json(List, "/conversations")).conversations)
    }).pipe(Effect.scoped)
  )

  it.live("a link shows it to everybody until it ends, and nothing else does", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const id = yield* begin(server)
      assert.strictEqual(yield* status(server.call(`/conversations/${id}`, { as: "none" })), 401)
      const user = yield* server.json(MadeUser, "/api/user", {
        as: "token",
        json: { username: "ann", quota: 10_000 }
      })
      const made = yield* server.json(MadeKey, "/api/token/", {
        ...bearer(user.data.access_token),
        json: { name: "key", expired_time: -1, remain_quota: 5_000, subnet: "" }
      })
      const other = bearer(made.data.key)
      assert.strictEqual(yield* status(server.call(`/conversations/${id}`, other)), 404)
      assert.strictEqual(
        yield* status(server.call(`/conversations/${id}`, { ...other, method: "DELETE" })),
        404
      )
      assert.isEmpty((yield* server.json(List, "/conversations", other)).conversations)
      const link = () =>
        server.json(Schema.Struct({ path: Schema.String }), `/conversations/${id}/link`, { method: "POST" })
      const { path } = yield* link()
      const page = yield* server.call(path, { as: "none" })
      assert.strictEqual(page.headers.get("content-security-policy")?.split(";")[0], "default-src 'none'")
      const html = yield* Effect.promise(() => page.text())
      assert.include(html, "Understood as: When was the mill built?")
      assert.include(html, "<blockquote>The mill was built in 1790.</blockquote>")
      yield* link()
      assert.strictEqual(yield* status(server.call(path, { as: "none" })), 404)
      const { path: next } = yield* link()
      yield* server.call(`/conversations/${id}/link`, { method: "DELETE" })
      assert.strictEqual(yield* status(server.call(next, { as: "none" })), 404)
    }).pipe(Effect.scoped)
  )
})

it.live("an export has the quotes as footnotes, and text that is no markup", () =>
  Effect.gen(function* () {
    const server = yield* startServer()
    yield* server.call("/documents", {
      body: filesOf({ "a.md": "A <b>bold</b> heron & a gull wait at the weir." })
    })
    const { answer, conversation } = yield* ask(server, {
      question: "What waits at the <i>weir</i>?",
      conversation: "new"
    })
    assert.include(answer, "heron")
    const at = `/conversations/${conversation?.id}/export`
    const markdown = yield* textOf(server.call(at))
    assert.include(markdown, "[^1-1]: “A <b>bold</b> heron & a gull wait at the weir.”")
    assert.match(markdown, /heron.*\[\^1-1\]/)
    const html = yield* textOf(server.call(`${at}?format=html`))
    assert.include(html, "What waits at the &lt;i&gt;weir&lt;/i&gt;?")
    assert.notInclude(html, "<b>")
    yield* ask(server, { question: "How heavy is the heron?", conversation: conversation?.id })
    const without = yield* textOf(server.call(`${at}?format=html`))
    assert.include(without, "Closest passages:")
    assert.include(without, "<li><blockquote>A &lt;b&gt;bold&lt;/b&gt; heron")
    assert.include(yield* textOf(server.call(at)), "> A <b>bold</b> heron")
  }).pipe(Effect.scoped)
)
