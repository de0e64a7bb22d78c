/** The official client of MCP against a server, and what its calls return. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { TestServer } from "../demo-server/TestServer.ts"

/** A connected client, which is closed with the scope. Listing the tools makes it validate what they return. */
export const connect = (transport: Transport) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ name: "test", version: "1" })
      await client.connect(transport)
      await client.listTools()
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

export const httpTransport = (url: string, key: string) =>
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } }
  })

/** A client of the test's server. Default: with the owner's key. */
export const connectHttp = (key?: string) =>
  Effect.flatMap(TestServer, ({ secrets, url }) => connect(httpTransport(url, key ?? secrets.apiKey)))

interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  readonly content: Record<string, unknown>
}

/** Calls a tool. */
export const callTool = (client: Client, name: string, parameters: Record<string, unknown> = {}) =>
  Effect.promise(async (signal): Promise<ToolAnswer> => {
    const result = await client.callTool({ name, arguments: parameters }, undefined, { signal })
    const [first] = result.content as ReadonlyArray<{ readonly text: string }>
    return {
      isError: result.isError === true,
      text: first?.text ?? "",
      content: (result.structuredContent ?? {}) as Record<string, unknown>
    }
  })

/** Fills a passage, so that the next heading starts another. */
const FILLER = "Boats keep to the right, and their crews wear a vest. ".repeat(12)

/** Documents about a lock, with the answer to the question below. */
export const FILES = {
  "rules/locks.md": `# Locks\n\n## Waiting\n\nA boat may wait 30 minutes at the upper gate.\n\n${FILLER}\n\n## Toll\n\nThe toll is four crowns.\n\n${FILLER}`,
  "birds.md": "# Birds\n\nThe heron nests by the river in April."
}
export const QUESTION = "How long may a boat wait at the upper gate?"
