/** The HTTP server's socket. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Duration, Effect, Layer } from "effect"
import { ServerConfig } from "./config/ServerConfig.ts"
import { makeNodeServer } from "./http/NodeServer.ts"
import { Shutdown } from "./http/Shutdown.ts"
import { StartError } from "./config/StartError.ts"

const listenError = (port: number, isDefault: boolean, cause: unknown): StartError => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  const advice = "choose another port, such as `sluice serve --port 3001` or `PORT=3001 npm start`"
  const noAddress = "HOST is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for every address"
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port}${isDefault ? ", the default," : ""} is in use. Stop the program that uses it, or ${advice}`,
    EACCES: `This user may not open port ${port}: ${advice}`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress
  }
  const other = `The server cannot listen on port ${port} (${code || cause}): ${advice}`
  return new StartError({ message: messages[code] ?? other })
}

/**
 * An HTTP server on the configured address.
 *
 * **Details.** When its scope closes, it accepts no more connections, waits up to `SLUICE_SHUTDOWN_SECONDS` for running
 * requests, then aborts the rest.
 */
export const ListenLayer = Layer.unwrap(
  Effect.gen(function* () {
    const { host, operation, port, portGiven } = yield* ServerConfig
    const { begin } = yield* Shutdown
    const { drop, server } = makeNodeServer(operation.callerSeconds * 1000, begin)
    const gracefulShutdownTimeout = Duration.seconds(operation.shutdownSeconds)
    return Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(drop))).pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => server, { host, port, gracefulShutdownTimeout })),
      Layer.catchTag("ServeError", ({ cause }) =>
        Layer.effectContext(Effect.fail(listenError(port, !portGiven, cause)))
      )
    )
  })
).pipe(Layer.provideMerge(Shutdown.layer))
