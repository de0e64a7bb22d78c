/** A gateway for a server under test, on a loopback port, which records its requests. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { type Asked as Heard, loopback } from "./Loopback.ts"

export type Asked = Pick<Heard, "method" | "path" | "body">

/** Handles a request, at any later time. */
export type Answering = (response: ServerResponse, asked: Asked, request: Pick<Heard, "headers">) => void

export const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(value))
}

/** The environment for a server that uses it, and the calls so far. */
export const startUpstream = (answer: Answering) =>
  Effect.suspend(() => {
    const asked: Array<Asked> = []
    const gateway = loopback(({ body, headers, method, path, response }) => {
      const call = { method, path, body }
      asked.push(call)
      answer(response, call, { headers })
    })
    return Effect.map(gateway, ({ close, url }) => ({
      asked: asked as ReadonlyArray<Asked>,
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
