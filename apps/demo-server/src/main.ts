/** Starts the server. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import * as Server from "./Server.ts"
import { reportStartError } from "./config/StartError.ts"
import { stopTeardown } from "./http/Shutdown.ts"

Layer.launch(Server.layer).pipe(
  Effect.catchCause(reportStartError),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ teardown: stopTeardown })
)
