/** The official client of MCP over streamable HTTP, on a real server. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { assert, describe, it, layer } from "@effect/vitest"
import { Reader } from "@sluice/core"
import { ErrorBody } from "@sluice/core/contract"
import * as Embedded from "@sluice/embedded"
import { Deferred, Effect, Layer, Schema, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { NewUser } from "../../apps/demo-server/src/contract/Administration.ts"
import { makeMcpSessions, SESSION_HEADER } from "../../apps/demo-server/src/mcp/McpSessions.ts"
import { bearer, MadeKey, quotaOf } from "../demo-server/AccountCalls.ts"
import { sendRaw } from "../demo-server/Raw.ts"
import { type CallOptions, filesOf, startServer, testServer, TestServer } from "../demo-server/TestServer.ts"
import { callTool, connect, connectHttp, FILES, httpTransport, QUESTION } from "./McpClients.ts"

const fields = { name: "assistant", expired_time: -1, remain_quota: 500_000, subnet: "" }

/** A key of the owner, or of the user with this token. */
const makeKey = (given: Record<string, unknown> = {}, token?: string) =>
  Effect.flatMap(TestServer, ({ json }) => {
    const as: CallOptions = token === undefined ? { as: "token" } : bearer(token)
    return Effect.map(
      json(MadeKey, "/api/token/", { ...as, json: { ...fields, ...given } }),
      ({ data }) => data.key
    )
  })

/** A user's key. */
const makeUser = (username: string, quota = 10_000) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const One = Schema.Struct({ data: NewUser })
    const { data } = yield* json(One, "/api/user", { as: "token", json: { username, quota } })
    return yield* makeKey({}, data.access_token)
  })

const upload = (key: string, files: Record<string, string>, collection = "default") =>
  Effect.flatMap(TestServer, ({ call }) =>
    Effect.map(
      call(`/documents?collection=${collection}`, { ...bearer(key), body: filesOf(files) }),
      ({ status }) => assert.strictEqual(status, 200)
    )
  )

interface Owned {
  readonly id: string
  readonly document: { readonly path: string }
}

/** A message that the official client would send. */
const message = (method: string, params: object, headers: Record<string, string> = {}): CallOptions => ({
  json: { jsonrpc: "2.0", id: 1, method, params },
  headers: { accept: "application/json, text/event-stream", ...headers }
})
const INITIALIZE = message("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" }
})

/** Status and code of a refused request. */
const refusal = (options: CallOptions) =>
  Effect.gen(function* () {
    const { call } = yield* TestServer
    const response = yield* call("/mcp", options)
    const body = yield* Effect.promise(() => response.text())
    return {
      status: response.status,
      code: Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))(body).error.code
    }
  })

const messageOf = (call: Promise<unknown>) =>
  Effect.promise(() =>
    call.then(
      () => "no error",
      (error: unknown) => String(error)
    )
  )

layer(testServer(), { excludeTestServices: true })("MCP over HTTP", (it) => {
  it.effect("lists four tools that only read, with the schemas of what they take and return", () =>
    Effect.gen(function* () {
      const client = yield* connectHttp()
      assert.deepInclude(client.getServerVersion(), { name: "sluice" })
      assert.include(client.getInstructions(), "documents")
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["search", "ask", "get_passage", "list_documents"]
      )
      for (const { annotations, description, inputSchema, outputSchema } of tools) {
        assert.isTrue(annotations?.readOnlyHint)
        assert.isNotEmpty(description)
        assert.isFalse(inputSchema["additionalProperties"])
        assert.strictEqual(outputSchema?.type, "object")
      }
    }).pipe(Effect.scoped)
  )

  it.effect(
    "searches, reads around a passage, answers with numbered citations, and bills each question",
    () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const key = yield* makeKey()
        yield* upload(key, FILES)
        const client = yield* connectHttp(key)

        const before = yield* quotaOf(server)
        const found = yield* callTool(client, "search", { query: QUESTION, limit: 1 })
        const [first] = found.content["passages"] as ReadonlyArray<Record<string, unknown>>
        assert.deepInclude(first?.["document"], { path: "rules/locks.md", title: "Locks" })
        assert.match(found.text, /^\[1\] rules\/locks\.md › Locks › Waiting \(\w{32}#\d\)\n[^]*30 minutes/)
        const searched = Number(found.content["cost"])
        assert.isAbove(searched, 0)
        assert.strictEqual(yield* quotaOf(server), before - searched)

        const id = String(first?.["id"])
        const read = yield* callTool(client, "get_passage", { id })
        assert.deepStrictEqual(read.content["passages"], [first])
        const around = yield* callTool(client, "get_passage", { id, around: 1 })
        assert.include(around.text, "four crowns")

        const asked = yield* callTool(client, "ask", { question: QUESTION })
        assert.match(asked.text, /30 minutes[^]*\[1\]\n\n\[1\] rules\/locks\.md › [^]*“[^”]*30 minutes/)
        const [citation] = asked.content["citations"] as ReadonlyArray<Record<string, unknown>>
        assert.deepInclude(citation, { n: 1, document: "rules/locks.md", passageId: id })
        assert.strictEqual(asked.content["outcome"], "answer")
        assert.strictEqual(yield* quotaOf(server), before - searched - Number(asked.content["cost"]))

        const filter = { documents: ["birds.md"] }
        const other = yield* callTool(client, "search", { query: QUESTION, filter })
        assert.include(other.text, "heron")
        assert.notInclude(other.text, "30 minutes")
      }).pipe(Effect.scoped)
  )

  it.effect("lists documents in pages, by a part of their path, and by collection", () =>
    Effect.gen(function* () {
      const key = yield* makeUser("lister")
      yield* upload(key, FILES)
      yield* upload(key, { "own.md": "# Own\n\nMine." }, "private")
      const client = yield* connectHttp(key)
      const list = (parameters: Record<string, unknown>) => callTool(client, "list_documents", parameters)
      const paths = ({ content }: { readonly content: Record<string, unknown> }) =>
        (content["documents"] as ReadonlyArray<{ readonly path: string }>).map(({ path }) => path)
      const page = yield* list({ limit: 1 })
      assert.deepStrictEqual(paths(page), ["birds.md"])
      assert.deepInclude(page.content, { total: 2, collections: ["default", "private"], next: "birds.md" })
      const rest = yield* list({ after: page.content["next"] })
      assert.deepStrictEqual(paths(rest), ["rules/locks.md"])
      assert.notProperty(rest.content, "next")
      assert.deepStrictEqual(paths(yield* list({ text: "LOCKS" })), ["rules/locks.md"])
      assert.deepStrictEqual(paths(yield* list({ collection: "private" })), ["own.md"])
    }).pipe(Effect.scoped)
  )

  it.effect("errors are results that say what to do", () =>
    Effect.gen(function* () {
      const key = yield* makeUser("mistaken")
      yield* upload(key, FILES)
      const client = yield* connectHttp(key)
      const cases = [
        ["search", { query: " " }, /question is empty/],
        ["search", { quer: "boat" }, /Wrong arguments of `search`: [^]*"quer"/],
        ["search", { query: "boat", limit: 21 }, /between 1 and 20/],
        ["search", { query: "boat", collection: "none" }, /no collection "none"\. The tool `list_documents`/],
        ["ask", { question: "boat", filter: { documents: ["no.md"] } }, /"no\.md"[^]*`list_documents`/],
        ["ask", { question: "boat", filter: { pages: {} } }, /`filter.pages` has neither/],
        ["get_passage", { id: "1" }, /no passage 1\. Use the identifier/],
        ["get_passage", { id: `${"a".repeat(32)}#0` }, /no document a+\. It may have been removed/],
        ["list_documents", { limit: 0 }, /between 1 and 100/]
      ] as const
      for (const [name, parameters, text] of cases) {
        const { content, ...answer } = yield* callTool(client, name, parameters)
        assert.isTrue(answer.isError, JSON.stringify(parameters))
        assert.match(answer.text, text)
        assert.isEmpty(content)
      }
      const unknown = yield* messageOf(client.callTool({ name: "remove" }))
      assert.include(unknown, "remove")
    }).pipe(Effect.scoped)
  )

  it.effect("without balance, or without a model, a question fails before it is answered", () =>
    Effect.gen(function* () {
      const poor = yield* makeUser("poor", 0)
      yield* upload(yield* makeKey(), { "a.md": "# A\n\nA boat." })
      const unpaid = yield* callTool(yield* connectHttp(poor), "search", { query: "boat" })
      assert.isTrue(unpaid.isError)
      assert.match(unpaid.text, /quota|balance/i)

      const narrow = yield* connectHttp(yield* makeKey({ models: ["sluice-lexical-1024"] }))
      const server = yield* TestServer
      const before = yield* quotaOf(server)
      const denied = yield* callTool(narrow, "ask", { question: "boat" })
      assert.strictEqual(yield* quotaOf(server), before)
      assert.isTrue(denied.isError)
      assert.include(denied.text, "may not use the model")
      assert.isFalse((yield* callTool(narrow, "list_documents")).isError)
    }).pipe(Effect.scoped)
  )

  it.effect("two users see their own documents only, even with each other's session and identifiers", () =>
    Effect.gen(function* () {
      const [ann, ben] = [yield* makeUser("ann"), yield* makeUser("ben")]
      yield* upload(ann, { "notes.md": "# Notes\n\nThe heron nests by the upper gate." })
      yield* upload(ben, {
        "notes.md": "# Notes\n\nThe toll is four crowns.",
        "ben.md": "# Ben\n\nHis toll."
      })
      const { secrets, url } = yield* TestServer
      assert.isNotEmpty(secrets.apiKey)
      const transport = httpTransport(url, ann)
      const annas = yield* connect(transport)
      const bens = yield* connectHttp(ben)

      const [listed, found, asked] = [
        yield* callTool(annas, "list_documents"),
        yield* callTool(annas, "search", { query: "What is the toll?" }),
        yield* callTool(annas, "ask", { question: "What is the toll?" })
      ]
      for (const { text, content } of [listed, found, asked]) {
        assert.notInclude(text, "crowns")
        assert.notInclude(JSON.stringify(content), "ben.md")
      }
      assert.deepInclude(listed.content, { total: 1 })
      assert.include(found.text, "heron")
      const known = yield* callTool(bens, "search", { query: "What is the toll?" })
      assert.include(known.text, "four crowns")
      const own = (known.content["passages"] as ReadonlyArray<Owned>).find(
        ({ document }) => document.path === "ben.md"
      )
      assert.isTrue((yield* callTool(annas, "get_passage", { id: own?.id })).isError)
      assert.isFalse((yield* callTool(bens, "get_passage", { id: own?.id })).isError)

      const session = transport.sessionId ?? ""
      const stolen = {
        ...message("tools/list", {}).headers,
        ...bearer(ben).headers,
        "mcp-session-id": session
      }
      assert.deepStrictEqual(yield* refusal({ ...message("tools/list", {}), as: "none", headers: stolen }), {
        status: 404,
        code: "session_not_found"
      })
      const { call } = yield* TestServer
      const ended = yield* call("/mcp", { as: "none", method: "DELETE", headers: stolen })
      assert.strictEqual(ended.status, 404)
      assert.isFalse((yield* callTool(annas, "list_documents")).isError)
    }).pipe(Effect.scoped)
  )

  it.effect("a wrong key, a system token and a key without the documents open nothing", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* TestServer
      const closed = yield* makeKey({ documents: false })
      const cases = [
        ["sk-wrong", /Unknown API key/],
        [secrets.accessToken, /system access token/],
        [closed, /may not use the documents/]
      ] as const
      for (const [key, text] of cases) {
        const client = new Client({ name: "test", version: "1" })
        assert.match(yield* messageOf(client.connect(httpTransport(url, key))), text)
      }
      const session = { ...INITIALIZE, as: "session" } as const
      assert.deepStrictEqual(yield* refusal(session), { status: 401, code: "invalid_api_key" })
    })
  )

  it.effect("a page of a browser is refused, and so is another host's name", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* TestServer
      for (const origin of ["https://evil.example", url, "null"]) {
        const options = { ...INITIALIZE, headers: { ...INITIALIZE.headers, origin } }
        assert.deepStrictEqual(yield* refusal(options), { status: 403, code: "cross_origin" })
      }
      const body = JSON.stringify(INITIALIZE.json)
      const rebound = yield* sendRaw(
        url,
        `POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${secrets.apiKey}\r\n` +
          `Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
      )
      assert.strictEqual(rebound.status, 403)
      assert.include(rebound.body, "host_not_allowed")
    })
  )

  it.effect("a message that is too large is refused, and other methods are not offered", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const large = message("initialize", { clientInfo: { name: "x".repeat(128 * 1024), version: "1" } })
      assert.deepStrictEqual(yield* refusal(large), { status: 413, code: "too_large" })
      assert.strictEqual((yield* call("/mcp")).status, 405)
    })
  )

  it.effect("a session ends when its client ends it, or when its user opened a hundred others", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const open = Effect.map(call("/mcp", INITIALIZE), ({ headers }) => headers.get("mcp-session-id") ?? "")
      const statusIn = (session: string, method = "POST") =>
        Effect.map(
          call("/mcp", {
            ...(method === "POST" && { json: message("tools/list", {}).json }),
            method,
            headers: { accept: "application/json, text/event-stream", "mcp-session-id": session }
          }),
          ({ status }) => status
        )
      const ended = yield* open
      assert.strictEqual(yield* statusIn(ended, "DELETE"), 204)
      assert.strictEqual(yield* statusIn(ended), 404)
      const [used, unused] = [yield* open, yield* open]
      for (let at = 0; at < 98; at++) yield* open
      assert.strictEqual(yield* statusIn(used), 200)
      yield* open
      assert.strictEqual(yield* statusIn(used), 200)
      assert.strictEqual(yield* statusIn(unused), 404)
    })
  )

  it.effect("the protocol without sessions is served too", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" }
      }
      const listed = yield* call(
        "/mcp",
        message(
          "tools/list",
          { _meta: meta },
          { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" }
        )
      )
      assert.strictEqual(listed.status, 200)
      assert.include(yield* Effect.promise(() => listed.text()), "list_documents")
      assert.isNull(listed.headers.get("mcp-session-id"))
    })
  )
})

describe("MCP over HTTP, cancelled", () => {
  it.live("a cancelled call interrupts the model", () =>
    Effect.gen(function* () {
      const [started, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const reading = Stream.fromEffect(
        Effect.onInterrupt(Effect.andThen(Deferred.succeed(started, undefined), Effect.never), () =>
          Deferred.succeed(stopped, undefined)
        )
      )
      const slow = Layer.succeed(
        Reader,
        Reader.of({ model: { id: "slow", kind: "extractive" }, read: () => reading })
      )
      const server = yield* startServer({
        models: Layer.mergeAll(Embedded.layerEmbedder, Embedded.layerReranker, slow)
      })
      yield* Effect.gen(function* () {
        yield* upload(server.secrets.apiKey, FILES)
        const client = yield* connectHttp()
        const cancelling = new AbortController()
        const call = client.callTool({ name: "ask", arguments: { question: QUESTION } }, undefined, {
          signal: cancelling.signal
        })
        yield* Deferred.await(started)
        cancelling.abort()
        assert.include(yield* messageOf(call), "Abort")
        yield* Deferred.await(stopped)
        assert.isFalse((yield* callTool(client, "list_documents")).isError)
      }).pipe(Effect.provideService(TestServer, server))
    }).pipe(Effect.scoped)
  )
})

it.effect("the oldest session above the limit is ended at the server, which would keep it", () =>
  Effect.gen(function* () {
    const ended: Array<string | undefined> = []
    const server = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers, method }) => {
      ended.push(`${method} ${headers[SESSION_HEADER]}`)
      return HttpServerResponse.empty()
    })
    const { record } = makeMcpSessions(server)
    for (let at = 0; at < 102; at++) yield* record("ann", `session-${at}`)
    yield* record("ben", "session-ben")
    assert.deepStrictEqual(ended, ["DELETE session-0", "DELETE session-1"])
  })
)
