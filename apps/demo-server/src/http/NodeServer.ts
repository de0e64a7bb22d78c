/**
 * Node's HTTP server with time limits for slow callers, JSON errors for malformed requests, and a queue for
 * requests that arrive during the start.
 */
import { Failure } from "@sluice/core/contract"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { chooseRequestId } from "./RequestRecord.ts"
import { SECURITY_HEADERS } from "./ResponseHeaders.ts"

/** Bytes of all headers of a request. */
export const MAX_HEADER_BYTES = 16 * 1024

/** The time for a whole body, as a multiple of the allowed silence. Uploads of documents may take longer. */
const BODY_TIMEOUT_FACTOR = 10

/** Milliseconds between checks for slow requests. */
const CHECK_INTERVAL = 2_000

type Exchange = readonly [request: IncomingMessage, response: ServerResponse]

/** A connection. It is changed for each request: adding and removing a map entry costs garbage collections. */
interface Connection {
  /** The current request. */
  exchange: Exchange | undefined
  /** When that began, in milliseconds of `performance.now()`. */
  since: number
  /** Bytes that were read when the last response ended. */
  read: number
}

type Connections = Map<Socket, Connection>

/** The response may have another status. */
const failure = (code: string, message: string) => new Failure({ status: 400, code, message })

const faults: Readonly<Record<string, readonly [status: number, Failure]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    failure("headers_too_large", `The headers have more than ${MAX_HEADER_BYTES} bytes. Send fewer`)
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    failure("request_timeout", "The request did not arrive in time. Send it again, faster")
  ]
}

const malformed = failure(
  "malformed_request",
  "This is not a valid HTTP request (RFC 9112). The connection is closed"
)

const headersOf = ({ headers }: Failure, body: string, id: string) => ({
  ...SECURITY_HEADERS,
  ...headers,
  "content-type": "application/json",
  "content-length": Buffer.byteLength(body),
  "cache-control": "private, no-store",
  "x-request-id": id,
  connection: "close"
})

/** Refuses a request that could not be parsed, on the socket. */
const refuseSocket = (socket: Socket, code: string) => {
  const [status, error] = faults[code] ?? [400, malformed]
  const body = JSON.stringify(error.body)
  const head = Object.entries(headersOf(error, body, `req_${randomUUID()}`))
    .map(([name, value]) => `${name}: ${String(value)}\r\n`)
    .join("")
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`, () => socket.destroy())
}

/** Refuses a request and closes its connection. */
export const refuse = ([request, response]: Exchange, status: number, error: Failure) => {
  const body = JSON.stringify(error.body)
  response.writeHead(status, headersOf(error, body, chooseRequestId(request.headers["x-request-id"])))
  response.end(body, () => request.socket.destroySoon())
}

const requestTimedOut = failure(
  "request_timeout",
  "The request paused for too long. Send it again without a pause"
)

const slow = failure("request_timeout", "The body did not arrive in time. Send it again, faster")

const unexpected = failure("expectation_failed", "Only `Expect: 100-continue` is supported")

/** Uploads have a time limit of their own, and report what was stored. */
const isUpload = ({ url = "" }: IncomingMessage): boolean => /^\/documents(?:\?|$)/.test(url)

/** Closes connections whose caller sends or reads nothing for too long. Connections that wait for a response stay open. */
const closeSilentConnections = (server: Server, connections: Connections, patience: number) => {
  // Ends bodies that arrive too slowly, though without a pause. A timer for each request costs more.
  const look = setInterval(
    () => {
      const begun = performance.now() - patience * BODY_TIMEOUT_FACTOR
      for (const [socket, { exchange, since }] of connections) {
        if (exchange === undefined || since > begun) continue
        const [request, response] = exchange
        if (request.complete || isUpload(request)) continue
        if (response.headersSent) socket.destroy()
        else refuse(exchange, 408, slow)
      }
    },
    Math.min(CHECK_INTERVAL, patience)
  )
  look.unref()
  server.once("close", () => clearInterval(look))
  server.timeout = patience
  server.on("timeout", (socket: Socket) => {
    const { exchange, read = 0 } = connections.get(socket) ?? {}
    // The caller does not read the response. Node reports this after twice the time if it reads a part.
    if (socket.writableLength > 0) return void socket.destroy()
    if (exchange === undefined) {
      // Between two requests, or within the headers of one.
      const isIdle = socket.bytesRead === read
      return isIdle ? void socket.destroy() : refuseSocket(socket, "ERR_HTTP_REQUEST_TIMEOUT")
    }
    const [request, response] = exchange
    // All received bytes were read, and more should come.
    if (!request.complete && request.readableLength === 0 && !isUpload(request)) {
      return response.headersSent ? void socket.destroy() : refuse(exchange, 408, requestTimedOut)
    }
    socket.setTimeout(patience)
  })
}

/** Closing waits for running requests only. */
const closeWhenDone = (server: Server, connections: Connections, begin: () => void) => {
  let closing = false
  server.on("connection", (socket) => {
    connections.set(socket, { exchange: undefined, since: 0, read: 0 })
    socket.once("close", () => connections.delete(socket))
  })
  server.prependListener("request", (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.exchange = [request, response]
    connection.since = performance.now()
    response.once("close", () => {
      connection.read = socket.bytesRead
      if (connection.exchange?.[1] !== response) return
      connection.exchange = undefined
      if (closing) socket.destroySoon()
    })
  })
  const close = server.close.bind(server)
  server.close = (done) => {
    closing = true
    begin()
    close(done)
    // Browsers open sockets ahead of need. Node counts a socket without a request as busy, and would wait for it.
    for (const [socket, { exchange }] of connections) if (exchange === undefined) socket.destroy()
    return server
  }
}

/**
 * A server that queues requests which arrive before a handler is registered. Node would never answer them.
 *
 * **Details.** `patience` is in milliseconds. `begin` is called when the server closes. `drop` closes all connections.
 */
export const makeNodeServer = (patience: number, begin: () => void) => {
  const server = createServer({
    // Enough for a large folder over a slow line.
    requestTimeout: 30 * 60 * 1000,
    headersTimeout: patience,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL, patience),
    keepAliveTimeout: 10_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The middleware answers this in the interface's form.
    requireHostHeader: false
  })
  const connections: Connections = new Map()
  closeWhenDone(server, connections, begin)
  closeSilentConnections(server, connections, patience)
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const begun = connections.get(socket)?.exchange?.[1].headersSent === true
    if (socket.writable && !begun && error.code !== "ECONNRESET") refuseSocket(socket, error.code ?? "")
    else socket.destroy()
  })
  server.on("checkExpectation", (...exchange: Exchange) => refuse(exchange, 417, unexpected))

  const held: Array<Exchange> = []
  // These have seen the held requests already.
  const observers = new Set(server.listeners("request"))
  const hold = (...exchange: Exchange) => void held.push(exchange)
  const watch = (event: string) => {
    if (event !== "request") return
    server.off("newListener", watch)
    setImmediate(() => {
      server.off("request", hold)
      const handlers = server.listeners("request").filter((listener) => !observers.has(listener))
      for (const exchange of held.splice(0)) for (const handle of handlers) handle.call(server, ...exchange)
    })
  }
  server.on("request", hold)
  server.on("newListener", watch)
  const drop = () => {
    for (const [, response] of held.splice(0)) response.destroy()
    server.closeAllConnections()
  }
  return { server, drop }
}
