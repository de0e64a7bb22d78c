/** Something on a loopback port in place of a gateway, which answers as a test says and keeps what it was asked. */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Asked {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** Answers a request, whenever it likes. */
export type Answering = (response: ServerResponse, asked: Asked, request: IncomingMessage) => void

export const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(value))
}

/** Its address, the environment that makes a server use it, and the calls so far. */
export const startUpstream = (answer: Answering) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly env: Record<string, string>
      readonly asked: ReadonlyArray<Asked>
      readonly close: () => void
    }>((resume) => {
      const asked: Array<Asked> = []
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const call = {
            method: request.method ?? "",
            path: request.url ?? "",
            body: Buffer.concat(chunks).toString()
          }
          asked.push(call)
          answer(response, call, request)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const env = {
          SLUICE_GATEWAY_URL: `http://127.0.0.1:${port}`,
          SLUICE_API_KEY: "sk-upstream",
          SLUICE_EMBEDDING_MODEL: "e",
          SLUICE_RERANK_MODEL: "r",
          SLUICE_CHAT_MODEL: "c"
        }
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ env, asked, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
