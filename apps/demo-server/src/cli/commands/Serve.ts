/** `sluice serve`: starts the server and its web page. */
import { Effect, Layer, References } from "effect"
import { Command, Flag } from "effect/cli"
import { countFlag, dataFlag, optionalFlag } from "../library/Flags.ts"
import { settingsLayer } from "../library/OpenLibrary.ts"

export const serveCommand = Command.make(
  "serve",
  {
    port: optionalFlag(countFlag("port", { least: 0, most: 65_535 }), "Default: PORT, else 3000"),
    host: optionalFlag(Flag.String("host"), "Address to listen on. Default: HOST, else 127.0.0.1"),
    data: dataFlag
  },
  Effect.fnUntraced(
    function* (flags) {
      // Loaded on demand, so that the other commands start faster.
      const Server = yield* Effect.promise(() => import("../../Server.ts"))
      return yield* Layer.launch(Server.layer.pipe(Layer.provide(settingsLayer(flags))))
    },
    Effect.provideService(References.MinimumLogLevel, "Info")
  )
).pipe(Command.withDescription("Serve the gateway API, the documents and the web page"))
