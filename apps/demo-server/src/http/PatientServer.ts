/**
 * The HTTP server of Node as this one needs it: who comes while it starts waits and is served, who is silent in the
 * middle of a request is not waited for, and what is no HTTP is answered in the interface's shape.
 */
import { Failure } from "@sluice/core/contract"
import { randomUUID } from "node:crypto"
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse
} from "node:http"
import type { Socket } from "node:net"
import { chooseRequestId } from "./RequestRecord.ts"
import { SECURITY_HEADERS } from "./SecurityHeaders.ts"

/** Bytes of all headers of a request together. */
export const MAX_HEADER_BYTES = 16 * 1024

/** Milliseconds to receive one whole request: a large folder over a slow line, and an end to a socket held open. */
const REQUEST_TIMEOUT = 30 * 60 * 1000

/** How many times the silence that is borne a whole body may take. Uploads of documents take longer. */
const WHOLE = 10

/** Milliseconds that a connection stays open for a next request. */
const KEEP_ALIVE = 10_000

/** How often Node looks whose headers or whose request take too long. */
const LOOK_EVERY = 2_000

type Exchange = readonly [request: IncomingMessage, response: ServerResponse]

/**
 * The open connections, each with the exchange that is under way on it.
 *
 * A connection has one entry for as long as it is open: a map from which exchanges come and go is made anew again and
 * again, and what an old one of V8's had in it outlives the collections of young memory that come next.
 */
type Connections = Map<Socket, { exchange: Exchange | undefined }>

/** Whichever status goes with it on the wire: the shape is that of every refusal. */
const failure = (code: string, message: string) =>
  new Failure({ status: 400, code, message, retryable: false })

const faults: Readonly<Record<string, readonly [status: number, text: string, Failure]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    "Request Header Fields Too Large",
    failure("headers_too_large", `The headers have more than ${MAX_HEADER_BYTES} bytes: send fewer`)
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    "Request Timeout",
    failure("request_timeout", "The request did not come in time: send it again, faster")
  ]
}

const malformed = [
  400,
  "Bad Request",
  failure("malformed_request", "This is not HTTP as RFC 9112 has it: the connection is closed")
] as const

const headersOf = ({ headers }: Failure, body: string, id: string): OutgoingHttpHeaders => ({
  ...SECURITY_HEADERS,
  ...headers,
  "content-type": "application/json",
  "content-length": Buffer.byteLength(body),
  "cache-control": "private, no-store",
  "x-request-id": id,
  connection: "close"
})

/** What came cannot be read as a request: nobody but the socket is there to be answered. */
const refuseSocket = (socket: Socket, code: string) => {
  const [status, text, told] = faults[code] ?? malformed
  const body = JSON.stringify(told.body)
  const head = Object.entries(headersOf(told, body, `req_${randomUUID()}`))
    .map(([name, value]) => `${name}: ${String(value)}\r\n`)
    .join("")
  socket.end(`HTTP/1.1 ${status} ${text}\r\n${head}\r\n${body}`, () => socket.destroy())
}

/** Answers that it cannot be answered, and ends the connection. */
export const refuse = ([request, response]: Exchange, status: number, told: Failure) => {
  const body = JSON.stringify(told.body)
  response.writeHead(status, headersOf(told, body, chooseRequestId(request.headers["x-request-id"])))
  response.end(body, () => request.socket.destroySoon())
}

const silent = failure(
  "request_timeout",
  "Nothing came for too long in the middle of the request: send it again, without a pause"
)

const slow = failure("request_timeout", "The body did not come in time: send it again, faster")

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

const unexpected = failure("expectation_failed", "Only `Expect: 100-continue` is met here")

/** An upload waits for its own silence, and says what of it was kept. */
const isUpload = ({ url }: IncomingMessage): boolean =>
  url === "/documents" || url?.startsWith("/documents?") === true

/** Gives up who is silent while it is their turn. Who waits for us is left alone, however long it takes. */
const giveUpTheSilent = (server: Server, connections: Connections, patience: number) => {
  const read = new WeakMap<Socket, number>()
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    response.once("close", () => read.set(socket, socket.bytesRead))
    if (isUpload(request) || !hasBody(request)) return
    // A byte now and then is no silence, and no end either.
    const late = setTimeout(() => {
      // All of it came, and whoever has it has not looked at it yet.
      if (request.complete) return
      if (response.headersSent) socket.destroy()
      else refuse([request, response], 408, slow)
    }, patience * WHOLE)
    for (const event of ["end", "close"]) request.once(event, () => clearTimeout(late))
  })
  server.timeout = patience
  server.on("timeout", (socket: Socket) => {
    const exchange = connections.get(socket)?.exchange
    // What was sent is not taken. Of whom a part was, Node waits twice before it says so.
    if (socket.writableLength > 0) return void socket.destroy()
    if (exchange === undefined) {
      // Between two requests, or in the middle of the headers of one.
      const isIdle = socket.bytesRead === (read.get(socket) ?? 0)
      return isIdle ? void socket.destroy() : refuseSocket(socket, "ERR_HTTP_REQUEST_TIMEOUT")
    }
    const [request, response] = exchange
    // All that came was read, and more should come.
    if (!request.complete && request.readableLength === 0 && !isUpload(request)) {
      return response.headersSent ? void socket.destroy() : refuse(exchange, 408, silent)
    }
    socket.setTimeout(patience)
  })
}

/** Closing waits for the exchanges under way and for nothing else. */
const closeWhenDone = (server: Server, connections: Connections, begin: () => void) => {
  let closing = false
  server.on("connection", (socket) => {
    connections.set(socket, { exchange: undefined })
    socket.once("close", () => connections.delete(socket))
  })
  server.prependListener("request", (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.exchange = [request, response]
    response.once("close", () => {
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
    // Browsers open sockets ahead of need. Node takes one that never sent a request for busy, and would wait for it.
    for (const [socket, { exchange }] of connections) if (exchange === undefined) socket.destroy()
    return server
  }
}

/**
 * A server that keeps who comes while it starts waiting, and serves them as soon as somebody handles requests. Node
 * would leave them without an answer for ever.
 *
 * **Details.** `patience` is in milliseconds. `begin` is called when the server is closed. `drop` ends what is left.
 */
export const patientServer = (patience: number, begin: () => void) => {
  const server = createServer({
    requestTimeout: REQUEST_TIMEOUT,
    headersTimeout: patience,
    connectionsCheckingInterval: Math.min(LOOK_EVERY, patience),
    keepAliveTimeout: KEEP_ALIVE,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Answered in our shape, by whoever looks at the Host.
    requireHostHeader: false
  })
  const connections: Connections = new Map()
  closeWhenDone(server, connections, begin)
  giveUpTheSilent(server, connections, patience)
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
