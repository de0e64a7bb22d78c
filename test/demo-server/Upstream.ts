/** A gateway for a server under test, on a loopback port, which records its requests. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { loopback, type LoopbackRequest } from "./Loopback.ts"

export type ReceivedRequest = Pick<LoopbackRequest, "method" | "path" | "body">

/** Handles a request, at any later time. */
export type Responder = (
  response: ServerResponse,
  received: ReceivedRequest,
  request: Pick<LoopbackRequest, "headers">
) => void

export const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(value))
}

/** The environment for a server that uses it, and the requests so far. */
export const startUpstream = (respond: Responder) =>
  Effect.suspend(() => {
    const requests: Array<ReceivedRequest> = []
    const gateway = loopback(({ body, headers, method, path, response }) => {
      const received = { method, path, body }
      requests.push(received)
      respond(response, received, { headers })
    })
    return Effect.map(gateway, ({ close, url }) => ({
      requests: requests as ReadonlyArray<ReceivedRequest>,
      close,
      env: {
        SLUICE_GATEWAY_URL: url,
        SLUICE_API_KEY: "sk-upstream",
        SLUICE_EMBEDDING_MODEL: "e",
        SLUICE_RERANK_MODEL: "r",
        SLUICE_CHAT_MODEL: "c"
      }
    }))
  })
