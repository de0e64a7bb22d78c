/** Starts the server: `npm start`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit, Layer } from "effect"
import * as Server from "./Server.ts"
import { reportStartError } from "./config/StartError.ts"

Layer.launch(Server.layer).pipe(
  Effect.catchCause(reportStartError),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    // A stop by SIGINT or SIGTERM is no failure.
    teardown: (exit, end) =>
      end(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? 1 : Number(process.exitCode ?? 0))
  })
)
