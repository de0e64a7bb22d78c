/** Serves a gateway of the tests over HTTP. */
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { MAX_IMAGE_BYTES } from "../../packages/core/src/contract/ImageLimits.ts"
import {
  findCall,
  makeWorld,
  type FakeRequestBody
} from "../../packages/core/src/testing/ReferenceGateway.ts"
import { type Gateway, referenceGateway, refuse, type Reply, type World } from "./ReferenceGateway.ts"

const send = (response: ServerResponse, { bytes, events, headers, json, status = 200 }: Reply): void => {
  const type = json !== undefined ? "application/json" : "text/event-stream"
  response.writeHead(status, { "x-request-id": randomUUID(), "content-type": type, ...headers })
  for (const event of events ?? []) {
    response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
  }
  response.end(json === undefined ? bytes : JSON.stringify(json))
}

/** A faulty gateway may fail for a request without all fields. */
const replyOf = (handle: () => Reply): Reply => {
  try {
    return handle()
  } catch {
    return refuse(500, "Out of order")
  }
}

const chargeOf = ({ status }: Reply) => (status === undefined ? 1 : 0)

/** Bytes of the largest image in Base64. No other request is longer than the one with an image above the limit. */
const MAX_BODY_BYTES = (MAX_IMAGE_BYTES / 3) * 4

const bodyOf = (chunks: ReadonlyArray<Buffer>): FakeRequestBody =>
  JSON.parse(chunks.length === 0 ? "{}" : Buffer.concat(chunks).toString())

const answer = (
  gateway: Gateway,
  world: World,
  request: IncomingMessage,
  chunks: ReadonlyArray<Buffer>,
  maxBodyBytes: number
): Reply => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://gateway")
  const credential = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? ""
  const found = findCall(gateway.calls, request.method ?? "", pathname)
  if (found === undefined) return refuse(404, `There is no ${pathname}`)
  if (!gateway.opens(world, pathname, credential)) return refuse(401, `${credential} opens nothing here`)
  const isTooLarge = chunks.reduce((size, { length }) => size + length, 0) > maxBodyBytes
  const { handler, params } = found
  const reply = isTooLarge
    ? refuse(413, "The body is too large")
    : replyOf(() => handler({ world, params, query: searchParams, body: bodyOf(chunks) }))
  const token = [...world.tokens.values()].find(({ key }) => key === credential)
  if (token !== undefined) token.remain_quota -= (gateway.charges ?? chargeOf)(reply)
  return reply
}

export interface Running {
  readonly url: string
  readonly world: World
  /** Method and path of every request, in their order. */
  readonly seen: ReadonlyArray<string>
}

/**
 * Serves a gateway on a loopback port until the scope ends. A longer body is refused unparsed: that of the largest image
 * takes 0.2 s, and each of the hundred gateways gets it.
 */
export const serveGateway = (gateway: Gateway = referenceGateway, maxBodyBytes = MAX_BODY_BYTES) =>
  Effect.acquireRelease(
    Effect.callback<Running & { readonly close: Effect.Effect<void> }>((resume) => {
      const world = makeWorld(false)
      const seen: Array<string> = []
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk) => chunks.push(chunk))
        request.on("end", () => {
          seen.push(`${request.method} ${request.url}`)
          send(response, answer(gateway, world, request, chunks, maxBodyBytes))
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = Effect.callback<void>((closed) => {
          server.close(() => closed(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, world, seen, close }))
      })
    }),
    ({ close }) => close
  )
