/** `sluice worker`: runs the jobs of the servers that share its database and documents. */
import { ConfigProvider, Effect, Layer, References } from "effect"
import { Command, Flag } from "effect/cli"
import { countFlag, dataFlag, optionalFlag } from "../library/Flags.ts"
import { settingsLayer } from "../library/OpenLibrary.ts"

/** Unlike a server, a worker takes any free port: nobody needs to know it. */
const anyPort = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ PORT: "0" }))

export const workerCommand = Command.make(
  "worker",
  {
    port: optionalFlag(
      countFlag("port", { least: 0, most: 65_535 }),
      "Port of health checks and metrics. Default: PORT, else any free port"
    ),
    host: optionalFlag(Flag.String("host"), "Address to listen on. Default: HOST, else 127.0.0.1"),
    data: dataFlag
  },
  Effect.fnUntraced(
    function* (flags) {
      const { workerLayer } = yield* Effect.promise(() => import("../../Server.ts"))
      return yield* Layer.launch(
        workerLayer.pipe(Layer.provide(settingsLayer(flags)), Layer.provide(anyPort))
      )
    },
    Effect.provideService(References.MinimumLogLevel, "Info")
  )
).pipe(
  Command.withDescription(
    "Run uploads and rebuilds of the servers that share SLUICE_DATABASE_URL and SLUICE_DOCUMENTS"
  )
)
