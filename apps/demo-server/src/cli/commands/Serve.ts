/** `sluice serve`: the server and the page. */
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import * as Settings from "../library/Settings.ts"

export const serve = Command.make(
  "serve",
  {
    port: Flag.Int("port").pipe(Flag.withDescription("Default: PORT, else 3000"), Flag.optional),
    host: Flag.String("host").pipe(
      Flag.withDescription("Address to bind. Default: HOST, else 127.0.0.1"),
      Flag.optional
    ),
    data: Settings.data
  },
  Effect.fnUntraced(function* (flags) {
    // Loaded when it is asked for: the other commands start without it.
    const Server = yield* Effect.promise(() => import("../../Server.ts"))
    return yield* Layer.launch(Server.layer.pipe(Layer.provide(Settings.layer(flags))))
  })
).pipe(Command.withDescription("Serve the gateway's API, the documents and the page"))
