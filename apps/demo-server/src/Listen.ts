/** The socket: bound before anything is written, so that a port in use leaves nothing behind. */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
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

/** An HTTP server on the configured address. */
export const ListenLayer = Layer.unwrap(
  Effect.map(ServerConfig, ({ host, port, portGiven }) =>
    NodeHttpServer.layer(() => createServer({ requestTimeout: REQUEST_TIMEOUT }), {
      host,
      port,
      gracefulShutdownTimeout: GRACE
    }).pipe(
      Layer.catchTag("ServeError", ({ cause }) =>
        Layer.effectContext(Effect.fail(listenError(port, !portGiven, cause)))
      )
    )
  )
)
