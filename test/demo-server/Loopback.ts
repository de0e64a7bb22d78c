/** A gateway on a loopback port whose responses the test sets, and which records its requests. */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface LoopbackRequest {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly bytes: Buffer
  readonly headers: IncomingMessage["headers"]
  readonly response: ServerResponse
  /** Resolves when the caller disconnects before the end of the response. */
  readonly disconnected: Promise<void>
}

export type Behaviour = (request: LoopbackRequest) => void

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Behaviour =>
  ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(JSON.stringify(value))
  }

export const refusal = (status: number, message: string, headers: Record<string, string> = {}): Behaviour =>
  json({ error: { message, type: "x", param: null, code: null } }, status, headers)

/** Starts a server that stops with the scope. */
export const loopback = (behave: Behaviour) =>
  Effect.acquireRelease(
    Effect.callback<Loopback>((resume) => {
      const state = { behave }
      const requests: Array<LoopbackRequest> = []
      let notify = () => {}
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const disconnected = new Promise<void>((resolve) => {
            response.once("close", () => {
              if (!response.writableEnded) resolve()
            })
          })
          const bytes = Buffer.concat(chunks)
          const received: LoopbackRequest = {
            method: request.method ?? "",
            path: request.url ?? "",
            body: bytes.toString(),
            bytes,
            headers: request.headers,
            response,
            disconnected
          }
          requests.push(received)
          state.behave(received)
          notify()
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        const next = Effect.promise(
          () =>
            new Promise<LoopbackRequest>(
              (resolve) => (notify = () => resolve(requests.at(-1) as LoopbackRequest))
            )
        )
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${port}`,
            requests,
            next,
            behave: (behave: Behaviour) => void (state.behave = behave),
            close
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )

export interface Loopback {
  readonly url: string
  /** All requests so far. */
  readonly requests: ReadonlyArray<LoopbackRequest>
  /** The next request. */
  readonly next: Effect.Effect<LoopbackRequest>
  /** Replaces the handler. */
  readonly behave: (behave: Behaviour) => void
  readonly close: () => void
}
