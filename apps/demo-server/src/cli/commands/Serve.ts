/** `sluice serve`: the server and its web page. `sluice worker`: the jobs of servers that share a database and documents. */
import { ConfigProvider, Effect, Layer, References } from "effect"
import { Command, Flag } from "effect/cli"
import type * as Server from "../../Server.ts"
import { countFlag, dataFlag, optionalFlag } from "../library/Flags.ts"
import { settingsLayer } from "../library/OpenLibrary.ts"

const serverFlags = (port: string) => ({
  port: optionalFlag(countFlag("port", { least: 0, most: 65_535 }), port),
  host: optionalFlag(Flag.String("host"), "Address to listen on. Default: HOST, else 127.0.0.1"),
  data: dataFlag
})

/** Runs a server until it is stopped. */
const launch = <E, R>(
  flags: Parameters<typeof settingsLayer>[0],
  choose: (server: typeof Server) => Layer.Layer<never, E, R>
) =>
  // Loaded on demand, so that the other commands start faster.
  Effect.promise(() => import("../../Server.ts")).pipe(
    Effect.flatMap((server) => Layer.launch(Layer.provide(choose(server), settingsLayer(flags)))),
    Effect.provideService(References.MinimumLogLevel, "Info")
  )

export const serveCommand = Command.make("serve", serverFlags("Default: PORT, else 3000"), (flags) =>
  launch(flags, ({ layer }) => layer)
).pipe(Command.withDescription("Serve the gateway API, the documents and the web page"))

/** Unlike a server, a worker takes any free port: nobody needs to know it. */
const anyPort = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ PORT: "0" }))

export const workerCommand = Command.make(
  "worker",
  serverFlags("Port of health checks and metrics. Default: PORT, else any free port"),
  (flags) => launch(flags, ({ workerLayer }) => workerLayer)
).pipe(
  Command.provide(anyPort),
  Command.withDescription(
    "Run uploads and rebuilds of the servers that share SLUICE_DATABASE_URL and SLUICE_DOCUMENTS"
  )
)
