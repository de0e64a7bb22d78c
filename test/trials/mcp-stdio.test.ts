/** The official client of MCP starts `sluice mcp` and talks to it over standard input and output. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { readdirSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { sluiceIn } from "../cli/Launcher.ts"
import { temporaryFolder } from "../demo-server/TestServer.ts"
import { callTool, connect, FILES, QUESTION } from "../mcp/McpClients.ts"

const launcher = join(import.meta.dirname, "../../apps/demo-server/bin/sluice.js")

/** A client that started the program in a folder with documents. */
class Assistant extends Context.Service<
  Assistant,
  { readonly client: Client; readonly transport: StdioClientTransport }
>()("test/mcp/Assistant") {
  static readonly layer = Layer.effect(
    Assistant,
    Effect.gen(function* () {
      const cwd = yield* temporaryFolder
      yield* Effect.promise(async () => {
        for (const [path, text] of Object.entries(FILES)) {
          const file = join(cwd, "docs", path)
          await mkdir(dirname(file), { recursive: true })
          await writeFile(file, text)
        }
      })
      const args = [launcher, "mcp", "--docs", "docs"]
      const transport = new StdioClientTransport({ command: process.execPath, args, cwd, stderr: "ignore" })
      return { client: yield* connect(transport), transport }
    })
  )
}

layer(Assistant.layer, { excludeTestServices: true })("sluice mcp", (it) => {
  it.effect("serves a folder, whose documents are found as soon as they are ingested", () =>
    Effect.gen(function* () {
      const { client } = yield* Assistant
      assert.deepInclude(client.getServerVersion(), { name: "sluice" })
      const { content } = yield* Effect.repeat(callTool(client, "list_documents"), {
        until: ({ content }) => content["total"] === 2,
        schedule: Schedule.spaced("100 millis")
      })
      assert.deepStrictEqual(content["collections"], ["default"])
    })
  )

  it.effect("searches, reads and answers without a price", () =>
    Effect.gen(function* () {
      const { client } = yield* Assistant
      const found = yield* callTool(client, "search", { query: QUESTION, limit: 1 })
      assert.match(found.text, /^\[1\] rules\/locks\.md › [^]*30 minutes/)
      assert.notProperty(found.content, "cost")
      const [first] = found.content["passages"] as ReadonlyArray<Record<string, unknown>>
      const read = yield* callTool(client, "get_passage", { id: first?.["id"], around: 1 })
      assert.lengthOf(read.content["passages"] as ReadonlyArray<unknown>, 2)
      const asked = yield* callTool(client, "ask", { question: QUESTION })
      assert.match(asked.text, /30 minutes[^]*\[1\]\n\n\[1\] rules\/locks\.md/)
      assert.notProperty(asked.content, "cost")
    })
  )

  it.effect("errors are results that say what to do", () =>
    Effect.gen(function* () {
      const { client } = yield* Assistant
      const cases = [
        ["search", { query: "" }, /question is empty/],
        ["search", { query: "boat", collection: "none" }, /no collection "none"\. The tool `list_documents`/],
        ["ask", { question: "boat", filter: { documents: ["no.md"] } }, /"no\.md"[^]*`list_documents`/],
        ["get_passage", { id: "1" }, /no passage 1/]
      ] as const
      for (const [name, parameters, text] of cases) {
        const answer = yield* callTool(client, name, parameters)
        assert.isTrue(answer.isError, JSON.stringify(parameters))
        assert.match(answer.text, text)
      }
    })
  )

  it.effect("a cancelled call gets no response", () =>
    Effect.gen(function* () {
      const { client, transport } = yield* Assistant
      const received: Array<JSONRPCMessage> = []
      const receive = transport.onmessage
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a property of the transport
      transport.onmessage = (message) => {
        received.push(message)
        receive?.(message)
      }
      const cancelling = new AbortController()
      const { signal } = cancelling
      const call = client.callTool({ name: "ask", arguments: { question: QUESTION } }, undefined, { signal })
      cancelling.abort()
      const error = yield* Effect.promise(() => call.then(() => "", String))
      assert.include(error, "Abort")
      // The same question takes as long, so that the first one would have been answered by then.
      assert.isFalse((yield* callTool(client, "ask", { question: QUESTION })).isError)
      assert.lengthOf(received, 1)
    })
  )

  it.effect("ends when its client closes the input", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ended = yield* Effect.promise(() => sluiceIn(folder, ["mcp", "--docs", folder]))
      assert.deepInclude(ended, { code: 0, stdout: "" })
    }).pipe(Effect.scoped)
  )

  it.effect("does not begin with a library that does not exist", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ended = yield* Effect.promise(() => sluiceIn(folder, ["mcp"]))
      assert.strictEqual(ended.code, 1)
      assert.match(ended.stderr, /There is no library in .*--data/)
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped)
  )
})
