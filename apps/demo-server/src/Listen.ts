/** The socket: bound before anything is written, so that a port in use leaves nothing behind. */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { ServerConfig } from "./Config.ts"
import { StartError } from "./StartError.ts"

/** How long requests that are under way may take to finish after SIGINT or SIGTERM. */
const GRACE = "5 seconds"

/** Milliseconds to receive one whole request: a large folder over a slow line, and an end to a socket held open. */
const REQUEST_TIMEOUT = 30 * 60 * 1000

const listenError = (port: number, isDefault: boolean, cause: unknown): StartError => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  const choose = "choose another with PORT, for example `PORT=3001 npm start`"
  switch (code) {
    case "EADDRINUSE":
      return new StartError({
        message: `Port ${port}${isDefault ? ", the default," : ""} is in use: stop what uses it, or ${choose}`
      })
    case "EACCES":
      return new StartError({ message: `Port ${port} needs more rights than this user has: ${choose}` })
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StartError({
        message: "HOST is not an address of this machine: use 127.0.0.1, or 0.0.0.0 for every address"
      })
    default:
      return new StartError({
        message: `The server cannot listen on port ${port} (${code || cause}): ${choose}`
      })
  }
}

type Held = readonly [request: IncomingMessage, response: ServerResponse]

/**
 * A server that keeps who comes while it starts waiting, and serves them as soon as somebody handles requests. Node
 * would leave them without an answer for ever.
 */
const patientServer = () => {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT })
  const held: Array<Held> = []
  // Browsers open sockets ahead of need. Node takes one that never sent a request for busy, and close would wait for it.
  const unused = new Set<Socket>()
  server.on("connection", (socket) => {
    unused.add(socket)
    socket.once("close", () => unused.delete(socket))
  })
  server.on("request", ({ socket }) => unused.delete(socket))
  const close = server.close.bind(server)
  server.close = (done) => {
    close(done)
    for (const socket of unused) socket.destroy()
    return server
  }
  const hold = (...request: Held) => void held.push(request)
  const watch = (event: string) => {
    if (event !== "request") return
    server.off("newListener", watch)
    setImmediate(() => {
      server.off("request", hold)
      for (const [request, response] of held.splice(0)) server.emit("request", request, response)
    })
  }
  server.on("request", hold)
  server.on("newListener", watch)
  const drop = () => {
    for (const [, response] of held.splice(0)) response.destroy()
  }
  return { server, drop }
}

/** An HTTP server on the configured address. */
export const ListenLayer = Layer.unwrap(
  Effect.map(ServerConfig, ({ host, port, portGiven }) => {
    const { server, drop } = patientServer()
    return Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(drop))).pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => server, { host, port, gracefulShutdownTimeout: GRACE })),
      Layer.catchTag("ServeError", ({ cause }) =>
        Layer.effectContext(Effect.fail(listenError(port, !portGiven, cause)))
      )
    )
  })
)
